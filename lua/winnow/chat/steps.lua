--- The steps of a draft's undo: read from Neovim, and given back to it.
local grammar = require('winnow.grammar')
local scratch = require('winnow.scratch')
local trim = require('winnow.trim')

local M = {}

---@class winnow.Step one of the user's edits of the draft
---@field seq integer Neovim's number
---@field parent integer index of the step that it follows, 0: the oldest text
---@field row integer below the draft's heading, from 0
---@field old string[] lines that stood there
---@field new string[]
---@field cursor integer[] where the edit began: row below the heading, from 0, and column

---@class winnow.Past
---@field oldest string[] the draft before all steps
---@field steps winnow.Step[] in the order of their numbers
---@field now integer index of the step that the text is at

--- Do something that leaves no trace: no marks, no message, nothing that others hear.
---@param act fun()
local function quietly(act)
  M.act = act
  vim.api.nvim_cmd({
    cmd = 'lua',
    args = { "require('winnow.chat.steps').act()" },
    mods = { silent = true, noautocmd = true, keepjumps = true, lockmarks = true },
  }, {})
end

--- Do something in a copy of a chat: it has no windows, no colours and no steps of its own, and
--- through an undo file its steps become the chat's, or the chat's become its own.
---@param chat winnow.Chat
---@param lines string[] its text
---@param act fun(file: string)
local function in_copy(chat, lines, act)
  local levels, fsync = vim.bo[chat.buf].undolevels, vim.o.fsync
  local file = vim.fn.tempname()
  quietly(function()
    vim.o.fsync = false -- for a file that nobody needs after a crash
    local copy = scratch()
    vim.bo[copy].undolevels = -1
    vim.api.nvim_buf_set_lines(copy, 0, -1, false, lines)
    vim.bo[copy].undolevels = levels
    local ok, problem = pcall(vim.api.nvim_buf_call, copy, function()
      act(file)
    end)
    vim.api.nvim_buf_delete(copy, { force = true })
    os.remove(file)
    vim.o.fsync = fsync
    if not ok then
      error(problem, 0)
    end
  end)
end

--- Write the steps of the current buffer, or read them.
---@param command 'wundo'|'rundo'
---@param file string
local function pass(command, file)
  vim.cmd[command]({ file, bang = command == 'wundo' or nil, magic = { file = false } })
end

--- Go to a step of the current buffer's.
---@param seq integer
local function go(seq)
  vim.api.nvim_cmd({ cmd = 'undo', count = seq, mods = { silent = true } }, {})
end

--- End the step that goes on in the current buffer.
local function close()
  vim.bo.undolevels = vim.bo.undolevels
end

--- Neovim's steps with what each follows.
---@param entries table[] as undotree() has them
---@param parent integer
---@param found { seq: integer, parent: integer }[]
---@return { seq: integer, parent: integer }[] found
local function flat(entries, parent, found)
  for _, entry in ipairs(entries) do
    flat(entry.alt or {}, parent, found)
    table.insert(found, { seq = entry.seq, parent = parent })
    parent = entry.seq
  end
  return found
end

--- Neovim's number of a step.
---@param past winnow.Past
---@param index integer
---@return integer
local function seq_of(past, index)
  return index > 0 and past.steps[index].seq or 0
end

--- Whether Neovim still has all steps that were laid down, under their numbers.
---@param past winnow.Past
---@param found { seq: integer, parent: integer }[]
---@return boolean
local function has_all(past, found)
  local parents = {} ---@type table<integer, integer>
  for _, one in ipairs(found) do
    parents[one.seq] = one.parent
  end
  return vim.iter(past.steps):all(function(step)
    return parents[step.seq] == seq_of(past, step.parent)
  end)
end

