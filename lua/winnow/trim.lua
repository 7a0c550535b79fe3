--- Texts without their ends. With a pattern such as `%s+$`, and so with vim.trim(), the time grows
--- as the square of a run of blanks: a line of 100,000, which anybody may write, stops Neovim.
local M = {}

--- A text without what is in a class of characters at its end.
---@param text string
---@param class string such as `%s`
---@return string
function M.right(text, class)
  local last, one = #text, '^' .. class
  while last > 0 and text:find(one, last) do
    last = last - 1
  end
  return text:sub(1, last)
end

--- A text without blanks at both ends.
---@param text string
---@return string
function M.both(text)
  return M.right(text:sub(text:match('^%s*()') --[[@as integer]]), '%s')
end

return M
