--- The messages that wait in a chat: lines of the user's, above what else stands in the draft. They
--- go out one by one, each when Claude is done with the one before; and only while the user knows.
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local queued = require('winnow.chat.queued')
local steps = require('winnow.chat.steps')
local trim = require('winnow.trim')
local undo = require('winnow.chat.undo')

---@class (partial) winnow.Chat
---@field queued false|'draft'|'block' what is to go out: all of the draft, or what waits above it
---@field asked integer how often the user wanted something sent that had to wait
---@field now? integer number of the message that goes into the running turn
---@field sent_into table<string, integer> extmarks on messages that a turn has not taken yet, by id
---@field stood { lines: string[], seen: table<string, true> } below the heading, as it was healed
local Chat = {}

local namespace = vim.api.nvim_create_namespace('winnow.queue')

local QUEUED = 'goes out as soon as Claude can take it'
local TYPING = 'goes out when you leave Insert mode'
local EDITING = 'goes out when the cursor leaves it, or rests'
local STILL = 1000 -- milliseconds without a key until a message may go that the cursor stands on

--- What stands below the draft's heading.
---@return string[]
function Chat:below()
  return self:lines(self:draft_row(), -1)
end

--- What waits, in its order.
---@return winnow.Queued[]
function Chat:waiting()
  return (queued.parse(self:below()))
end

--- Remember the lines below the heading: against them the next edit is read.
function Chat:note_queue()
  self.sent_into = self.sent_into or {}
  local lines = self:below()
  local seen = self.stood and self.stood.seen or {}
  local any = false
  for _, line in ipairs(lines) do
    if queued.read(line) then
      seen[line], any = true, true
    end
  end
  self.stood = { lines = lines, seen = any and seen or {} }
end

