--- The signs of Markdown in a record: hidden, and what is between them as they say. Not by its
--- parser: a label is no Markdown, and none of what is in it may be hidden.
local grammar = require('winnow.grammar')

local M = {}

local STRONG, STRUCK, BETWEEN = '**', '~~', ' · ' -- as `core/section/record.py` writes them
local NONE = { [grammar.REFUSED .. ' Skipped'] = true, [grammar.REFUSED .. ' Left out'] = true }
local NAME = ('^%s.-%s%%f[%%s%%z]'):format(vim.pesc(STRONG), vim.pesc(STRONG))

---@class winnow.Signed text between signs
---@field first integer column of the sign before it
---@field last integer column after the sign behind it
---@field sign integer columns of each
---@field group string

--- What was not chosen: the line is `~~label~~ · ~~label~~`.
---@param line string
---@return winnow.Signed[]
local function struck(line)
  local found, first = {}, 0 ---@type winnow.Signed[], integer
  local parts = vim.split(line, STRUCK .. BETWEEN .. STRUCK, { plain = true })
  for i, part in ipairs(parts) do
    local signs = (i > 1 and #STRUCK or 0) + (i < #parts and #STRUCK or 0)
    local last = first + #part + signs
    table.insert(found, { first = first, last = last, sign = #STRUCK, group = 'WinnowDropped' })
    first = last + #BETWEEN
  end
  return found
end

--- The signed text of a line, if it is one of a record's: only the host begins a line with what
--- stands beside it.
---@param buf integer
---@param row integer
---@param line string
---@return winnow.Signed[]
function M.signed(buf, row, line)
  ---@param other integer row
  ---@return boolean
  local function keeps(other)
    local text = vim.api.nvim_buf_get_lines(buf, other, other + 1, false)[1] or ''
    return vim.startswith(text, grammar.KEPT .. ' ') or NONE[text] or false
  end
  if vim.startswith(line, STRONG) and keeps(row + 1) then
    local _, last = line:find(NAME)
    return last and { { first = 0, last = last, sign = #STRONG, group = '@markup.strong' } } or {}
  elseif vim.startswith(line, STRUCK) and vim.endswith(line, STRUCK) and row > 0 then
    return #line >= 2 * #STRUCK and keeps(row - 1) and struck(line) or {}
  end
  return {}
end

return M
