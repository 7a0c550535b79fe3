--- Tool output and thinking fold beneath their first line, and turns beneath the user's heading.
--- The folds are Vim's manual ones, made from the text: 'foldexpr' would cost more than all the
--- rest of streaming.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local outline = require('winnow.chat.outline')
local registry = require('winnow.registry')
local tool = require('winnow.chat.tool')
local uninterrupted = require('winnow.uninterrupted')

local M = {}

local FOLDED = grammar.OUTPUT
-- A table or a tree that Claude draws stays open.
local FOLDING = { [grammar.TOOL] = true, [grammar.THOUGHT] = true }

local LAST = 8 -- lines of a failed call that stay in sight, for they say why
local CHUNK = 200

---@class winnow.Block rows that fold
---@field first integer
---@field last integer
---@field head string the first line

--- Whether folds are ours to make in a window: not where the user wants none (|zn|), or other ones.
---@param win integer
---@return boolean
function M.may_fold(win)
  return vim.wo[win].foldenable and vim.wo[win].foldmethod == 'manual'
end

--- Make folds in a window, where there are none yet.
---@param win integer
---@param act fun()
local function in_window(win, act)
  uninterrupted(function()
    vim.api.nvim_win_call(win, act)
  end)
end

--- Fold rows in a window, unless they are in a fold already, which may be open.
---@param win integer
---@param first integer
---@param last integer
function M.rows(win, first, last)
  in_window(win, function()
    if M.may_fold(win) and vim.fn.foldlevel(first + 1) == 0 then
      vim.cmd.fold({ range = { first + 1, last + 1 } })
    end
  end)
end

---@param line string
---@return boolean?
local function folds(line)
  return FOLDING[line:sub(1, 3)] -- each of these is three bytes long
end

--- The rows of a buffer from one on, upwards or downwards, read in pieces.
---@param buf integer
---@param row integer
---@param step 1|-1
---@return fun(): integer?, string? next
local function rows(buf, row, step)
  local lines, first, count = {}, 0, vim.api.nvim_buf_line_count(buf)
  local at = row - step
  return function()
    at = at + step
    if at < 0 or at >= count then
      return nil
    end
    if not lines[at - first + 1] then
      first = step > 0 and at or math.max(0, at - CHUNK + 1)
      lines = vim.api.nvim_buf_get_lines(buf, first, first + CHUNK, false)
    end
    return at, lines[at - first + 1]
  end
end

--- The rows of the block that ends at or holds a row, its first line included.
---@param buf integer
---@param row integer
---@return integer first
---@return integer last
local function block(buf, row)
  local first, last = row, row
  for at, line in rows(buf, row + 1, 1) do
    if not vim.startswith(line, FOLDED) then
      break
    end
    last = at
  end
  for at, line in rows(buf, last, -1) do
    first = at
    if not vim.startswith(line, FOLDED) then
      break
    end
  end
  return first, last
end

--- Whether a row of the current window is in no fold but its turn's.
---@param row integer
---@return boolean
local function is_free(row)
  local level = vim.fn.foldlevel(row + 1)
  if level > 0 then
    for at, line in rows(vim.api.nvim_get_current_buf(), row, -1) do
      if vim.list_contains(grammar.SPEAKERS, line) then
        return level == vim.fn.foldlevel(at + 1)
      end
    end
  end
  return level == 0
end

--- Fold blocks in a window, in one command; how a tool has failed, which its last lines say, stays
--- in view.
---@param win integer
---@param found winnow.Block[]
local function fold_blocks(win, found)
  in_window(win, function()
    local buf, commands = vim.api.nvim_win_get_buf(win), {} ---@type integer, string[]
    for _, one in ipairs(M.may_fold(win) and found or {}) do
      local first = one.first
      local last = tool.failed(one.head) and one.last - LAST or one.last
      if vim.api.nvim_buf_get_lines(buf, first, first + 1, false)[1] ~= one.head then
        break -- the user has changed what is above
      elseif last > first and is_free(first) then
        table.insert(commands, ('%d,%dfold'):format(first + 1, last + 1))
      end
    end
    vim.api.nvim_exec2(table.concat(commands, '\n'), {})
  end)
end

--- Fold each turn but the newest, and leave the fold open: `zm` gives an overview. What Claude goes
--- on to say comes below what is folded.
---@param win integer
---@param chat winnow.Chat
local function fold_turns(win, chat)
  local starts = {} ---@type integer[]
  for i, said in ipairs(outline.all(chat)) do
    if said.begins or i == 1 then
      table.insert(starts, said.row)
    end
  end
  in_window(win, function()
    local commands = {} ---@type string[] of which thousands take half the time as one
    for i = 1, M.may_fold(win) and #starts - 2 or 0 do -- the last one is the draft
      local first = starts[i] + 1
      if vim.fn.foldlevel(first) == 0 then
        table.insert(commands, ('%d,%dfold|%dfoldopen'):format(first, starts[i + 1], first))
      end
    end
    vim.api.nvim_exec2(table.concat(commands, '\n'), {})
  end)
