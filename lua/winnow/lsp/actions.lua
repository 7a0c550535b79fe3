--- What can be asked about lines of any buffer: code actions that write into the draft of the
--- project's chat, and never send it.
local begin = require('winnow.begin')
local chats = require('winnow.chats')
local editor = require('winnow.context.editor')
local registry = require('winnow.registry')
local window = require('winnow.window')

local M = {}

M.COMMAND = 'winnow.write'

---@param range table of the protocol
---@return integer first line, from 1
---@return integer last
local function lines_of(range)
  local first, last = range.start.line + 1, range['end'].line + 1
  if range['end'].character == 0 and last > first then
    last = last - 1
  end
  return first, last
end

--- The actions for a range of a buffer.
---@param params table of textDocument/codeAction
---@return table[]
function M.list(params)
  local buf = vim.uri_to_bufnr(params.textDocument.uri)
  local first, last = lines_of(params.range)
  ---@param title string
  ---@param words string[]
  ---@param kind? string
  ---@return table
  local function action(title, words, kind)
    local arguments = { { buf = buf, first = first, last = last, words = words } }
    local command = { title = title, command = M.COMMAND, arguments = arguments }
    return { title = title, kind = kind, command = command }
  end
  local all = {
    action('Winnow: ask about this', {}),
    action('Winnow: explain this', { 'Explain this.' }),
  }
  local found = vim.tbl_filter(function(one)
    return one.lnum + 1 <= last and (one.end_lnum or one.lnum) + 1 >= first
  end, vim.diagnostic.get(buf))
  if #found > 0 then
    local title = #found == 1 and 'Winnow: fix this diagnostic' or 'Winnow: fix these diagnostics'
    local words = vim.list_extend({ 'Fix this:', '' }, editor.diagnosed(found, begin.place()))
    table.insert(all, action(title, words, 'quickfix'))
  end
  return all
end

--- Write lines and words into the draft of the project's chat, and go there.
---@param command table of the protocol
function M.run(command)
  local what = command.arguments[1]
  if not vim.api.nvim_buf_is_loaded(what.buf) then
    return
  end
  local buf = chats.of_directory(begin.place())
  window.show(buf)
  local chat = assert(registry.get(buf))
  begin.quote(chat, what.buf, what.first, what.last)
  if #what.words > 0 then
    chat:append_draft(what.words)
  end
end

return M
