--- The open section of a chat: where it stands, what it shows, and the keys that act on it.
--- Which line is which option is read from the markers in the text, every time.
local guard = require('winnow.guard')
local marker = require('winnow.marker')
local say = require('winnow.say')
local seen = require('winnow.seen')
local view = require('winnow.section_view')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.section')

local WORKING = 'what you pressed last is still being done.'
local CHANGED = 'The text has changed since you pressed that: press again.'

---@class winnow.Section
---@field id string
---@field chat winnow.Chat
---@field previews table<string, string> Markdown, keyed `question.option`
---@field private start integer extmark on the head line
---@field parts { text: string, decided: boolean }[]
---@field waiting integer sections that come after this one
---@field offer string an earlier answer that <CR> on the foot takes, in words
---@field from_file? boolean as a file has it, which may be older than what was stored
---@field private told string[] the lines that the host knows
---@field private text string[] the lines at `tick`
---@field private tick integer
---@field bodies? winnow.Body[] the fenced blocks, as they were drawn last
---@field private confirmed? string[] the lines of the last <CR>
---@field confirming? integer row of a <CR>, until the host has acted on it
---@field sight winnow.Sight of the section
---@field reply winnow.Sight what came of the last press
---@field granted? string what was chosen from elsewhere, by the last press of that kind
---@field seen table<string, integer> how much of each line was on the screen: see `winnow.seen`
---@field pristine boolean not edited yet
local Section = {}
Section.__index = Section

-- Where it stands ------------------------------------------------------------------------------

--- The mark tells by itself when its line was written anew, as a filter or a formatter does.
---@param row integer
local function set_start(self, row)
  self.start = vim.api.nvim_buf_set_extmark(self.chat.buf, namespace, row, 0, {
    id = self.start,
    right_gravity = false,
    end_row = row,
    end_col = #(self.chat:lines(row, row + 1)[1] or ''),
    invalidate = true,
  })
end

--- Where the section starts, told from the text: at its topmost marker, with the lines right above
--- that, which the user may have written.
---@param after integer row of the draft's heading
---@return integer? row
---@return integer above row of the heading of the message that it is in
local function find_start(self, after)
  local first
  local inside = false -- a body
  local lines = self.chat:lines(0, after)
  local above = 0
  for i = #lines, 1, -1 do
    local found = marker.of(lines[i], self.id)
    if found and found.slot ~= 'r' then -- a record of the same question may stand above
      first, inside = i, found.slot == 'c' -- until any other marker
    elseif not inside and (lines[i] == '## You' or lines[i] == '## Claude') then
      above = i
      break
    end
  end
  while first and first - 1 > above and lines[first - 1] ~= '' do
    first = first - 1
  end
  return first and first - 1, above - 1
end

--- Where the mark on the first line is; and where the section is, when that was written anew.
local function start_row(self, after)
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(self.chat.buf, namespace, self.start, { details = true })
  local row, valid = mark[1], not mark[3].invalid
  local line = self.chat:lines(row, row + 1)[1] or ''
  local at = marker.of(line, self.id)
  if valid and at and at.slot ~= 'r' then
    return row
  end
  local found, above = find_start(self, after)
  if found and not (valid and line ~= '' and row <= found and row > above) then
    row = found
  else -- no marker is left there, or the user's own words come first
    row = math.max(math.min(row, after), above + 1)
  end
  if (self.chat:lines(row, row + 1)[1] or '') ~= '' then
    set_start(self, row)
  end
  return row
end

--- First row, and the row after the last one. Edits may have taken any line, even all.
---@return integer first
---@return integer after
function Section:rows()
  local count = vim.api.nvim_buf_line_count(self.chat.buf)
  local after = math.min((self.chat:heading_row()), count)
  local first = math.min(start_row(self, after), count - 1)
  return first, math.max(after, first + 1)
end

--- Its lines, which are not to be changed: until the text changes they are the same table.
---@return string[]
function Section:lines()
  local tick = vim.api.nvim_buf_get_changedtick(self.chat.buf)
  if tick ~= self.tick then
    self.text, self.tick = self.chat:lines(self:rows()), tick
  end
  return self.text
end

