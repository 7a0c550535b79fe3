--- Where the open section stands in its chat's text, told by its markers and a mark on its head.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local registry = require('winnow.registry')
require('winnow.interpreted')()

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.section')

---@class (partial) winnow.Section
local Section = {}
M.Section = Section

--- The mark tells by itself when its line was written anew, as a filter or a formatter does.
---@param row integer
function Section:set_start(row)
  self.start = vim.api.nvim_buf_set_extmark(self.chat.buf, namespace, row, 0, {
    id = self.start,
    right_gravity = false,
    end_row = row,
    end_col = #(self.chat:lines(row, row + 1)[1] or ''),
    invalidate = true,
  })
end

--- The row where a section must have ended: at the draft, or where a task's transcript begins.
---@param chat winnow.Chat
---@return integer
local function limit(chat)
  local last = math.min((chat:heading_row()), vim.api.nvim_buf_line_count(chat.buf))
  if not chat.task then
    return last
  end
  local inside = false -- a body, which may hold what looks like a heading
  for row, line in ipairs(chat:lines(0, last)) do
    local found = marker.of(line)
    if found then
      inside = found.slot == grammar.BEGIN
    elseif not inside and line == grammar.ORCHESTRATOR then
      return row - 1
    end
  end
  return last
end

--- Whether a message begins here.
---@param line string
---@return boolean
local function is_heading(line)
  return vim.list_contains(grammar.SPEAKERS, line)
end

--- Where the section starts, told from the text: at its topmost marker, with the lines right above
--- that, which the user may have written.
---@param self winnow.Section
---@param after integer row of the draft's heading
---@return integer? row
---@return integer above row of the heading of the message that it is in, or of what ends above it
local function find_start(self, after)
  local first
  local inside = false -- a body
  local lines = self.chat:lines(0, after)
  local above = 0
  for i = #lines, 1, -1 do
    local found = marker.of(lines[i], self.id)
    if found and found.slot ~= grammar.RECORD then -- a record of the same question may stand above
      first, inside = i, found.slot == grammar.END -- until any other marker
    elseif not inside and is_heading(lines[i]) then
      above = i
      break
    end
  end
  if above == 0 then -- all that was said is gone, and the frontmatter may have come back
    above = (select(2, frontmatter.read(self.chat.buf)) or -1) + 1
  end
  while first and first - 1 > above and lines[first - 1] ~= '' do
    first = first - 1
  end
  return first and first - 1, above - 1
end

--- Where the mark on the first line is; and where the section is, when that was written anew.
---@param self winnow.Section
---@param after integer row of the draft's heading
---@return integer
local function start_row(self, after)
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(self.chat.buf, namespace, self.start, { details = true })
  local row, valid = mark[1], not mark[3].invalid
  local line = self.chat:lines(row, row + 1)[1] or ''
  local at = marker.of(line, self.id)
  if valid and at and at.slot ~= grammar.RECORD then
    return row
  end
  local found, above = find_start(self, after)
  if found and not (valid and line ~= '' and row <= found and row > above) then
    row = found
  else -- no marker is left there, or the user's own words come first
    row = math.max(math.min(row, after), above + 1)
  end
  if (self.chat:lines(row, row + 1)[1] or '') ~= '' then
    self:set_start(row)
  end
  return row
end

--- First row, and the row after the last one. Edits may have taken any line, even all.
---@return integer first
---@return integer after
function Section:rows()
  if self.tick == vim.api.nvim_buf_get_changedtick(self.chat.buf) then
    return self.unchanged.first, self.unchanged.after
  end
  local count = vim.api.nvim_buf_line_count(self.chat.buf)
  local after = limit(self.chat)
  local first = math.min(start_row(self, after), count - 1)
  return first, math.max(after, first + 1)
end

---@class winnow.Marked a line that carries one of its markers
---@field at integer its index
---@field marker winnow.Marker

---@class winnow.Unchanged what of its lines is as it was when they were read last
---@field first integer its first row, after what was edited above it
---@field after integer
---@field top integer so many lines, from the first
---@field bottom integer so many, from the last

