--- Colours, all linked to groups that every colour scheme has.
local M = {}

local LINKS = {
  WinnowHead = 'Title',
  WinnowFoot = 'NonText',
  WinnowDecided = 'DiagnosticOk',
  WinnowUndecided = 'DiagnosticWarn',
  WinnowMark = 'NonText',
  WinnowLabel = 'Identifier',
  WinnowDescription = 'Comment',
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
  -- Not a link: what else Normal sets, a window may set otherwise.
  local normal = vim.api.nvim_get_hl(0, { name = 'Normal' })
  local plain = { fg = normal.fg or 'NONE', ctermfg = normal.ctermfg, default = true }
  vim.api.nvim_set_hl(0, 'WinnowContext', plain)
  vim.api.nvim_set_hl(0, '@winnow.plan', { link = 'WinnowContext', default = true })
end

--- A query file without its conceal rules: in a chat only markers are hidden.
---@param lang string
---@return string
local function plain_query(lang)
  local texts = {}
  for _, file in ipairs(vim.treesitter.query.get_files(lang, 'highlights')) do
    local text = table.concat(vim.fn.readfile(file), '\n')
    table.insert(texts, (text:gsub('%(#set!%s+[^%)]-conceal[^%)]*%)', '')))
  end
  return table.concat(texts, '\n')
end

-- What is Markdown inside Markdown, such as a plan, is text, not code.
local PLAN = [[
((fenced_code_block
  (info_string (language) @_language)
  (code_fence_content) @winnow.plan)
  (#eq? @_language "markdown"))
]]

--- Highlight a chat as Markdown.
---@param buf integer
function M.markdown(buf)
  local ok, parser = pcall(vim.treesitter.get_parser, buf, 'markdown')
  if not ok or not parser then
    vim.bo[buf].syntax = 'markdown' -- no parser: Vim's own rules do
    return
  end
  local queries = {
    markdown = plain_query('markdown') .. PLAN,
    markdown_inline = plain_query('markdown_inline'),
  }
  vim.treesitter.highlighter.new(parser, { queries = queries })
end

return M
