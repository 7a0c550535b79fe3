--- The blocks of code in a chat: to select and to yank.
local registry = require('winnow.registry')

local M = {}

-- What opens or closes one.
local FENCES = { '^%s*(```+)', '^%s*(~~~+)' }

---@class winnow.Code
---@field first integer row of the fence above it
---@field last integer row of the one below it

--- Lines without the fences among them: where what is drawn is no Markdown.
---@param lines string[]
---@return string[]
function M.unfenced(lines)
  local kept, fence = {}, nil ---@type string[], string?
  for _, line in ipairs(lines) do
    local mark = line:match(FENCES[1]) or line:match(FENCES[2])
    local closes = fence and mark and vim.startswith(mark, fence) and line:match('^%s*[`~]+%s*$')
    if closes then
      fence = nil
    elseif mark and not fence then
      fence = mark
    else
      table.insert(kept, line)
    end
  end
  return kept
end

--- The blocks of code in a chat; one that is not closed yet goes on to the end.
---@param chat winnow.Chat
---@return winnow.Code[]
local function codes(chat)
  local found, fence, first = {}, nil, 0 ---@type winnow.Code[], string?, integer
  local lines = chat:lines(0, -1)
  for i, line in ipairs(lines) do
    local mark = line:match(FENCES[1]) or line:match(FENCES[2])
    if mark and not fence then
      fence, first = mark, i - 1
    elseif mark and fence and vim.startswith(mark, fence) and line:match('^%s*[`~]+%s*$') then
      table.insert(found, { first = first, last = i - 1 })
      fence = nil
    end
  end
  if fence then
    table.insert(found, { first = first, last = #lines })
  end
  return found
end

--- The block of code under the cursor, else the last one above it, else the last one.
---@param chat winnow.Chat
---@return winnow.Code?
local function code_here(chat)
  local here = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found = vim.fn.reverse(codes(chat))
  return vim.iter(found):find(function(code)
    return code.first <= here
  end) or found[1]
end

--- Select the block of code that is here, as a text object does.
---@param fences boolean with the lines around it
function M.select(fences)
  local chat = registry.current()
  local code = chat and code_here(chat)
  local inside = fences and 0 or 1
  if not code or code.last - code.first < 2 * inside then
    return
  end
  if vim.api.nvim_get_mode().mode:find('^[vV\22]') then
    vim.cmd('normal! \27') -- another selection begins
  end
  local last = math.min(code.last + 1 - inside, vim.api.nvim_buf_line_count(0))
  vim.api.nvim_win_set_cursor(0, { code.first + 1 + inside, 0 })
  vim.cmd('normal! V')
  vim.api.nvim_win_set_cursor(0, { last, 0 })
end

--- Yank the block of code that is here into the register that was named, and stay.
function M.yank()
  local chat = registry.current()
  local code = chat and code_here(chat)
  if not code then
    return
  end
  local view = vim.fn.winsaveview()
  local lines = { code.first + 2, math.min(code.last, vim.api.nvim_buf_line_count(0)) }
  if lines[1] <= lines[2] then
    vim.cmd.yank({ range = lines, reg = vim.v.register })
  end
  vim.fn.winrestview(view)
end

return M
