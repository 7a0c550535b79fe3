--- What a chat is doing, as the user reads it beside the draft's heading.
local duration = require('winnow.chat.duration')
local events = require('winnow.events')
local fold = require('winnow.chat.fold')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local handover = require('winnow.handover')
local hints = require('winnow.hints')
local maps = require('winnow.chat.maps')
local progress = require('winnow.chat.progress')
local registry = require('winnow.registry')
local say = require('winnow.say')
local transcript = require('winnow.chat.transcript')
local window = require('winnow.window')

---@class (partial) winnow.Chat
---@field context integer how full its context is, in percent; 0: nobody knows
---@field warning string what the user should know for as long as it is so
---@field again string what `<CR>` does after a turn that failed, in words; empty: it sends
---@field due number when that helps, in seconds since the epoch; 0: at once
local Chat = { context = 0, warning = '', again = '', due = 0 } -- until the host has told

local namespace = vim.api.nvim_create_namespace('winnow.chat')

local DRAFT = grammar.YOU

-- Said beside the draft's heading.
local STATES = {
  asleep = '',
  idle = '',
  connecting = 'connecting…',
  working = 'working…  :Winnow stop ends the turn',
  task = 'working…  :Winnow board, dd and :w stop it',
  waiting = 'waits for your answer',
  failed = 'not connected; <CR> tries again',
}
-- What would end with Neovim.
local BUSY = {
  working = 'Claude is still at work here',
  waiting = 'Claude waits for your answer here',
}
local IN_BACKGROUND = '%d in background'
local SLOW = 3 -- seconds of a start from which on they are counted
local GHOST = 'i writes here, <Esc> and <CR> send'
local GHOST_OF_DEMO = 'i, any text, <Esc>, <CR> start the tour'
local GHOST_OF_TASK = 'i writes to this worker, <Esc> and <CR> send'

--- The host stopped: nothing is connected, and the open section has nobody to answer to.
---@param sentence string
function Chat:lost(sentence)
  self:hold()
  if self.section then
    self.section:forget()
  end
  transcript.settle(self)
  local notice = ('%s %s'):format(grammar.NOTICE, sentence)
  local row = self:tail_row()
  if not self.section and self:lines(row, row + 1)[1] ~= notice then
    transcript.write(self, notice, true)
  else
    say(sentence, 'warn')
  end
  self:set_state('failed')
end

---@param pending winnow.Pending[]
function Chat:announce(pending)
  local known = self.announced
  self.pending, self.announced = pending, {}
  for _, one in ipairs(pending) do
    local sight = known[one.section] or guard.sight()
    self.announced[one.section] = sight
    guard.drawn(sight)
  end
end

--- What is known of its usage, and of what `<CR>` does.
---@param status winnow.effect.Status
function Chat:learn(status)
  local before = self.context
  self.context, self.warning = status.context or 0, status.warning or ''
  self.again, self.due = status.again or '', status['until'] or 0
  if self.context ~= before then -- the state need not be another one
    vim.schedule(function()
      vim.cmd.redrawstatus({ bang = true })
    end)
  end
end

---@param state string
function Chat:set_state(state)
  if state ~= self.state then
    self.state = state
    maps.follow(self)
    progress.state(self, state)
    events.fire(self, 'State', { state = state })
    vim.schedule(function() -- with what is drawn in the chat
      vim.cmd.redrawstatus({ bang = true })
    end)
  end
  if state == 'failed' then
    self:hold()
  elseif state == 'idle' then
    fold.messages(self)
    self:forget_sent()
  end
  self:show_state()
end

--- Have `:qa` refuse while something would be cut, which `:qa!` does not: Neovim asks only buffers
--- with changes, and `:wqa` those that it could not write.
---@return string? why
function Chat:refuse_to_quit()
  local why, modified = BUSY[self.state], vim.bo[self.buf].modified
  if not why and self.background > 0 then
    why = ('%d still run in the background here'):format(self.background)
  end
  if self.owner or not why then
    return nil
  end
  vim.bo[self.buf].modified, self.stays = true, true
  vim.schedule(function()
    self.stays = nil
    if vim.api.nvim_buf_is_loaded(self.buf) then
      vim.bo[self.buf].modified = modified
    end
  end)
  return why
end

--- Say the state anew in a second, while it has to do with time.
function Chat:tick()
  if self.ticks then
    return
  end
  self.ticks = true
  vim.defer_fn(function()
    self.ticks = false
    -- `:edit` makes another chat of the buffer.
    if (self.since or self.due > 0) and registry.get(self.buf) == self then
      self:show_state()
    end
  end, 1000)