end

--- Fold the turns in every window that shows the chat.
---@param chat winnow.Chat
function M.messages(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    fold_turns(win, chat)
  end
end

--- Open the messages that are closed in the current window; what is folded in them stays so.
---@param chat winnow.Chat
---@return boolean any
local function open_messages(chat)
  local any = false
  for _, said in ipairs(outline.all(chat)) do
    if vim.fn.foldclosed(said.row + 1) == said.row + 1 then
      vim.cmd.foldopen({ range = { said.row + 1, said.row + 1 } })
      any = true
    end
  end
  return any
end

--- Open the messages again, which a session's file closes that sets 'foldlevel' and knows of no
--- folds.
---@param chat winnow.Chat
function M.open_messages(chat)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    vim.api.nvim_win_call(win, function()
      open_messages(chat)
    end)
  end
end

--- What `zr` does in a chat: it takes `zm` back, where that has closed messages. By itself Vim
--- would open what a tool of the newest turn said, too, which is as deep as a message.
function M.less()
  local chat = registry.current()
  if not chat or not open_messages(chat) then
    vim.cmd.normal({ vim.v.count1 .. 'zr', bang = true })
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
  for at, line in rows(buf, row, -1) do
    if not vim.startswith(line, FOLDED) then
      return at < row and folds(line) or false
    end
  end
  return false
end

--- Fold the block that a row belongs to, in every window that shows the buffer.
---@param buf integer
---@param row integer from 0
function M.at(buf, row)
  local near = table.concat(vim.api.nvim_buf_get_lines(buf, row, row + 2, false), '\n')
  if ('\n' .. near):find('\n' .. FOLDED, 1, true) then
    local first, last = block(buf, row)
    local head = vim.api.nvim_buf_get_lines(buf, first, first + 1, false)[1]
    for _, win in ipairs(folds(head) and vim.fn.win_findbuf(buf) or {}) do
      fold_blocks(win, { { first = first, last = last, head = head } })
    end
  end
end

--- Fold the frontmatter in every window that shows the buffer; `u` brings back no fold.
---@param buf integer
function M.frontmatter(buf)
  local _, last = frontmatter.read(buf)
  for _, win in ipairs(last and vim.fn.win_findbuf(buf) or {}) do
    M.rows(win, 0, last)
  end
end

--- The blocks of some lines that fold.
---@param lines string[]
---@return winnow.Block[]
local function blocks(lines)
  local found, head = {}, 0 -- the row after the block's first one
  for i = 1, #lines + 1 do
    local line = lines[i] or ''
    if line:sub(1, #FOLDED) ~= FOLDED then
      if i - head > 1 and head > 0 and folds(lines[head]) then
        table.insert(found, { first = head - 1, last = i - 2, head = lines[head] })
      end
      head = i
    end
  end
  return found
end

-- Blocks that are folded at a time, the last ones at once, and milliseconds until the next time.
local SOME, REST = 300, 20

--- Fold all blocks in a window, those at the end first: Vim takes its time for thousands of folds.
---@param win integer
---@param found winnow.Block[]
---@param done fun() is called when all are folded
local function fold_all(win, found, done)
  local buf = vim.api.nvim_win_get_buf(win)
  fold_blocks(win, vim.list_slice(found, math.max(1, #found - SOME + 1)))
  if #found <= SOME then
    done()
    return
  end
  vim.defer_fn(function()
    if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
      fold_all(win, vim.list_slice(found, 1, #found - SOME), done)
    end
  end, REST)
end

-- Windows whose folds fit a chat, once lines came or went above others.
local fit = setmetatable({}, { __mode = 'k' }) ---@type table<winnow.Chat, table<integer, true>>

--- Lines came or went above others. Neovim moves the folds of windows that show them.
---@param chat winnow.Chat
function M.moved(chat)
  fit[chat] = {}
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    fit[chat][win] = true
  end
end

--- Forget folds that don't fit: Neovim gives a window back what it had, by its lines' numbers.
---@param win integer
---@param chat? winnow.Chat
local function forget_old(win, chat)
  if fit[chat] and not fit[chat][win] and M.may_fold(win) then
    fit[chat][win] = true
    vim.fn.win_execute(win, 'normal! zE')
  end
end

--- Fold the frontmatter, and every block of the buffer that a window shows, but nothing in an open
--- section: what is answered must be seen.
---@param win integer
function M.all(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local chat = registry.get(buf)
  forget_old(win, chat)
  local stop = chat and chat.section and chat.section:rows() or -1
  local lines = vim.api.nvim_buf_get_lines(buf, 0, stop, false)
  local _, last_row = frontmatter.parse(lines)
  if last_row then
    M.rows(win, 0, last_row)
  end
  fold_all(win, blocks(lines), function()
    if chat then
      fold_turns(win, chat)
    end
  end)
end

return M
