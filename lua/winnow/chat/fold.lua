--- Tool output and thinking fold beneath their first line, and messages beneath their heading. The
--- folds are Vim's manual ones, made from the text: 'foldexpr' would cost more than all the rest of
--- streaming.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local outline = require('winnow.chat.outline')
local registry = require('winnow.registry')

local M = {}

local FOLDED = grammar.OUTPUT
local HEADINGS = {} ---@type table<string, true>
for _, heading in ipairs(grammar.SPEAKERS) do
  HEADINGS[heading] = true
end
-- A table or a tree that Claude draws stays open.
local FOLDING = { [grammar.TOOL] = true, [grammar.THOUGHT] = true }

--- Fold rows in a window, unless they are in a fold already, which may be open.
---@param win integer
---@param first integer
---@param last integer
---@param heading? integer row of the message's, whose fold is none of these
local function fold(win, first, last, heading)
  vim.api.nvim_win_call(win, function()
    local outer = heading and vim.fn.foldlevel(heading + 1) or 0
    if vim.fn.foldlevel(first + 1) == outer then
      vim.cmd.fold({ range = { first + 1, last + 1 } })
    end
  end)
end

---@param line string
---@return boolean?
local function folds(line)
  return FOLDING[line:sub(1, 3)] -- each of these is three bytes long
end

--- The rows of the block that ends at or holds a row, its first line included.
---@param lines string[]
---@param row integer
---@return integer first
---@return integer last
local function block(lines, row)
  local last = row
  while lines[last + 2] and vim.startswith(lines[last + 2], FOLDED) do
    last = last + 1
  end
  local first = last
  while first > 0 and vim.startswith(lines[first + 1], FOLDED) do
    first = first - 1
  end
  return first, last
end

--- Fold a block in a window; why a tool has failed, which its last line says, stays in view.
---@param win integer
---@param first integer
---@param last integer
---@param lines string[] of the buffer
local function fold_block(win, first, last, lines)
  local head, heading = lines[first + 1], first
  if not folds(head) then
    return
  end
  last = vim.endswith(head, ' ' .. grammar.REFUSED) and last - 1 or last
  while heading > 0 and not HEADINGS[lines[heading + 1]] do
    heading = heading - 1
  end
  if last > first then
    fold(win, first, last, HEADINGS[lines[heading + 1]] and heading or nil)
  end
end

--- Fold each message but the draft, and leave the fold open: `zM` gives an overview. What Claude
--- goes on to say comes above the last line of its fold, and so into it.
---@param win integer
---@param chat winnow.Chat
local function fold_messages(win, chat)
  local said = outline.all(chat)
  vim.api.nvim_win_call(win, function()
    for i = 1, #said - 1 do
      local first = said[i].row + 1
      if vim.fn.foldlevel(first) == 0 then
        vim.cmd.fold({ range = { first, said[i + 1].row } })
        vim.cmd.foldopen({ range = { first, first } })
      end
    end
  end)
end

--- Fold the messages in every window that shows the chat.
---@param chat winnow.Chat
function M.messages(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    fold_messages(win, chat)
  end
end

--- Open the messages again, which a session's file closes that sets 'foldlevel' and knows of no
--- folds.
---@param chat winnow.Chat
function M.open_messages(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    vim.api.nvim_win_call(win, function()
      for _, said in ipairs(outline.all(chat)) do
        if vim.fn.foldclosed(said.row + 1) == said.row + 1 then
          vim.cmd.foldopen({ range = { said.row + 1, said.row + 1 } })
        end
      end
    end)
  end
end

--- Open what a row is folded in: something waits there.
---@param buf integer
---@param row integer from 0
function M.open(buf, row)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.foldclosed(row + 1) ~= -1 then
        vim.cmd.foldopen({ range = { row + 1, row + 1 }, bang = true })
      end
    end)
  end
end

--- Whether a row shows what a tool said, or what Claude thought: such rows follow a line that says
--- so. A table that Claude draws begins with the same character.
---@param buf integer
---@param row integer from 0
---@return boolean
function M.is_output(buf, row)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  while row > 0 and line and vim.startswith(line, FOLDED) do
    row = row - 1
    line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
    if line and folds(line) then
      return true
    end
  end
  return false
end

--- Fold the block that a row belongs to, in every window that shows the buffer.
---@param buf integer
---@param row integer from 0
function M.at(buf, row)
  local near = vim.api.nvim_buf_get_lines(buf, row, row + 2, false)
  local folded = vim.iter(near):any(function(line)
    return vim.startswith(line, FOLDED)
  end)
  if folded then
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    local first, last = block(lines, row)
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      fold_block(win, first, last, lines)
    end
  end
end

--- Fold the frontmatter in every window that shows the buffer; `u` brings back no fold.
---@param buf integer
function M.frontmatter(buf)
  local _, last = frontmatter.read(buf)
  for _, win in ipairs(last and vim.fn.win_findbuf(buf) or {}) do
    fold(win, 0, last)
  end
end

--- Fold the frontmatter, and every block of the buffer that a window shows, but nothing in an open
--- section: what is answered must be seen.
---@param win integer
function M.all(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local chat = registry.get(buf)
  local stop = chat and chat.section and chat.section:rows() or -1
  local lines = vim.api.nvim_buf_get_lines(buf, 0, stop, false)
  local _, last_row = frontmatter.parse(lines)
  if last_row then
    fold(win, 0, last_row)
  end
  local row = 0
  while row < #lines do
    if vim.startswith(lines[row + 1], FOLDED) then
      local first, last = block(lines, row)
      fold_block(win, first, last, lines)
      row = last
    end
    row = row + 1
  end
  if chat then
    fold_messages(win, chat)
  end
end

return M