end

--- What the user should know when nothing is being done: what `<CR>` does after a failure, and how
--- long that has to wait; or how full the context is.
---@return string
function Chat:hint()
  local left = math.ceil(self.due - os.time())
  local again = self.again ~= '' and ('<CR> %s'):format(self.again) or self.warning
  if self.due == 0 or left <= 0 then
    return again
  end
  self:tick()
  return ('limit over in %s · %s'):format(duration.words(left), again)
end

--- How a start gets on; said anew every second.
---@return string
function Chat:progress()
  local text = STATES.connecting
  if self.ahead > 0 then
    text = ('waits for %d other%s to start…'):format(self.ahead, self.ahead > 1 and 's' or '')
  end
  self:tick()
  local seconds = math.floor((vim.uv.now() - self.since) / 1000)
  return seconds < SLOW and text or ('%s %d s'):format(text, seconds)
end

--- A text in as many rows as it needs.
---@param text string
---@param width integer columns
---@param group string
---@return winnow.Chunk[][]
local function in_rows(text, width, group)
  return vim.tbl_map(function(piece)
    return { { piece, group } }
  end, hints.wrapped(text, width))
end

---@param self winnow.Chat
---@return integer? row
local function row_of_ghost(self)
  return self.ghost and vim.api.nvim_buf_get_extmark_by_id(self.buf, namespace, self.ghost, {})[1]
end

--- Where nothing is written, say how to write.
---@return integer rows that this takes below the line
function Chat:show_ghost()
  local last = vim.api.nvim_buf_line_count(self.buf) - 1
  local text = ''
  if not self.owner and last > self:heading_row() and self:draft() == '' then
    local demo = vim.startswith(frontmatter.agent(frontmatter.read(self.buf)), 'scripted')
    local begun = demo and vim.list_contains(self:lines(0, -1), grammar.CLAUDE)
    text = self.task and GHOST_OF_TASK or demo and not begun and GHOST_OF_DEMO or GHOST
  end
  local width = window.text_width(self.buf)
  local seen = self.ghosted
  if seen and seen.text == text and seen.width == width and row_of_ghost(self) == last then
    return seen.rows
  end
  local rows = in_rows(text, width, 'WinnowHint')
  self.ghosted = { text = text, width = width, rows = text ~= '' and #rows - 1 or 0 }
  self.ghost = vim.api.nvim_buf_set_extmark(self.buf, namespace, last, 0, {
    id = self.ghost,
    virt_text = text ~= '' and table.remove(rows, 1) or nil,
    virt_text_pos = 'overlay',
    virt_lines = text ~= '' and rows[1] and rows or nil,
  })
  return self.ghosted.rows
end

--- What the chat does, but for what the user has yet to send; a hint where it does nothing.
---@return string
function Chat:doing()
  local text = STATES[self.task and self.state == 'working' and 'task' or self.state] or self.state
  if self.state == 'connecting' or self.state == 'asleep' and self.queued then
    self.since = self.since or vim.uv.now()
    text = self:progress()
  else
    self.since = nil
  end
  if text == '' then
    text = self:hint()
  elseif self.state == 'failed' and self.again ~= '' then
    text = ('not connected; %s'):format(self:hint())
  end
  if self.background > 0 then
    local more = IN_BACKGROUND:format(self.background)
    text = ('%s · %s'):format(text == '' and self.state or text, more)
  end
  return text
end

--- Say the state beside the draft's heading, or below it in a window that is too narrow for that.
function Chat:show_state()
  local text = self:doing()
  if self.owner then
    text = handover.sentence(self.owner)
  end
  local queue = self:queue_words()
  local both = text ~= '' and queue ~= '' and ' · ' or ''
  text = text .. both .. queue
  if self.unwritten then
    local unsaved = ('not saved: %s'):format(self.unwritten)
    text = text == '' and unsaved or ('%s · %s'):format(unsaved, text)
  end
  local row = self:heading_row()
  local width = window.text_width(self.buf)
  local beside = #DRAFT + 2 + vim.fn.strdisplaywidth(text) <= width
  local below = not beside and in_rows(text, width, 'WinnowStatus')
  self.status = vim.api.nvim_buf_set_extmark(self.buf, namespace, row, 0, {
    id = self.status,
    virt_text = beside and text ~= '' and { { ' ' .. text, 'WinnowStatus' } } or nil,
    virt_lines = below or nil,
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
  local taken = (below and #below or 0) + self:show_ghost()
  if taken < (self.drawn_rows or 0) then
    self:to_bottom()
  end
  self.drawn_rows = taken
end

return Chat