---@param row integer from 0
---@return boolean
function Section:contains(row)
  local first, after = self:rows()
  return row >= first and row < after
end

-- What it shows --------------------------------------------------------------------------------

--- Draw everything that is not text; see `winnow.section_view`.
function Section:decorate()
  view.draw(self)
end

--- The host's verdict on the lines as they stand.
---@param parts { text: string, decided: boolean }[]
---@param waiting integer
---@param offer string
function Section:judge(parts, waiting, offer)
  self.parts, self.waiting, self.offer = parts, waiting, offer
  self:decorate()
  if self.reply.said == WORKING then
    self.reply.said = nil
  end
  guard.drawn(self.reply)
end

--- The host has said a sentence.
---@param text string
function Section:hear(text)
  self.reply.said = text
  guard.drawn(self.reply)
end

--- Whether two lists of lines are the same; quicker than vim.deep_equal().
local function same(a, b)
  if #a ~= #b then
    return false
  end
  for i = 1, #a do
    if a[i] ~= b[i] then
      return false
    end
  end
  return true
end

--- Tell the host of edits that it does not know.
---@return boolean told
local function tell_edits(self)
  local lines = self:lines()
  if same(lines, self.told) then
    return false
  end
  self.told, self.pristine, self.from_file = lines, false, false
  self.chat:tell('edit', { section = self.id, lines = lines })
  return true
end

--- Tell the host of edits, once for all that one command does.
local function watch(self)
  local changed_row ---@type integer? the first, since the host was told
  local function changed()
    local row = changed_row
    changed_row = nil
    if self.chat.section ~= self or not vim.api.nvim_buf_is_loaded(self.chat.buf) then
      return
    end
    local told = tell_edits(self)
    -- The same lines written anew have lost what was drawn on them.
    if told or row < select(2, self:rows()) then
      self:decorate()
    end
    if told then
      require('winnow.keys').follow(self.chat) -- another option may be under the cursor
    end
  end
  vim.api.nvim_buf_attach(self.chat.buf, false, {
    on_lines = function(_, _, _, first, _, after)
      if self.chat.section ~= self then
        return true -- closed: stop watching
      end
      if not guard.by_key() then
        seen.written(self, self.chat:lines(first, after))
      end
      if not changed_row then
        vim.schedule(changed)
      end
      changed_row = math.min(changed_row or first, first)
    end,
  })
end

-- What the keys do -----------------------------------------------------------------------------

--- Tell the host of a press. The next one of its kind is about what comes of this one.
---@param kind string
---@param event table
function Section:tell(kind, event)
  self.reply = guard.sight()
  self.reply.said = WORKING
  event.section, event.lines, event.unseen = self.id, self:lines(), #seen.missing(self)
  self.chat:tell(kind, event)
end

--- Whether what came of the last press was on the screen before this one. Not for the whole pause:
--- that one may have waited for half of it, see `guard.unless_held`.
---@return boolean
function Section:replied()
  return guard.allows(self.reply, guard.pause * 2 / 3)
end

--- Tell the host of a `<CR>` on this row of the section.
local function confirm(self, row)
  vim.api.nvim_echo({ { '' } }, false, {}) -- what the last one explained is over
  self.confirmed, self.confirming = self:lines(), row
  self:tell('confirm', { row = row })
end

--- Do what a key asks for, if it was meant.
---@param act fun()
local function if_meant(self, act)
  local lines = self:lines()
  local again = self.confirmed and same(lines, self.confirmed)
  if again and not self:replied() or not guard.allows(self.sight) then
    return
  end
  guard.unless_held(function()
    if self.chat.section == self and same(self:lines(), lines) then
      act()
    elseif self.chat.section == self then
      say(CHANGED, 'warn')
    end
  end)
end

--- `<CR>`: decide, explain or step; the host knows.
function Section:confirm()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1 - self:rows()
  if_meant(self, function()
    confirm(self, row)
  end)
end

--- The host that was told of the last press is gone.
function Section:forget()
  self.confirmed, self.granted = nil, nil
end

--- `<Esc>`: the agent is told that the user cancelled.
function Section:cancel()
  if guard.allows(self.sight) then
    self.chat:tell('cancel', { section = self.id, lines = self:lines() })
  end
