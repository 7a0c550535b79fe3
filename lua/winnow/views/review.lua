--- What changed in the files, as one patch: the list `review`, whose lines are files and hunks.
local chats = require('winnow.chats')
local files = require('winnow.chat.files')
local folds = require('winnow.chat.fold')
local grammar = require('winnow.grammar')
local lists = require('winnow.views.list')
local registry = require('winnow.registry')
local say = require('winnow.say')

local M = {}

M.words = { 'accept', 'session', 'turn' } -- which follow `:Winnow review`

local FILE = '^diff '
local EDITED = 'winnow: the review has edits: :w does what they ask for, :e! drops them.'

--- Files that have edits which were not written.
---@return string[]
local function unsaved()
  local paths = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].modified and vim.bo[buf].buftype == '' and name ~= '' then
      table.insert(paths, files.real(name))
    end
  end
  return paths
end

--- The first line of the file that a row is about, and the line of that file, from 1.
---@param buf integer
---@param row integer from 1
---@return string? head
---@return integer line
local function place(buf, row)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, row, false)
  local sign, below, line = lines[row]:sub(1, 1), 0, nil
  for at = row, 1, -1 do
    local text = lines[at]
    local first = text:match('^@@ %-%S+ %+(%d+)')
    if first and not line then
      local on = below > 0 and (sign == '+' or sign == ' ') and 1 or 0
      line = tonumber(first) + below - on
    elseif text:match(FILE) then
      return text, line or 1
    end
    below = below + ((text:sub(1, 1) == '+' or text:sub(1, 1) == ' ') and 1 or 0)
  end
  return nil, 1
end

--- Go to what the cursor is on.
---@param list winnow.List
local function go(list)
  local head, line = place(list.buf, vim.api.nvim_win_get_cursor(0)[1])
  local chat = registry.get(list.of)
  if head and chat then
    chat:tell('visitchange', { head = head, line = line })
  else
    vim.cmd.normal({ vim.v.count1 .. '\r', bang = true })
  end
end

--- Colours, and what is typed in a comment.
---@param buf integer
local function dress(buf)
  local options = vim.bo[buf]
  options.syntax = 'diff'
  options.comments, options.formatoptions = 'b:' .. grammar.OWN, 'ro' -- <CR> goes on with it
  vim.api.nvim_buf_call(buf, function()
    vim.cmd.syntax('match WinnowFile /^diff .*/')
    vim.cmd.syntax(('match WinnowNotice /^%s.*/'):format(grammar.OWN))
  end)
  vim.keymap.set('n', 'A', '<Plug>(winnow-comment)', {
    buffer = buf,
    desc = 'Winnow: comment on this line',
  })
end

--- Fold each file below its first line, open but for those that were closed. By hand: to ask for
--- the level of each line takes half a second in a long review.
---@param lines string[]
---@param anew boolean they have just been written
local function fold(lines, anew)
  local heads = {} ---@type integer[]
  for row, line in ipairs(lines) do
    if line:find(FILE) then
      table.insert(heads, row)
    end
  end
  local win = vim.api.nvim_get_current_win()
  if #heads == 0 or not folds.may_fold(win) or not anew and vim.fn.foldlevel(heads[1]) > 0 then
    return
  end
  local closed = {} ---@type table<integer, boolean>
  for _, row in ipairs(heads) do
    closed[row] = vim.fn.foldclosed(row) == row
  end
  vim.cmd('silent! normal! zE')
  for i, row in ipairs(heads) do
    vim.cmd.fold({ range = { row, (heads[i + 1] or #lines + 1) - 1 } })
    if not closed[row] then
      vim.cmd.foldopen({ range = { row } })
    end
  end
end

---@type winnow.ListKind
local KIND = {
  filetype = 'winnowreview',
  go = go,
  unsaved = unsaved,
  dress = dress,
  fold = fold,
  window = { foldmethod = 'manual', foldtext = '', fillchars = 'fold: ' },
}

--- Say something about the line under the cursor: below it, on a line of its own.
function M.comment()
  local row, lines = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_buf_line_count(0)
  if not vim.startswith(vim.api.nvim_get_current_line(), grammar.OWN) then
    while row < lines and vim.startswith(vim.fn.getline(row + 1), grammar.OWN) do
      row = row + 1
    end
    vim.api.nvim_buf_set_lines(0, row, row, false, { grammar.OWN .. ' ' })
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  end
  vim.cmd.startinsert({ bang = true })
end

--- Take out of lines what a row is about: a hunk, or by its first line a file.
---@param lines string[]
---@param row integer from 1
---@return string[]? left nil: it is about none
local function without(lines, row)
  local first = row
  while first > 0 and not lines[first]:find(FILE) and not vim.startswith(lines[first], '@@') do
    first = first - 1
  end
  if first == 0 then
    return nil
  end
  local whole = lines[first]:find(FILE) ~= nil
  local last = first + 1
  while lines[last] and not lines[last]:find(FILE) do
    if not whole and vim.startswith(lines[last], '@@') then
      break
    end
    last = last + 1
  end
  local left = vim.list_slice(lines, 1, first - 1)
  return vim.list_extend(left, vim.list_slice(lines, last))
end

--- Accept the hunk under the cursor, or the file.
function M.accept()
  local name = vim.api.nvim_buf_get_name(0)
  local of = tonumber(name:match('^winnow://review/(%d+)$'))
  local list, chat = lists.get('review', of), of and registry.get(of)
  local left = list and without(list.written, vim.api.nvim_win_get_cursor(0)[1])
  if not (list and chat) then
    say('winnow: this is no review: :Winnow review shows one.', 'warn')
  elseif vim.bo[list.buf].modified then
    say(EDITED, 'warn')
  elseif not left then
    say('winnow: there is no change under the cursor.', 'warn')
  else
    chat:tell('accept', { before = list.written, lines = left })
  end
end

--- The chat that the user means: that of this buffer, or of this directory.
---@param cwd string
---@return winnow.Chat?
local function chat_of(cwd)
  local of = vim.api.nvim_buf_get_name(0):match('^winnow://review/(%d+)$')
  return registry.current()
    or of and registry.get(tonumber(of) --[[@as integer]])
    or registry.get(chats.of_directory(cwd))
end

--- `:Winnow review`.
---@param cwd string
---@param since string empty: what was accepted last
---@param mods? table command modifiers
function M.run(cwd, since, mods)
  local chat = chat_of(cwd)
  if not chat then
    say('winnow: there is no chat whose changes could be reviewed.', 'warn')
  elseif since:find('^accept%s+here$') then
    M.accept()
  elseif since == 'accept' then
    local list = lists.get('review', chat.buf)
    if list and vim.bo[list.buf].modified then
      say(EDITED, 'warn')
    else
      chat:tell('accept', {})
    end
  else
    chat:tell('review', { since = since })
    lists.open('review', chat.buf, mods, KIND)
  end
end

return M
