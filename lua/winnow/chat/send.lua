--- The way of a draft, and of what waits above it, to the host.
local context = require('winnow.lazy')('winnow.context.draft')
local grammar = require('winnow.grammar')
local queued = require('winnow.chat.queued')
local say = require('winnow.say')
local sent = require('winnow.chat.sent')
local trim = require('winnow.trim')

---@class (partial) winnow.Chat
---@field committed integer row of the heading of the message that was made one last
local Chat = {}

local DRAFT = grammar.YOU
local EMPTY = ('The draft is empty: write below “%s”.'):format(DRAFT)

--- Write the file, in which a message no longer is the draft, and tell it to the host: in this
--- order, or a Neovim that is killed just then would show as the draft what Claude has.
---@param self winnow.Chat
---@param text string empty: there was none after all
---@param along? winnow.Along
local function post(self, text, along)
  local id = text ~= '' and sent.add(self.path, text) or '' -- before the file calls it sent
  if id ~= '' and self.state == 'working' and not self.task then
    self:note_sent(id, self.committed)
  end
  self:save()
  self:tell('send', { text = text, id = id, attached = along and along.attached or {} })
end

--- The lines that make a text a message of the transcript, below the heading that stands there.
---@param self winnow.Chat
---@param text string
---@param along? winnow.Along what goes with it
---@return string[]
local function as_message(self, text, along)
  if self.task then
    return {} -- the transcript has it when its worker is told
  end
  local block = vim.list_extend({ '' }, vim.split(text, '\n', { plain = true }))
  vim.list_extend(block, along and along.line and { '', along.line } or {})
  return vim.list_extend(block, { '', grammar.CLAUDE, '', DRAFT })
end

--- Take away what said that the draft came back, with its heading, if nothing else is below that.
---@param self winnow.Chat
local function forget_failure(self)
  local lines = self:lines(0, self:tail_row() + 1)
  local first = #lines
  local notice = vim.startswith(lines[first], grammar.NOTICE)
  if not notice or not lines[first]:find(grammar.GIVEN_BACK, 1, true) then
    return
  elseif lines[first - 1] == '' and lines[first - 2] == grammar.CLAUDE then
    first = first - 2
  end
  vim.api.nvim_buf_set_lines(self.buf, first - 1, self:heading_row(), false, {})
end