end

--- Talk back to the agent instead of answering.
---@param text string
function Section:discuss(text)
  if guard.allows(self.sight) then
    self.chat:tell('discuss', { section = self.id, lines = self:lines(), text = text })
  end
end

--- Put the cursor on a question's first option, or on the foot (0).
---@param question integer
function Section:step(question)
  if vim.api.nvim_get_current_buf() ~= self.chat.buf then
    return
  end
  local first = self:rows()
  local target, rank = nil, 0
  local ranks = { h = 1, e = 2, f = 4 } -- an option beats the line for own words, that the head
  for i, line in ipairs(self:lines()) do
    local found = marker.of(line, self.id)
    if found and found.question == question then
      local this = ranks[found.slot] or tonumber(found.slot) and 3 or 0
      if this > rank then
        target, rank = first + i, this
      end
    end
  end
  if target then
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
end

--- Change the text as the user could have: `u` takes it back, in one step.
---@param change fun(buf: integer, first: integer, after: integer) gets the section's rows
function Section:edit(change)
  local buf = self.chat.buf
  local options = vim.bo[buf]
  local modifiable = options.modifiable
  options.undolevels = options.undolevels -- a step of its own for `u`
  options.modifiable = true
  change(buf, self:rows())
  options.modifiable = modifiable
end

--- Delete rows of the lines that were confirmed, unless they have changed, and confirm again.
---@param question integer
---@param rows integer[]
function Section:keep(question, rows)
  if not (self.confirmed and same(self:lines(), self.confirmed)) then
    return
  end
  self:edit(function(buf, first)
    for _, row in vim.iter(rows):rev():enumerate() do
      vim.api.nvim_buf_set_lines(buf, first + row, first + row + 1, false, {})
    end
  end)
  self:step(question)
  confirm(self, vim.api.nvim_win_get_cursor(0)[1] - 1 - self:rows())
end

--- Delete every option but the one under the cursor.
function Section:keep_here()
  local question, option = self:under_cursor()
  if not question then
    return
  end
  local rows = {}
  for i, line in ipairs(self:lines()) do
    local found = marker.of(line, self.id)
    local slot = found and found.question == question and tonumber(found.slot)
    if slot and slot ~= option then
      table.insert(rows, i - 1)
    end
  end
  if_meant(self, function()
    self.confirmed = self:lines()
    self:keep(question, rows)
  end)
end

--- Make these the section's lines, as the user could have.
local function replace(self, lines)
  self:edit(function(buf, first, after)
    vim.api.nvim_buf_set_lines(buf, first, after, false, vim.list_extend(lines, { '' }))
  end)
end

--- Make these the section's lines and go to the foot: <CR> confirms them.
---@param lines string[]
function Section:fill(lines)
  replace(self, lines)
  self.confirmed = self:lines() -- the next <CR> is about them
  self:step(0)
end

--- The option under the cursor, as the host would number it.
---@return integer? question
---@return integer? option
function Section:under_cursor()
  local found = marker.of(vim.api.nvim_get_current_line(), self.id)
  local option = found and tonumber(found.slot)
  if option then
    return found.question, option
  end
end

--- The preview of the option under the cursor.
---@return string? Markdown
function Section:preview_here()
  local question, option = self:under_cursor()
  return question and self.previews[question .. '.' .. option]
end

--- Show it in a float.
---@return boolean shown
function Section:preview()
  local text = self:preview_here()
  if not text then
    return false
  end
  require('winnow.float')(vim.split(text, '\n', { plain = true }), 'winnow.preview')
  return true
end

--- The cursor is in this section, or has left it: show the start of the preview below the option
--- that it is on.
---@param inside boolean
function Section:peek(inside)
  local row = inside and vim.api.nvim_win_get_cursor(0)[1] - 1 or nil
  view.peek(self.chat.buf, row, row and self:preview_here())
end