--- Put other lines below the heading, as little of them as differs.
---@param self winnow.Chat
---@param lines string[]
local function put(self, lines)
  local change = steps.difference(self:below(), lines)
  if change then
    local row = self:draft_row() + change.row
    vim.api.nvim_buf_set_lines(self.buf, row, row + #change.old, false, change.new)
  end
  self:note_queue()
end

--- Give lines back their bars that an edit has left without one: it is part of that edit.
function Chat:heal_queue()
  if self.owner then
    return
  end
  local lines = self:below()
  local change = steps.difference(self.stood.lines, lines)
  local block = change and (#self:waiting() > 0 or next(self.stood.seen))
  local healed = block and queued.heal(change, lines, self.stood.seen) or lines
  -- After `u` there is nothing to join, and nothing to heal: what was healed comes back so.
  if steps.difference(lines, healed) and pcall(vim.cmd, 'silent undojoin') then
    put(self, healed)
  end
  self:note_queue()
  if block then
    self:show_state()
  end
end

--- Have the draft's own text wait, as a message of its own; an edit that `u` takes back.
---@param text string
---@return integer number
function Chat:enqueue(text)
  self:as_host(function()
    self:ensure_heading()
  end)
  undo.restore(self)
  local lines, number = queued.add(self:below(), text, {})
  put(self, lines)
  for _, win in ipairs(self:in_draft()) do
    self:to_draft(win)
  end
  return number
end

--- The message that the cursor stands on; the chat is that of the current buffer.
---@return winnow.Queued?
function Chat:queued_here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1 - self:draft_row()
  return vim.iter(self:waiting()):find(function(message)
    return vim.list_contains(message.rows, row)
  end)
end

--- The message that goes out next.
---@return winnow.Queued?
function Chat:next_queued()
  local all = self:waiting()
  local now = vim.iter(all):find(function(message)
    return message.number == self.now
  end)
  return now or not self.now and all[1] or nil
end

--- Whether the user is at work on what waits, so that no line of it may go; then it is looked at
--- again.
---@return boolean
function Chat:edits_queue()
  local mode = vim.api.nvim_get_mode().mode
  if vim.api.nvim_get_current_buf() ~= self.buf or not self:queued_here() then
    return false
  end
  local left = STILL - guard.idle()
  if vim.startswith(mode, 'n') and left > 0 then
    vim.defer_fn(function()
      if vim.api.nvim_buf_is_loaded(self.buf) then
        self:typed()
      end
    end, left)
  end
  return not vim.startswith(mode, 'n') or left > 0
end

--- Take a message out of what waits: a write of the host's. What `u` may bring back has it no more.
---@param message winnow.Queued
---@return string text
function Chat:dequeue(message)
  put(self, queued.without(self:below(), message.number))
  undo.change(self.buf, function(lines)
    return queued.without(lines, message.number)
  end)
  self.now = self.now ~= message.number and self.now or nil
  return trim.both(table.concat(message.lines, '\n'))
end

--- Say beside a message that was sent into a turn whether Claude has it.
---@param self winnow.Chat
---@param row integer of its heading
---@param words string
---@param id? integer
---@return integer mark
local function note(self, row, words, id)
  return vim.api.nvim_buf_set_extmark(self.buf, namespace, row, 0, {
    id = id,
    virt_text = { { ' ' .. words, 'WinnowStatus' } },
    hl_mode = 'combine',
    end_col = #grammar.YOU,
    invalidate = true,
  })
end

--- A message that was just made one of the transcript went into a turn.
---@param id string
---@param row integer of its heading
function Chat:note_sent(id, row)
  if self:lines(row, row + 1)[1] == grammar.YOU then
    self.sent_into[id] = note(self, row, 'sent: Claude takes it with the next result of a tool')
  end
end

--- Claude has taken these.
---@param ids string[]
function Chat:taken(ids)
  for _, id in ipairs(ids) do
    local mark = self.sent_into[id]
    local row = mark and vim.api.nvim_buf_get_extmark_by_id(self.buf, namespace, mark, {})[1]
    if row then
      note(self, row, ('taken at %s'):format(os.date('%X')), mark)
    end
    self.sent_into[id] = nil
  end
end

--- Take a message out of the transcript again that did not get into its turn.
---@param ids string[]
---@return boolean done
function Chat:untake(ids)
  local mark = self.sent_into[ids[1] or '']
  local row = mark and vim.api.nvim_buf_get_extmark_by_id(self.buf, namespace, mark, {})[1]
  if not row then
    return false
  end
  self.sent_into[ids[1]] = nil
  vim.api.nvim_buf_del_extmark(self.buf, namespace, mark)
  local lines = self:lines(row, (self:heading_row()))
  for i, line in ipairs(lines) do
    if line == grammar.CLAUDE then
      vim.api.nvim_buf_set_lines(self.buf, row, row + i + 1, false, {})
      self:count_above()
      return true
    end
  end
  return false
end

--- The turn is over: whatever nobody has told of is part of it.
function Chat:forget_sent()
  for _, mark in pairs(self.sent_into) do
    vim.api.nvim_buf_del_extmark(self.buf, namespace, mark)
  end
  self.sent_into = {}
end

--- What was to go out stays here: it goes when the user says so again. One message alone is the
--- draft again.
function Chat:hold()
  local was = self.queued
  self.queued, self.typing, self.now = false, false, nil
  local all = self:waiting()
  if was == 'block' and #all == 1 and self:draft() == '' and not self:edits_queue() then
    undo.restore(self)
    put(self, vim.list_extend({ '' }, all[1].lines))
  end
  self:show_state()
end

--- Put a message back that did not arrive: above all else that stands there, and a message of its
--- own. A write of the host's.
---@param text string
function Chat:put_back(text)
  local lines = self:below()
  local rest = self:draft()
  local all = self:waiting()
  local there = vim.iter(all):any(function(message)
    return trim.both(table.concat(message.lines, '\n')) == text
  end)
  if rest == text or there then
    return -- `u` brought it back
  elseif rest == '' and #all == 0 then
    put(self, vim.split('\n' .. text, '\n', { plain = true }))
  else
    put(self, (queued.add(lines, text, select(2, queued.parse(lines)), true)))
  end
end

--- What is to go out, and when, in words; empty: nothing.
---@return string
function Chat:queue_words()
  local count = #self:waiting()
  if self.queued == 'draft' then
    return self.typing and TYPING or QUEUED
  elseif count == 0 then
    return ''
  elseif self.typing then
    return EDITING
  elseif self.now then
    return QUEUED
  elseif self.queued then
    return ('%d queued'):format(count)
  end
  return count == 1 and '1 message waits: <CR> sends it'
    or ('%d messages wait: <CR> sends them'):format(count)
end

return Chat
