--- The user's undo of the draft. A write of the host's is outside undo, which makes Neovim forget
--- all steps; they are kept here meanwhile, and laid down again before the next key is acted on.
local grammar = require('winnow.grammar')
local log = require('winnow.log')
local registry = require('winnow.registry')
local window = require('winnow.window')

local M = {}

---@class winnow.Step the draft after one of the user's edits
---@field seq integer Neovim's number
---@field parent integer index of the step that it follows, 0: the oldest text
---@field lines string[] below the draft's heading
---@field cursor integer[] where the edit began: row below the heading, from 0, and column

---@class winnow.Past
---@field oldest string[]
---@field steps winnow.Step[] in the order of their numbers
---@field now integer index of the step that the text is at
---@field typed boolean that step is what is typed now in Insert mode

-- What is laid down, by buffer, while Neovim's last number is the one that it had then.
local laid = {} ---@type table<integer, { last: integer, past: winnow.Past }>
local kept = {} ---@type table<integer, winnow.Past> what is to be laid down, by buffer
local began = {} ---@type table<integer, integer> Neovim's last number when Insert mode began

local watched = vim.api.nvim_create_namespace('winnow.undo')

--- Do something in a buffer that leaves no trace: no marks, no message, nothing that others hear.
---@param buf integer
---@param act fun()
local function quietly(buf, act)
  M.act = act
  vim.api.nvim_buf_call(buf, function()
    vim.api.nvim_cmd({
      cmd = 'lua',
      args = { "require('winnow.chat.undo').act()" },
      mods = { silent = true, noautocmd = true, keepjumps = true, lockmarks = true },
    }, {})
  end)
end

--- Go to a step of the current buffer's.
---@param seq integer
local function go(seq)
  vim.cmd.undo({ count = seq, mods = { silent = true } })
end

--- Neovim's steps with what each follows, in the order of their numbers.
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

