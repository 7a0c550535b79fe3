--- Colours, all linked to groups that every colour scheme has.
local M = {}

local LINKS = {
  WinnowHead = 'Title',
  WinnowFoot = 'NonText',
  WinnowDecided = 'DiagnosticOk',
  WinnowUndecided = 'DiagnosticWarn',
  WinnowHint = 'NonText',
  WinnowStatus = 'Comment',
  WinnowTool = 'Function',
  WinnowOutput = 'Comment',
  WinnowNotice = 'DiagnosticWarn',
  WinnowAdded = 'Added',
  WinnowRemoved = 'Removed',
  WinnowHunk = 'Changed',
  WinnowFile = 'Title',
}

--- Define the groups; a user's own definition wins.
function M.define()
  for group, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
end

--- Whether a captured block is a section's body. To Markdown, it does not end with the section: its
--- last fence has a marker after it. So its colour would be that of the options, too.
local function is_body(match, _, buf, predicate)
  local nodes = match[predicate[2]]
  local node = type(nodes) == 'table' and nodes[1] or nodes -- a list since Neovim 0.11
  local row = node and node:start()
  local line = row and vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  return line ~= nil and line:find('<!--winnow:', 1, true) ~= nil
end

--- A query file without its conceal rules: in a chat only markers are hidden.
local function plain_query(lang)
  local texts = {}
  for _, file in ipairs(vim.treesitter.query.get_files(lang, 'highlights')) do
    local text = table.concat(vim.fn.readfile(file), '\n')
    text = text:gsub('%(#set!%s+[^%)]-conceal[^%)]*%)', '')
    text = text:gsub('%(%(fenced_code_block%)%s+(@[%w_.]+)', '%0 (#not-winnow-body? %1)')
    table.insert(texts, text)
  end
  return table.concat(texts, '\n')
end

--- Highlight a chat as Markdown.
---@param buf integer
function M.markdown(buf)
  local ok, parser = pcall(vim.treesitter.get_parser, buf, 'markdown')
  if not ok or not parser then
    vim.bo[buf].syntax = 'markdown' -- no parser: Vim's own rules do
    return
  end
  vim.treesitter.query.add_predicate('winnow-body?', is_body, { force = true, all = true })
  local queries =
    { markdown = plain_query('markdown'), markdown_inline = plain_query('markdown_inline') }
  vim.treesitter.highlighter.new(parser, { queries = queries })
end

return M