--- Some rows of the buffer have changed.
---@param tick integer 'changedtick' now
---@param first integer
---@param before integer the row after the last one, before that
---@param after integer
function Section:note(tick, first, before, after)
  local unchanged = self.unchanged
  self.tick = nil
  if not unchanged or first < unchanged.first or before >= unchanged.after then
    self.outside = tick -- the blank line below it is the draft's, too
  end
  if not unchanged or first >= unchanged.after then
    return -- below it
  elseif before <= unchanged.first and first < unchanged.first then
    unchanged.first = unchanged.first + after - before
  elseif first >= unchanged.first and before <= unchanged.after then
    unchanged.top = math.min(unchanged.top, first - unchanged.first)
    unchanged.bottom = math.min(unchanged.bottom, unchanged.after - before)
  else
    self.unchanged = nil
    return
  end
  unchanged.after = unchanged.after + after - before
end

--- Whether nothing but its own lines has changed.
---@param since integer 'changedtick' then
---@return boolean
function Section:only(since)
  return self.outside <= since
end

--- The first items of a list, some others, and its last ones.
---@generic T
---@param list T[]
---@param top integer
---@param between T[]
---@param bottom integer
---@return T[]
local function joined(list, top, between, bottom)
  local result = vim.list_slice(list, 1, top)
  vim.list_extend(result, between)
  return vim.list_extend(result, list, #list - bottom + 1)
end

--- Read the lines between those that are as they were.
---@param self winnow.Section
---@param top integer
---@param bottom integer
---@param between string[]
local function read(self, top, bottom, between)
  local old, marked, below = self.text, {}, {}
  for _, one in ipairs(self.marked) do
    if one.at <= top then
      table.insert(marked, one)
    elseif one.at > #old - bottom then
      one.at = one.at - #old + bottom + top + #between
      table.insert(below, one)
    end
  end
  for i, line in ipairs(between) do
    local found = marker.of(line, self.id)
    if found then
      table.insert(marked, { at = top + i, marker = found })
    end
  end
  self.text = joined(old, top, between, bottom)
  self.marked = vim.list_extend(marked, below)
end

--- Its lines, and those of them that carry its markers, until the text changes. Neither is to be
--- changed; the lines may be kept.
---@return string[]
---@return winnow.Marked[]
function Section:lines()
  local tick = vim.api.nvim_buf_get_changedtick(self.chat.buf)
  if tick ~= self.tick then
    local silent = vim.fn.mode() == 'c' -- 'inccommand' changes the text, and takes that back
    local first, after = self:rows()
    local top, bottom = 0, 0
    local unchanged = not silent and self.unchanged
    if unchanged and unchanged.first == first and unchanged.after == after then
      top = unchanged.top
      bottom = math.min(unchanged.bottom, after - first - top)
    end
    read(self, top, bottom, self.chat:lines(first + top, after - bottom))
    local size = #self.text
    self.unchanged = { first = first, after = after, top = size, bottom = size }
    self.tick = tick
    if silent then
      self.unchanged, self.tick = nil, nil
    end
  end
  return self.text, self.marked
end

---@param row integer from 0
---@return boolean
function Section:contains(row)
  local first, after = self:rows()
  return row >= first and row < after
end

--- Whether it still waits: it may have been closed, or all of the chat read anew.
---@return boolean
function Section:is_open()
  return self.chat.section == self and registry.get(self.chat.buf) == self.chat
end

--- Forget where a section stood: its text is the transcript's, or was read anew.
---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
end

--- The section that a text read from a file still shows as open: below all that was said, with its
--- head or its foot. An option that was pasted somewhere is none. A body may hold what looks like
--- the heading of a message.
---@param chat winnow.Chat
---@return string? id
---@return integer row where it starts
function M.find(chat)
  local id, first, framed
  local inside = false -- a body
  for row = limit(chat) - 1, 0, -1 do
    local line = chat:lines(row, row + 1)[1]
    if not inside and is_heading(line) then
      break
    end
    local found = marker.of(line, id)
    if found and found.slot ~= grammar.RECORD then
      id, first = found.id, row
      framed = framed or found.slot == grammar.HEAD or found.slot == grammar.FOOT
      inside = found.slot == grammar.END -- until any other marker
      if found.slot == grammar.HEAD and found.question == 1 then
        break
      end
    end
  end
  return framed and id or nil, first or -1
end

--- Lines without the blank ones at their end.
---@param lines string[]
---@return string[]
function M.trimmed(lines)
  local last = #lines
  while lines[last] == '' do
    last = last - 1
  end
  return vim.list_slice(lines, 1, last)
end

--- Whether two lists of lines are the same; quicker than vim.deep_equal().
---@param a string[]
---@param b string[]
---@return boolean
function M.same(a, b)
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

return M
