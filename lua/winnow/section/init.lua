--- The open section of a chat: where it stands, what it shows, and the keys that act on it.
--- Which line is which option is read from the markers in the text, every time.
local edits = require('winnow.section.edits')
local fold = require('winnow.chat.fold')
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local press = require('winnow.section.press')
local preview = require('winnow.section.preview')
local seen = require('winnow.section.seen')
local text = require('winnow.section.text')
local transcript = require('winnow.chat.transcript')
local undo = require('winnow.chat.undo')
local view = require('winnow.section.view')
local window = require('winnow.window')
require('winnow.interpreted')()

local M = {}

---@class (partial) winnow.Section
---@field id string
---@field chat winnow.Chat
---@field previews table<string, string> Markdown, keyed `question.option`
---@field peeked table<integer, integer> the option whose preview was shown last, by question
---@field start integer extmark on the head line
---@field parts winnow.Part[]
---@field waiting integer sections that come after this one
---@field offer string an earlier answer that <CR> on the foot takes, in words
---@field from_file? boolean no host has had it yet, since it was read from the file
---@field told string[] the lines that the host was told
---@field shared? boolean the host has them, so that it can be told how they differ from others
---@field text string[] the lines at `tick`
---@field marked winnow.Marked[] those of them that carry its markers
---@field tick? integer
---@field unchanged? winnow.Unchanged since then
---@field outside integer 'changedtick' when another line than its own changed last
---@field found? winnow.Found the rows that something is drawn on
---@field drawn winnow.Drawn[] what was drawn last, but for options and the foot
---@field foot_drawn winnow.Drawn[]
---@field verdict? winnow.Verdict as it was drawn last
---@field bodies winnow.Body[] the fenced blocks, as they were drawn last
---@field confirmed? string[] the lines that the host was asked about last
---@field confirming? integer row of a <CR>, until the host has acted on it
---@field sight winnow.Sight of the section
---@field pending? string what the key that was pressed last does when it is pressed again
---@field other? boolean another key was typed since the last press
---@field key string that was pressed last to tell the host something
---@field anew boolean nothing was pending then
---@field reply winnow.Sight what came of the last press
---@field offered winnow.Sight of what the foot says of a second `<Esc>`
---@field granted? string what was chosen from elsewhere, by the last press of that kind
---@field seen table<string, integer> bytes of each line that were on the screen: see `seen.lua`
---@field pristine boolean not edited yet
local Section = vim.tbl_extend('error', text.Section, edits.Section, preview, press)
Section.__index = Section

-- What it shows --------------------------------------------------------------------------------

--- Draw everything that is not text; see `winnow.section.view`.
function Section:decorate()
  view.draw(self)
end

--- The host's verdict on the lines as they stand.
---@param parts winnow.Part[]
---@param waiting integer
---@param offer string
function Section:judge(parts, waiting, offer)
  self.parts, self.waiting, self.offer = parts, waiting, offer
  self:decorate()
  self:acted()
end

-- What the host wants ------------------------------------------------------------------------

--- Where a question's first option is, or the foot (0).
---@param question integer
---@return integer? line from 1
function Section:place(question)
  local first = self:rows()
  local target, rank = nil, 0
  -- An option beats the line for own words, that the head.
  local ranks = { [grammar.HEAD] = 1, [grammar.OTHER] = 2, [grammar.FOOT] = 4 }
  for _, one in ipairs((select(2, self:lines()))) do
    local found = one.marker
    if found.question == question then
      local this = ranks[found.slot] or tonumber(found.slot) and 3 or 0
      if this > rank then
        target, rank = first + one.at, this
      end
    end
  end
  return target
end

--- Put the cursor on a question's first option, or on the foot (0).
---@param question integer
function Section:step(question)
  local target = vim.api.nvim_get_current_buf() == self.chat.buf and self:place(question)
  if target then
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
end

--- Change the text as the user could have: `u` takes it back, in one step.
---@param change fun(buf: integer, first: integer, after: integer) gets the section's rows
function Section:as_user(change)
  local buf = self.chat.buf
  local options = vim.bo[buf]
  local modifiable = options.modifiable
  undo.restore(self.chat)
  options.undolevels = options.undolevels -- a step of its own for `u`
  options.modifiable = true
  change(buf, self:rows())
  options.modifiable = modifiable
end