--- Make the draft a message of the transcript and open an empty draft below.
---@param along? winnow.Along
---@return string text
function Chat:commit(along)
  local text = self:draft()
  local wins = self:in_draft()
  self.queued = false
  self.carry = ''
  self:as_host(function()
    self:ensure_heading()
    forget_failure(self)
    local row = self:heading_row()
    local block = as_message(self, text, along)
    local left = queued.joined(self:below(), {})
    vim.api.nvim_buf_set_lines(self.buf, row + 1, -1, false, vim.list_extend(block, left))
    self:set_heading(row + #block - #left)
    self:count_above()
    self:note_queue()
    self.committed = row
  end)
  for _, win in ipairs(wins) do
    self:to_draft(win)
  end
  self:show_state()
  return text
end

--- Make a message that waits one of the transcript; everything else stays where it is.
---@param self winnow.Chat
---@param message winnow.Queued
---@param along? winnow.Along
---@return string text
local function commit_queued(self, message, along)
  local text
  self.carry = ''
  self:as_host(function()
    self:ensure_heading()
    forget_failure(self)
    text = self:dequeue(message)
    local row = self:heading_row()
    local block = as_message(self, text, along)
    vim.api.nvim_buf_set_lines(self.buf, row + 1, row + 1, false, block)
    self:set_heading(row + #block)
    self:count_above()
    self.committed = row
  end)
  return text
end

--- Ask the host for a time to send what is queued.
---@param self winnow.Chat
---@param now? boolean into the running turn
local function ask_to_send(self, now)
  self.asked = self.asked + 1
  if self:tell('queue', { now = now or false, number = self.asked }) then
    self:show_state()
  end
  self:save()
end

--- Send the next of the messages that wait, which are to follow each other.
---@param self winnow.Chat
local function post_next(self)
  ---@return string
  local function text_of()
    local message = self:next_queued()
    return message and trim.both(table.concat(message.lines, '\n')) or ''
  end
  context.gather(self, function(along)
    local message = self.queued and self:next_queued()
    post(self, message and commit_queued(self, message, along) or '', along)
    self.queued = self.queued and #self:waiting() > 0 and 'block'
    if self.queued then
      self:tell('queue', { now = self.now ~= nil, number = self.asked })
    end
    self:show_state()
  end, function()
    self:hold()
    post(self, '')
  end, text_of)
end

--- Whether something can be sent at once.
---@param self winnow.Chat
---@return boolean
local function is_free(self)
  return self.state == 'idle' and not self.section
end

--- Have all go out that waits, from now on.
---@param self winnow.Chat
local function send_block(self)
  self.queued = 'block'
  local go_on = is_free(self) and post_next or ask_to_send
  go_on(self)
end

--- Whether `<CR>` does what helps after a turn that failed: not before a command of the user's,
--- who knows better, nor in the middle of another turn.
---@return boolean
function Chat:goes_again()
  local busy = self.state == 'working' or self.state == 'waiting' or self.section
  return self.again ~= '' and not busy and not vim.startswith(self:draft(), '/')
end

--- Whether the cursor is in the last line above the draft, which says what went wrong.
---@return boolean
function Chat:is_last()
  return self:goes_again() and vim.api.nvim_win_get_cursor(0)[1] - 1 == self:tail_row()
end

--- Do what helps, and go on: with what waits, with the draft, or where it stopped.
function Chat:mend()
  local text, waits = self:draft(), #self:waiting() > 0
  if waits and text ~= '' then
    self:enqueue(text)
  end
  self.queued = waits and 'block' or text ~= '' and 'draft'
  if self:tell('again', { draft = self.queued ~= false }) then
    self:show_state()
  end
  self:save()
end

--- Send what is to go along with the draft, and what waits before it.
---@param self winnow.Chat
---@param along winnow.Along
local function go(self, along)
  local text, waits = self:draft(), #self:waiting() > 0
  if is_free(self) and not waits then
    post(self, self:commit(along), along)
  elseif waits or self.state == 'working' or self.state == 'waiting' then
    if text ~= '' then
      self:enqueue(text)
    end
    send_block(self)
  else
    self.queued = 'draft' -- which may still be written on while Claude starts
    ask_to_send(self)
  end
end

--- Send the draft, and what waits before it, now or as soon as the agent can take it.
function Chat:send()
  if not self:mine_or_say() then
    return
  elseif self:goes_again() then
    self:mend()
  elseif self:draft() == '' and #self:waiting() == 0 then
    if self.state == 'failed' then
      self:tell('wake', {})
    else
      say(EMPTY)
    end
  else
    context.gather(self, function(along, waited)
      if not waited or self:mine() then
        go(self, along)
      end
    end)
  end
end

--- Send what the user has said elsewhere, after what waits; the draft stays as it is.
---@param text string
function Chat:remark(text)
  self:enqueue(text)
  send_block(self)
end

--- Send a message into the running turn: the one under the cursor, else the draft, else the first
--- of those that wait.
function Chat:steer()
  local here = vim.api.nvim_get_current_buf() == self.buf and self:queued_here()
  local text = self:draft()
  local next = here or text == '' and self:waiting()[1]
  if not next and text == '' and self:mine_or_say() then
    self:tell('telltodo', {})
  elseif self.state ~= 'working' and self.state ~= 'waiting' then
    self.now = next and next.number or nil
    self:send()
  elseif not self:mine_or_say() then
    return
  else
    self.now = next and next.number or self:enqueue(text)
    self.queued = 'block'
    ask_to_send(self, true)
  end
end

--- End the turn; what waits to be sent stays here.
function Chat:stop()
  local was = self.queued
  self:hold()
  if was and self.state ~= 'working' and self.state ~= 'waiting' then
    say('The draft is not sent; <CR> sends it.')
  else
    self:tell('stop', {})
  end
end

--- Whether the user is in the middle of something in the chat, such as a word: also in `niI` and
--- what comes of it, where Insert mode is left for one command.
---@param self winnow.Chat
---@return boolean
local function is_typed(self)
  return vim.api.nvim_get_mode().mode ~= 'n' and vim.api.nvim_get_current_buf() == self.buf
end

--- The host has a place for the draft as a whole. It does not go out half typed.
---@param self winnow.Chat
local function take_draft(self)
  self.typing = self.queued and is_typed(self)
  if self.queued and not self.typing and self:draft() ~= '' then
    context.gather(self, function(along)
      post(self, self.queued and self:commit(along) or '', along)
      self:show_state()
    end, function()
      self.queued = false
      post(self, '')
      self:show_state()
    end)
  else
    post(self, '')
    self:show_state()
  end
end

--- The host has a place for what is queued.
function Chat:take()
  local block = self.queued == 'block'
  self.typing = block and self:edits_queue()
  if not block then
    take_draft(self)
  elseif self.typing then
    post(self, '')
    self:show_state()
  else
    post_next(self)
  end
end

--- The user is somewhere else, or in another mode.
function Chat:typed()
  if self.queued == 'block' then
    if self.typing and not self:edits_queue() then
      self.typing = false
      ask_to_send(self, self.now ~= nil)
    end
  elseif self.typing and not is_typed(self) then
    self.typing = false
    self:send()
  end
end

return Chat
