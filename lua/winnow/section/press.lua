--- What a press of the user's asks of the open section, if it was meant.
local guard = require('winnow.guard')
local say = require('winnow.say')
local seen = require('winnow.section.seen')
local sent = require('winnow.chat.sent')
local text = require('winnow.section.text')
local trim = require('winnow.trim')
require('winnow.interpreted')()

local WORKING = 'what you pressed last is still being done.'
local CANCEL = '<Esc> again cancels'
local CHANGED = 'The text has changed since you pressed that: press again.'

local keys = vim.api.nvim_create_namespace('winnow.press')

---@class (partial) winnow.Section
local Section = {}

--- From now on notice another key than this one: what the foot says of a second press is over.
---@param self winnow.Section
---@param key string as it is typed
local function watch(self, key)
  self.other = false
  vim.on_key(function(_, typed)
    if typed == '' or typed == key then
      return
    end
    vim.on_key(nil, keys)
    self.other = true
    if self.pending then
      self.pending = nil
      vim.schedule(function()
        if self:is_open() and vim.api.nvim_buf_is_loaded(self.chat.buf) then
          self:decorate()
        end
      end)
    end
  end, keys)
end

--- Have the foot say what the same key would do now, until that does it or another key is typed.
---@param sentence string
---@param key string as it is typed
function Section:pend(sentence, key)
  self.pending = sentence
  self:decorate()
  watch(self, key)
end

--- Tell the host of a press. The next one of its kind is about what comes of this one.
---@param kind string
---@param event table
function Section:tell(kind, event)
  self.pending = nil
  self.key = guard.key()
  watch(self, self.key)
  self.reply = guard.sight()
  self.reply.said = WORKING
  event.section, event.lines = self.id, self:told_lines()
  self.chat:tell(kind, event)
end

--- The host has said a sentence.
---@param sentence string
function Section:hear(sentence)
  if self.reply.said == WORKING and not self.other then
    self:pend(sentence, self.key) -- the message line may have no room for it: 'cmdheight'
  end
  self.reply.said = sentence
  guard.drawn(self.reply)
end

--- The host has acted on the last press; what it says of it comes by itself.
function Section:acted()
  if self.reply.said == WORKING then
    self.reply.said = nil
  end
  guard.drawn(self.reply)
end

--- Whether what came of the last press was on the screen before this one. Not for the whole pause:
--- that one may have waited for half of it, see `guard.unless_held`.
---@return boolean
function Section:replied()
  return guard.allows(self.reply, guard.pause * 2 / 3)
end

--- Tell the host of a `<CR>` on this row of the section.
---@param self winnow.Section
---@param row integer
local function confirm(self, row)
  vim.api.nvim_echo({ { '' } }, false, {}) -- what the last one explained is over
  self.confirmed, self.confirming = self:lines(), row
  self:tell('confirm', { row = row, unseen = #seen.missing(self), anew = self.anew })
end

--- Do what a key asks for with the cursor on a row, if it was meant.
---@param self winnow.Section
---@param act fun(row: integer)
local function if_meant(self, act)
  local lines, row = self:lines(), vim.api.nvim_win_get_cursor(0)[1] - 1 - self:rows()
  local again = self.confirmed and text.same(lines, self.confirmed)
  if again and not self:replied() or not guard.allows(self.sight) then
    return
  end
  guard.unless_held(function()
    if not self:is_open() then
      return
    elseif text.same(self:lines(), lines) then
      self.anew = self.other ~= false
      act(row)
    else
      say(CHANGED, 'warn')
    end
  end)
end

--- `<CR>`: decide, explain or step; the host knows.
function Section:confirm()
  if_meant(self, function(row)
    confirm(self, row)
  end)
end

--- Keep only the option under the cursor: the host knows which lines are the others.
function Section:keep_here()
  if_meant(self, function(row)
    self.confirmed = self:lines()
    self:tell('keep', { row = row })
  end)
end

--- Delete rows of the lines that the host was asked about, unless they have changed, and confirm.
---@param question integer
---@param rows integer[]
function Section:delete(question, rows)
  if not (self.confirmed and text.same(self:lines(), self.confirmed)) then
    return
  end
  self:as_user(function(buf, first)
    for _, row in vim.iter(rows):rev():enumerate() do
      vim.api.nvim_buf_set_lines(buf, first + row, first + row + 1, false, {})
    end
  end)
  self:step(question)
  confirm(self, vim.api.nvim_win_get_cursor(0)[1] - 1 - self:rows())
end

--- The host that was told of the last press is gone.
function Section:forget()
  self.confirmed, self.granted, self.shared = nil, nil, nil
end

--- Its lines for a new host; none, if they are only what a file has: the store may have newer ones.
---@return string[]
function Section:left()
  self.shared = nil
  local as_read = self.from_file and self.pristine and not self.confirming
  return as_read and {} or self:lines()
end

--- `<Esc>`, which Vim users press by habit. Twice: the agent is told that the user cancelled.
function Section:cancel()
  if guard.is_leaving() or not guard.allows(self.sight, guard.pause * 5 / 3) then
    return
  elseif self.pending ~= CANCEL then
    self.offered = guard.sight()
    self:pend(CANCEL, guard.key())
    guard.drawn(self.offered)
  elseif guard.allows(self.offered, guard.pause * 2 / 3) then
    guard.unless_held(function()
      if self.pending == CANCEL and self:is_open() then
        self:tell('cancel', {})
      end
    end)
  end
end

--- Talk back to the agent instead of answering.
---@param words string
function Section:discuss(words)
  if guard.allows(self.sight) then
    words = trim.both(words)
    local id = sent.add(self.chat.path, words, self.id)
    local lines = self:told_lines()
    self.chat:tell('discuss', { section = self.id, lines = lines, text = words, id = id })
  end
end

return Section