--- Make these the section's lines, and one empty line below, as the user could have.
---@param self winnow.Section
---@param lines string[]
local function replace(self, lines)
  while lines[#lines] == '' do
    table.remove(lines)
  end
  self:as_user(function(buf, first, after)
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

--- Go to the first option. The head is on the screen, too, and as much of the rest as there is
--- room for; where head and option have none, and not only for an answer, the cursor waits there.
function Section:visit()
  self:step(1)
  if vim.api.nvim_get_current_buf() ~= self.chat.buf then
    return
  end
  self:peek(true) -- what this draws takes rows
  local head, after = self:rows()
  local option = vim.api.nvim_win_get_cursor(0)[1] - 1
  local height = vim.api.nvim_win_get_height(0)
  local span = { start_row = head, end_row = math.min(option, head + 2 * height) } -- it may be long
  local fits = vim.api.nvim_win_text_height(0, span).all <= height
  if not fits and #self.bodies > 0 then
    vim.api.nvim_win_set_cursor(0, { head + 1, 0 })
    vim.fn.winrestview({ topline = head + 1 })
  elseif fits and (vim.fn.line('w0') > head + 1 or vim.fn.line('w$') < after) then
    vim.fn.winrestview({ topline = head + 1 })
    window.fill(vim.api.nvim_get_current_win())
  end
end

--- The windows in which the cursor stands in the section.
---@return integer[]
function Section:windows()
  return vim.tbl_filter(function(win)
    return self:contains(vim.api.nvim_win_get_cursor(win)[1] - 1)
  end, vim.fn.win_findbuf(self.chat.buf))
end

--- The windows in which the cursor stands in the section have got another size: where it has room,
--- all of it stays in sight.
function Section:refit()
  local head, after = self:rows()
  for _, win in ipairs(self:windows()) do
    vim.api.nvim_win_call(win, function()
      local rows = vim.api.nvim_win_text_height(0, { start_row = head, end_row = after - 1 }).all
      local cut = vim.fn.line('w0') > head + 1 or vim.fn.line('w$') < after
      if cut and rows <= vim.api.nvim_win_get_height(0) then
        vim.fn.winrestview({ topline = head + 1 })
      end
    end)
    window.fill(win)
  end
end

-- Life -----------------------------------------------------------------------------------------

--- Replace the section by its record.
---@param lines string[]
function Section:freeze(lines)
  local chat = self.chat
  self:tell_edits() -- those that came since: the text goes now
  local first, after = self:rows()
  local inside = self:windows()
  chat.section = nil
  view.clear(chat.buf)
  text.clear(chat.buf)
  chat:as_host(function()
    local block = #lines > 0 and vim.list_extend(vim.list_slice(lines), { '' }) or {}
    vim.api.nvim_buf_set_lines(chat.buf, first, after, false, block)
    chat:ensure_heading()
  end)
  for _, win in ipairs(inside) do
    chat:to_draft(win)
  end
  chat:follow()
end

---@param chat winnow.Chat
---@param id string
---@param row integer of its first line
---@param previews table<string, string>
---@return winnow.Section
local function new(chat, id, row, previews)
  local self = setmetatable({
    id = id,
    chat = chat,
    previews = previews,
    peeked = {},
    text = {},
    marked = {},
    outside = vim.api.nvim_buf_get_changedtick(chat.buf),
    drawn = {},
    foot_drawn = {},
    bodies = {},
    parts = {},
    waiting = 0,
    offer = '',
    key = '',
    anew = true,
    pristine = true,
    sight = guard.sight(),
    reply = guard.sight(),
    offered = guard.sight(),
  }, Section)
  self:set_start(row)
  chat.section = self
  self.told = self:lines()
  self.seen = seen.none(self.told)
  self:decorate()
  edits.watch(self)
  return self
end

--- A host goes on with the section that stands here. What was only read from the file becomes the
--- host's text, and what the user has done to it since a step of `u`.
---@param self winnow.Section
---@param lines string[]
---@param edited string[]
local function adopt(self, lines, edited)
  if not self.from_file then
    return -- it is what the host was told
  end
  self.from_file = nil
  local chat, shown = self.chat, self:lines()
  local mine = self.pristine and {} or vim.list_slice(shown)
  local first, after = self:rows()
  local restore = window.views(chat.buf)
  chat:as_host(function()
    local block = vim.list_extend(vim.list_slice(lines), { '' })
    vim.api.nvim_buf_set_lines(chat.buf, first, after, false, block)
  end)
  self:set_start(first)
  for _, step in ipairs({ edited, mine }) do
    if #step > 0 and not text.same(step, self:lines()) then
      replace(self, step)
    end
  end
  restore()
  if not text.same(shown, self:lines()) then
    self.sight = guard.sight() -- no key was about this
  end
  self:decorate()
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
  if chat.section and chat.section.id == id then
    chat.section.previews = previews
    adopt(chat.section, lines, edited)
    return
  end
  local here = vim.api.nvim_get_current_buf() == chat.buf
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local waited = here and vim.api.nvim_get_mode().mode == 'n' and row >= chat:heading_row()
  chat.carry = ''
  local tail = chat:section_row()
  chat:as_host(function()
    transcript.insert(chat, tail, lines)
  end)
  local self = new(chat, id, tail + 2, previews)
  if #edited > 0 then
    replace(self, edited)
  else
    self.shared = text.same(text.trimmed(self.told), text.trimmed(lines))
  end
  fold.open(chat.buf, tail + 2)
  if waited or focus then
    self:visit()
  end
  chat:follow()
  chat:save()
end

--- Go on with the section that a text read from a file still shows as open.
---@param chat winnow.Chat
---@param before? winnow.Section what was open before `:e!`
function M.recognise(chat, before)
  text.clear(chat.buf)
  local id, row = text.find(chat)
  if id then
    local previews = before and before.id == id and before.previews or {}
    new(chat, id, row, previews).from_file = true
  end
end

return M