--- Go to the first option. The head is on the screen, too; where there is no room for both, and
--- not only for an answer, the cursor waits there.
function Section:visit()
  self:step(1)
  if vim.api.nvim_get_current_buf() ~= self.chat.buf then
    return
  end
  local head, option = self:rows(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local span = { start_row = head, end_row = option }
  local fits = vim.api.nvim_win_text_height(0, span).all <= vim.api.nvim_win_get_height(0)
  if not fits and #self.bodies > 0 then
    vim.api.nvim_win_set_cursor(0, { head + 1, 0 })
    vim.fn.winrestview({ topline = head + 1 })
  elseif fits and vim.fn.line('w0') > head + 1 then
    vim.fn.winrestview({ topline = head + 1 })
  end
end

-- Life -----------------------------------------------------------------------------------------

--- Replace the section by its record.
---@param lines string[]
function Section:freeze(lines)
  local chat = self.chat
  tell_edits(self) -- those that came since: the text goes now
  local first, after = self:rows()
  local inside = vim.tbl_filter(function(win)
    return self:contains(vim.api.nvim_win_get_cursor(win)[1] - 1)
  end, vim.fn.win_findbuf(chat.buf))
  chat.section = nil
  view.clear(chat.buf)
  vim.api.nvim_buf_del_extmark(chat.buf, namespace, self.start)
  chat:edit(function()
    local block = vim.list_extend(vim.list_slice(lines), { '' })
    vim.api.nvim_buf_set_lines(chat.buf, first, after, false, block)
    chat:ensure_heading()
  end)
  for _, win in ipairs(inside) do
    chat:to_draft(win)
  end
  require('winnow.keys').follow(chat)
end

local function new(chat, id, row, previews)
  local self = setmetatable({
    id = id,
    chat = chat,
    previews = previews,
    parts = {},
    waiting = 0,
    offer = '',
    pristine = true,
    sight = guard.sight(),
    reply = guard.sight(),
  }, Section)
  set_start(self, row)
  chat.section = self
  self.told = self:lines()
  self.seen = require('winnow.seen').none(self.told)
  self:decorate()
  watch(self)
  return self
end

--- Open a section above the draft. The cursor goes to it only when the user was at the end, in
--- Normal mode, and waited for it.
---@param chat winnow.Chat
---@param id string
---@param lines string[]
---@param previews table<string, string>
---@param focus boolean the user asked for it
---@param edited string[] the lines as the user left them before; empty: as they are
function M.open(chat, id, lines, previews, focus, edited)
  local here = vim.api.nvim_get_current_buf() == chat.buf
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local waited = here and vim.api.nvim_get_mode().mode == 'n' and row >= chat:heading_row()
  chat.carry = ''
  local tail = chat:tail_row()
  chat:edit(function()
    require('winnow.transcript').insert(chat, tail, lines)
  end)
  local self = new(chat, id, tail + 2, previews)
  if #edited > 0 then
    replace(self, edited)
  end
  if waited or focus then
    self:visit()
  end
  require('winnow.keys').follow(chat)
  chat:save()
end

--- The 'indentexpr' of chats. The first column of a diff is for signs: the blank of a line that
--- stays is no indent, which 'autoindent' would give to a new line below.
---@return integer
function M.indent()
  local chat = require('winnow.chats').current()
  local row = vim.v.lnum - 1
  for _, body in ipairs(chat and chat.section and view.bodies(chat.section) or {}) do
    if body.info == 'diff' and row > body.first and row < body.last then
      return 0
    end
  end
  return -1 -- as 'autoindent' has it
end

--- Find the section that a text read from a file still shows as open: below all that was said,
--- with its head or its foot. An option that was pasted somewhere is none. A body may hold what
--- looks like the heading of a message.
---@param chat winnow.Chat
function M.recognise(chat)
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  local id, first, framed
  local inside = false -- a body
  for row = chat:heading_row() - 1, 0, -1 do
    local line = chat:lines(row, row + 1)[1]
    if not inside and (line == '## You' or line == '## Claude') then
      break
    end
    local found = marker.of(line, id)
    if found and found.slot ~= 'r' then
      id, first = found.id, row
      framed = framed or found.slot == 'h' or found.slot == 'f'
      inside = found.slot == 'c' -- until any other marker
      if found.slot == 'h' and found.question == 1 then
        break
      end
    end
  end
  if framed then
    new(chat, id, first, {}).from_file = true
  end
end

return M
