--- Tool output and thinking fold beneath their first line. A function of the text alone.
local M = {}

local FOLDED = '│'

---@param lnum integer counted from 1, as Vim does
---@return string level for 'foldexpr'
function M.level(lnum)
  if vim.startswith(vim.fn.getline(lnum), FOLDED) then
    return '1'
  end
  return vim.startswith(vim.fn.getline(lnum + 1), FOLDED) and '>1' or '0'
end

return M
