--- The log: what happened, never what was said in a chat.
local python = require('winnow.python')

local M = {}

--- Sentences that were too long for the message line. They may quote the chat, so no file has them.
M.cut = {} ---@type string[]

---@return string
function M.path()
  return python.state() .. '/winnow.log'
end

--- Add to the log. Where there can be none, nothing else may fail for it.
---@param text string
function M.write(text)
  python.folder()
  local file = vim.uv.fs_open(M.path(), 'a', tonumber('600', 8))
  if file then
    vim.uv.fs_write(file, ('%s neovim: %s\n'):format(os.date('%Y-%m-%d %H:%M:%S'), text))
    vim.uv.fs_close(file)
  end
end

return M