--- The draft of the current buffer, where a mark says where its heading is.
---@return string[] lines below the heading, as `Chat:heal` leaves them
---@return integer row of the heading
local function draft_here()
  local row = vim.api.nvim_buf_get_mark(0, 'h')[1]
  if row == 0 then
    row = vim.api.nvim_buf_line_count(0) -- the text that was marked has no heading
  end
  ---@return string?
  local function line()
    return vim.api.nvim_buf_get_lines(0, row - 1, row, false)[1]
  end
  while row > 0 and not vim.startswith(line() or '', grammar.YOU) do
    row = row - 1 -- it was deleted, or written anew
  end
  if row == 0 then
    return { '', '' }, vim.api.nvim_buf_line_count(0)
  end
  local lines = vim.api.nvim_buf_get_lines(0, row, -1, false)
  local rest = trim.both((line() or ''):sub(#grammar.YOU + 1))
  if rest ~= '' or #lines == 0 then
    lines = vim.list_extend({ '', rest }, lines)
  end
  return lines, row - 1
end

--- The index of each of Neovim's steps.
---@param past winnow.Past
---@return table<integer, integer>
function M.indices(past)
  local at = { [0] = 0 }
  for i, step in ipairs(past.steps) do
    at[step.seq] = i
  end
  return at
end

--- What each step of the current buffer, which is a copy, does to the draft. From the last one back
--- most of them end where the next one is to be looked at.
---@param found { seq: integer, parent: integer }[] in the order of their numbers
---@param known table<integer, integer> those of which nothing is asked
---@return table<integer, winnow.Step> done by number
local function undone(found, known)
  local done = {}
  local here, lines ---@type integer?, string[]
  for i = #found, 1, -1 do
    local one = found[i]
    if not known[one.seq] then
      if here ~= one.seq then
        go(one.seq)
        lines = draft_here()
      end
      go(one.parent)
      local before, row = draft_here()
      local cursor = vim.api.nvim_win_get_cursor(0)
      local step = M.difference(before, lines) ---@type winnow.Step?
      if step then
        step.cursor = { math.max(0, cursor[1] - row - 2), cursor[2] }
      end
      done[one.seq], here, lines = step, one.parent, before
    end
  end
  return done
end

--- Learn the steps of the current buffer, which is a copy, that are not known yet.
---@param past winnow.Past
---@param found { seq: integer, parent: integer }[]
---@return table<integer, integer> at the index of each
local function learn(past, found)
  local at = M.indices(past)
  table.sort(found, function(a, b)
    return a.seq < b.seq
  end)
  local done = undone(found, at)
  for _, one in ipairs(found) do
    if not at[one.seq] then
      local step, parent = done[one.seq], at[one.parent] or 0
      if step then
        step.seq, step.parent = one.seq, parent
        table.insert(past.steps, step)
      end
      at[one.seq] = step and #past.steps or parent -- else an edit elsewhere
    end
  end
  return at
end

--- Read the steps from Neovim, which has them in its undo file's format: a copy of the text goes
--- through them, for here each would be seen.
---@param chat winnow.Chat
---@param tree table as undotree() has it
---@param past? winnow.Past what was laid down
---@return winnow.Past
function M.read(chat, tree, past)
  local found = flat(tree.entries, 0, {})
  local known = past and has_all(past, found)
  local result = known and past or { oldest = {}, steps = {}, now = 0 }
  in_copy(chat, chat:lines(0, -1), function(file)
    vim.api.nvim_buf_call(chat.buf, function()
      close()
      pass('wundo', file)
    end)
    local heading, is_there = chat:heading_row()
    if is_there then
      vim.api.nvim_buf_set_mark(0, 'h', heading + 1, 0, {})
    end
    pass('rundo', file)
    if not known then
      go(0)
      result.oldest = draft_here()
    end
    result.now = learn(result, found)[tree.seq_cur] or 0
  end)
  return result
end

--- What is put in the place of what, to make one list of lines of another; nil: they are the same.
---@param old string[]
---@param new string[]
---@return { row: integer, old: string[], new: string[] }?
function M.difference(old, new)
  local from, till = 0, 0
  local shorter = math.min(#old, #new)
  while from < shorter and old[from + 1] == new[from + 1] do
    from = from + 1
  end
  if from == #old and from == #new then
    return nil
  end
  while till < shorter - from and old[#old - till] == new[#new - till] do
    till = till + 1
  end
  return {
    row = from,
    old = vim.list_slice(old, from + 1, #old - till),
    new = vim.list_slice(new, from + 1, #new - till),
  }
end

--- The steps between drafts of which each is changed alike.
---@param past winnow.Past
---@param change fun(lines: string[]): string[]
---@return winnow.Past
function M.changed(past, change)
  local texts, at = { [0] = past.oldest }, { [0] = 0 }
  local result = { oldest = change(past.oldest), steps = {}, now = 0 } ---@type winnow.Past
  for i, step in ipairs(past.steps) do
    local before = texts[step.parent]
    local text = vim.list_slice(before, 1, step.row)
    vim.list_extend(text, step.new)
    texts[i] = vim.list_extend(text, vim.list_slice(before, step.row + #step.old + 1))
    local other = M.difference(change(before), change(texts[i])) ---@type winnow.Step?
    if other then
      other.seq, other.parent, other.cursor = step.seq, at[step.parent], step.cursor
      table.insert(result.steps, other)
    end
    at[i] = other and #result.steps or at[step.parent]
  end
  result.now = at[past.now]
  return result
end

--- Make a step in the current buffer, which is a copy.
---@param step winnow.Step
---@param first integer row of the draft
local function make(step, first)
  local row = math.min(first + 1 + step.cursor[1], vim.api.nvim_buf_line_count(0))
  vim.api.nvim_win_set_cursor(0, { row, step.cursor[2] })
  close()
  local from = first + step.row
  vim.api.nvim_buf_set_lines(0, from, from + #step.old, false, step.new)
end

--- Make all steps in the current buffer, which is a copy with the oldest draft, and go to the one
--- that the text is at.
---@param past winnow.Past
---@param first integer row of the draft
---@param draft string[] as it is now, maybe after a step that is not known yet
local function make_all(past, first, draft)
  local base, at = vim.fn.undotree().seq_last, 0
  for i, step in ipairs(past.steps) do
    if step.parent ~= at then
      go(seq_of(past, step.parent))
    end
    make(step, first)
    step.seq, at = base + i, i
  end
  if at ~= past.now then
    close()
    go(seq_of(past, past.now))
  end
  local there = vim.api.nvim_buf_get_lines(0, first, -1, false)
  local last = M.difference(there, draft) ---@type winnow.Step?
  if last then
    last.seq, last.parent, last.cursor = base + #past.steps + 1, past.now, { last.row, 0 }
    make(last, first)
    table.insert(past.steps, last)
    past.now = #past.steps
  end
  close()
end

--- Give Neovim the steps: they are made in a copy, the text of the chat stays as it is.
---@param chat winnow.Chat
---@param past winnow.Past
---@return integer last Neovim's last number
function M.write(chat, past)
  local first = chat:heading_row() + 1
  local last = 0
  in_copy(chat, vim.list_extend(chat:lines(0, first), past.oldest), function(file)
    vim.bo.modified = true -- or `u` would say of the chat that it is not
    make_all(past, first, chat:lines(first, -1))
    if #past.steps > 0 then
      last = vim.fn.undotree().seq_last
      pass('wundo', file)
      vim.api.nvim_buf_call(chat.buf, function()
        pass('rundo', file)
      end)
    end
  end)
  return last
end

return M
