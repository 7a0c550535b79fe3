--- No NUL stays in a chat, which anybody may write into its file: to Vim's functions, a text with
--- one is none, and what is drawn, sent or saved of it would fail.
local M = {}

local SHOWN = '␀' -- as in what agents say

--- Lines from elsewhere as they may stand in a chat.
---@param lines string[]
---@return string[]
function M.lines(lines)
  return vim.tbl_map(function(line)
    return (line:gsub('%z', SHOWN))
  end, lines)
end

--- Show those in some rows as what can be read.
---@param buf integer
---@param first integer row, from 0
---@param last integer row after the last one, -1 for the end
---@param before? fun() run before each change
local function show(buf, first, last, before)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, first, last, false)) do
    local from = line:find('%z')
    if from then
      local to, row = #line - line:reverse():find('%z') + 1, first + i - 1
      local seen = M.lines({ line:sub(from, to) })
      if before then
        before()
      end
      vim.api.nvim_buf_set_text(buf, row, from - 1, row, to, seen) -- the cursor goes along
    end
  end
end

--- Of a text that was just read, outside of undo; its file stays as it is until more changes.
---@param buf integer
---@param text string all of it, which is searched faster than its lines
function M.read(buf, text)
  if not text:find('\0', 1, true) then
    return
  end
  local options = vim.bo[buf]
  local levels, modifiable, modified = options.undolevels, options.modifiable, options.modified
  options.undolevels, options.modifiable = -1, true
  show(buf, 0, -1)
  options.undolevels, options.modifiable, options.modified = levels, modifiable, modified
end

--- Of what the user has just typed or pasted, in the same step of undo.
---@param buf integer the current one
function M.typed(buf)
  local first = vim.api.nvim_buf_get_mark(buf, '[')[1]
  local last = vim.api.nvim_buf_get_mark(buf, ']')[1]
  show(buf, math.max(0, first - 1), last, function()
    pcall(vim.cmd.undojoin) -- not after `u`, which brings none back
  end)
end

return M
