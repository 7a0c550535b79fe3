--- Whether diagnostics are about the text that a buffer has now. It listens from a chat's start on.
local M = {}

-- By buffer: the change tick of the text that its diagnostics are about.
local ticks = {} ---@type table<integer, integer>

vim.api.nvim_create_autocmd({ 'DiagnosticChanged', 'BufUnload' }, {
  group = vim.api.nvim_create_augroup('winnow.diagnostics', {}),
  callback = function(event)
    local changed = event.event == 'DiagnosticChanged'
    ticks[event.buf] = changed and vim.api.nvim_buf_get_changedtick(event.buf) or nil
  end,
})

--- Whether anybody has looked at a buffer.
---@param buf integer
---@return boolean
function M.known(buf)
  return ticks[buf] ~= nil
end

--- Whether they have looked at what it holds now.
---@param buf integer
---@return boolean
function M.current(buf)
  return ticks[buf] == vim.api.nvim_buf_get_changedtick(buf)
end

return M