--- The draft of the current buffer, where a mark says where its heading is.
---@return string[] lines below the heading, as `Chat:heal` leaves them
---@return integer row of the heading
local function draft_here()
  local row = vim.api.nvim_buf_get_mark(0, 'h')[1]
  local all = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  while row > 0 and not vim.startswith(all[row] or '', grammar.YOU) do
    row = row - 1 -- it was deleted, or written anew
  end
  if row == 0 then
    return { '', '' }, #all
  end
  local lines = vim.list_slice(all, row + 1)
  local rest = vim.trim(all[row]:sub(#grammar.YOU + 1))
  if rest ~= '' or #lines == 0 then
    lines = vim.list_extend({ '', rest }, lines)
  end
  return lines, row - 1
end

--- Walk through the steps of the current buffer, which is a copy.
---@param tree table as undotree() has it
---@return winnow.Past
local function walk(tree)
  go(0)
  local past = { oldest = draft_here(), steps = {}, now = 0, typed = false }
  local steps = past.steps
  local at = { [0] = 0 } ---@type table<integer, integer> the index of each of Neovim's steps
  local found = flat(tree.entries, 0, {})
  table.sort(found, function(a, b)
    return a.seq < b.seq
  end)
  for _, one in ipairs(found) do
    local parent = at[one.parent] or 0
    go(one.seq)
    local lines = draft_here()
    go(one.parent)
    local row = select(2, draft_here())
    local cursor = vim.api.nvim_win_get_cursor(0)
    if vim.deep_equal(lines, parent > 0 and steps[parent].lines or past.oldest) then
      at[one.seq] = parent -- an edit elsewhere
    else
      cursor = { math.max(0, cursor[1] - row - 2), cursor[2] }
      table.insert(steps, { seq = one.seq, parent = parent, lines = lines, cursor = cursor })
      at[one.seq] = #steps
    end
  end
  past.now = at[tree.seq_cur] or 0
  return past
end

--- Read the steps from Neovim, which has them in its undo file's format; a copy of the text walks
--- through them, for here each would be seen.
---@param chat winnow.Chat
---@param tree table as undotree() has it
---@return winnow.Past
local function read(chat, tree)
  local file = vim.fn.tempname()
  local copy = vim.api.nvim_create_buf(false, true)
  local past ---@type winnow.Past
  local fsync = vim.o.fsync
  vim.o.fsync = false -- for a file that nobody needs after a crash
  quietly(chat.buf, function()
    vim.bo.undolevels = vim.bo.undolevels -- ends the step that goes on
    vim.cmd.wundo({ file, bang = true, magic = { file = false } })
  end)
  vim.o.fsync = fsync
  quietly(copy, function()
    local levels = vim.bo.undolevels
    vim.bo.undolevels = -1
    vim.api.nvim_buf_set_lines(copy, 0, -1, false, chat:lines(0, -1))
    vim.bo.undolevels = levels
    vim.api.nvim_buf_set_mark(copy, 'h', chat:heading_row() + 1, 0, {})
    vim.cmd.rundo({ file, magic = { file = false } })
    past = walk(tree)
  end)
  vim.api.nvim_buf_delete(copy, { force = true })
  os.remove(file)
  return past
end

--- Whether the user types in a buffer.
---@param buf integer
---@return boolean
function M.is_typed(buf)
  local mode = vim.api.nvim_get_mode().mode
  return vim.api.nvim_get_current_buf() == buf and mode:find('^[iRsS\19]') ~= nil
end

--- Insert mode begins.
---@param buf integer
function M.begin(buf)
  began[buf] = vim.fn.undotree(buf).seq_last
end

--- Have the steps laid down before the next key of Normal mode is acted on: it may be `u`.
local function watch()
  vim.on_key(next(kept) and function()
    local buf = vim.api.nvim_get_current_buf()
    local mode = vim.api.nvim_get_mode().mode
    if
      kept[buf] and (mode == 'c' or vim.startswith(mode, 'n') and not vim.startswith(mode, 'no'))
    then
      M.restore(registry.get(buf))
    end
  end or nil, watched)
end

--- Keep the steps before a write of the host's.
---@param chat winnow.Chat
function M.keep(chat)
  local buf = chat.buf
  local tree = not kept[buf] and vim.fn.undotree(buf) or { entries = {} }
  if #tree.entries == 0 then
    return -- there is nothing, or all of it is kept
  end
  local past ---@type winnow.Past
  if laid[buf] and laid[buf].last == tree.seq_last then
    past = laid[buf].past
    past.now = 0
    for i, step in ipairs(past.steps) do
      past.now = step.seq == tree.seq_cur and i or past.now
    end
  else
    local ok, found = pcall(read, chat, tree)
    if not ok then
      log.write(('What u takes back in %s is forgotten: %s'):format(chat.path, found))
      return
    end
    past = found
  end
  laid[buf] = nil
  local step = past.steps[past.now]
  past.typed = M.is_typed(buf) and step ~= nil and step.seq > (began[buf] or math.huge)
  kept[buf] = #past.steps > 0 and past or nil
  watch()
end

--- Lay the steps down in the current buffer, and go to the one that the text is at.
---@param chat winnow.Chat
---@param past winnow.Past
local function lay(chat, past)
  local buf = chat.buf
  local first, steps = chat:heading_row() + 1, past.steps
  local text, now = chat:lines(first, -1), past.steps[past.now]
  if not vim.deep_equal(text, now and now.lines or past.oldest) then
    if past.typed then
      now.lines = text
    else
      table.insert(steps, { seq = 0, parent = past.now, lines = text, cursor = { 0, 0 } })
      past.now = #steps
    end
  end
  chat:outside_undo(function()
    chat:change(first, text, past.oldest)
  end)
  local base, at = vim.fn.undotree(buf).seq_last, 0
  for i, step in ipairs(steps) do
    if step.parent ~= at then
      go(step.parent > 0 and steps[step.parent].seq or 0)
    end
    local before = step.parent > 0 and steps[step.parent].lines or past.oldest
    local row = math.min(first + 1 + step.cursor[1], vim.api.nvim_buf_line_count(buf))
    vim.api.nvim_win_set_cursor(0, { row, step.cursor[2] })
    vim.bo.undolevels = vim.bo.undolevels -- a step of its own
    chat:change(first, before, step.lines)
    step.seq, at = base + i, i
  end
  vim.bo.undolevels = vim.bo.undolevels
  if at ~= past.now then
    go(past.now > 0 and steps[past.now].seq or 0)
  end
  laid[buf] = { last = base + #steps, past = past }
end

--- Give Neovim the steps back.
---@param chat winnow.Chat
function M.restore(chat)
  local buf = chat.buf
  local past = kept[buf]
  if not past then
    return
  end
  kept[buf] = nil
  watch()
  if not select(2, chat:heading_row()) then
    return -- the user has deleted it since
  end
  local options = vim.bo[buf]
  local modified, modifiable = options.modified, options.modifiable
  local restore = window.views(buf)
  options.modifiable = true
  quietly(buf, function()
    lay(chat, past)
  end)
  options.modified, options.modifiable = modified, modifiable
  restore()
end

--- Forget a buffer that is gone.
---@param buf integer
function M.forget(buf)
  kept[buf], laid[buf], began[buf] = nil, nil, nil
end

return M
