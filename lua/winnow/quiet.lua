--- Whether a buffer's lines may come or go now.
local M = {}

--- Whether the user is in the middle of a command that counts lines: text that came in above a
--- selection, or between the two keys of `dd`, would make it take other lines.
---@param buf integer
---@return boolean
function M.counts_lines(buf)
  local mode = vim.api.nvim_get_mode().mode
  return vim.api.nvim_get_current_buf() == buf
    and (vim.startswith(mode, 'no') or mode:find('^[vVsS\22\19]') ~= nil)
end

--- Do something as soon as no such command is under way any more.
---@param buf integer
---@param act fun()
function M.after_command(buf, act)
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'BufEnter' }, {
    callback = function()
      if M.counts_lines(buf) then
        return
      end
      vim.schedule(act) -- not now: an operator may still be at work
      return true
    end,
  })
end

return M
