--- Text that streams in: while it only goes on with the last paragraph, what others have made of a
--- buffer still holds.
local M = {}

---@class winnow.Growth
---@field from integer 'changedtick' before it
---@field to integer and after

local growths = {} ---@type table<integer, winnow.Growth> the last one, by buffer

--- Whether text that is appended begins another paragraph, or a block of code, or ends one.
---@param text string
---@return boolean
local function completes(text)
  return text:find('\n%s*\n') ~= nil or text:find('\n%s*[`~][`~][`~]') ~= nil
end

--- Append text to a row.
---@param buf integer
---@param row integer
---@param text string
---@return string[] lines of it
function M.append(buf, row, text)
  local before = vim.api.nvim_buf_get_changedtick(buf)
  local length = #vim.api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
  local lines = vim.split(text, '\n', { plain = true })
  vim.api.nvim_buf_set_text(buf, row, length, row, length, lines)
  if not completes(text) then
    local last = growths[buf]
    local from = last and last.to == before and last.from or before
    growths[buf] = { from = from, to = vim.api.nvim_buf_get_changedtick(buf) }
  end
  return lines
end

--- Whether nothing else has changed a buffer.
---@param buf integer
---@param since integer 'changedtick' then
---@return boolean
function M.only(buf, since)
  local growth = growths[buf]
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  return tick == since or growth ~= nil and growth.from <= since and growth.to == tick
end

return M
