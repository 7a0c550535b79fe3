--- Where the draft begins: the host owns the text above its heading, the user what follows.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')

---@class (partial) winnow.Chat
local Chat = {}

local DRAFT = grammar.YOU
local HASH = ('#'):byte()
local namespace = vim.api.nvim_create_namespace('winnow.chat')

--- Whether a line is the draft's heading, maybe with text that the user appended to it.
---@param line? string
---@return boolean
local function heads_draft(line)
  return line ~= nil and line:sub(1, #DRAFT) == DRAFT and not line:find('^%w', #DRAFT + 1)
end

--- The mark tells by itself when its text was written anew, as a filter or a formatter does.
---@param row integer
function Chat:set_heading(row)
  self.stands_at = nil
  self.heading = vim.api.nvim_buf_set_extmark(self.buf, namespace, row, 0, {
    id = self.heading,
    end_col = #DRAFT,
    strict = false, -- of a text without one it is any line
    invalidate = true,
  })
end

--- What could be a message's heading, and what surely stands above the draft. In the body of an
--- open section, nothing is either.
---@param self winnow.Chat
---@return integer[] rows of headings such as the draft's
---@return integer said the last row that is surely not the user's
---@return integer first row of the open section, if any
---@return integer last
---@return integer[] answers rows of Claude's headings
local function look(self)
  local id = self.section and self.section.id
  local rows, answers, first, last, inside = {}, {}, nil, -1, false
  for i, line in ipairs(self:lines(0, -1)) do
    local found = marker.of(line)
    if found then
      inside = found.slot == grammar.BEGIN
      if found.id == id and found.slot ~= grammar.RECORD then
        first, last = first or i - 1, i - 1
      end
    elseif not inside and line:byte() == HASH then -- quick: there may be 100,000 lines
      if heads_draft(line) then
        table.insert(rows, i - 1)
      elseif line == grammar.CLAUDE or line == grammar.WORKER then
        table.insert(answers, i - 1)
      end
    end
  end
  return rows, math.max(answers[#answers] or -1, last), first or -1, last, answers
end

--- The same, looked for once as long as the text is the same.
---@param self winnow.Chat
---@return integer[] rows
---@return integer said
---@return integer first
---@return integer last
---@return integer[] answers
local function landmarks(self)
  local tick, id = vim.api.nvim_buf_get_changedtick(self.buf), self.section and self.section.id
  local seen = self.landmarks
  if not seen or seen.tick ~= tick or seen.section ~= id then
    seen = { tick = tick, section = id, found = { look(self) } }
    self.landmarks = seen
  end
  return unpack(seen.found)
end

--- Row of the draft's heading, told from the text: the one with as many others above as it had. The
--- draft itself may hold what looks like one.
---@param self winnow.Chat
---@return integer? row
---@return integer said see `landmarks`
local function find_heading(self)
  local rows, said, first, last = landmarks(self)
  local found = rows[self.above + 1]
  if not found or found < last then -- or an option was pasted into the draft
    found = vim.iter(rows):find(function(row)
      return row > said
    end) or found and found > first and found or nil
  end
  return found, said
end

--- Row of the draft's heading, and whether the heading still stands there.
---@return integer row
---@return boolean stands
function Chat:heading_row()
  local tick = vim.api.nvim_buf_get_changedtick(self.buf)
  if self.stands_at and self.stands_at.tick == tick then
    return self.stands_at.row, true
  end
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(self.buf, namespace, self.heading, { details = true })
  local row = mark[1]
  -- Whatever was appended to it, as to its last line once a formatter has taken the blank ones.
  if not mark[3].invalid and vim.startswith(self:lines(row, row + 1)[1] or '', DRAFT) then
    self.stands_at = { tick = tick, row = row }
    return row, true
  end
  if not (self.lost_at and self.lost_at.tick == tick) then
    local found, said = find_heading(self)
    if found then
      self:set_heading(found)
      self:show_state()
      return found, true
    end
    -- Where the mark is, unless everything was written anew: what was said is no draft.
    local count = vim.api.nvim_buf_line_count(self.buf)
    self.lost_at = { tick = tick, row = row > said and math.min(row, count) or count }
  end
  return self.lost_at.row, false
end

---@param rows integer[]
---@param row integer
---@return integer
local function count(rows, row)
  return #vim.tbl_filter(function(other)
    return other < row
  end, rows)
end

--- Count the headings above the draft's, which say where that is after all was written anew.
function Chat:count_above()
  local row, stands = self:heading_row()
  if stands then
    local rows, _, _, _, answers = landmarks(self)
    self.counted_at = row
    self.above, self.answers = count(rows, row), count(answers, row)
  end
end

--- Find the heading in a text that was just read, or make one.
---@param before? winnow.Chat the chat as it was before `:e!`
function Chat:first_heading(before)
  local rows, said, _, last_open, answers = landmarks(self)
  if #rows == 0 and not self.owner then
    local _, last = frontmatter.read(self.buf)
    local row = vim.api.nvim_buf_line_count(self.buf)
    self.above = 0
    self:set_heading(row - 1) -- who writes is asked where it is
    row = said < 0 and (last or -1) + 1 or row -- where nothing was said, all is the draft
    self:as_host(function()
      vim.api.nvim_buf_set_lines(self.buf, row, row, false, { '', DRAFT, '', '' })
    end)
    rows, said, _, last_open, answers = landmarks(self)
  end
  -- The draft may hold what looks like its heading, and all that was sent has Claude's below it.
  local row = before and rows[before.above + 1]
  local first = vim.iter(rows):find(function(other)
    return other > said
  end)
  local last = first or rows[#rows] or vim.api.nvim_buf_line_count(self.buf) - 1
  local same = row and row > last_open and count(answers, row) == before.answers
  self:set_heading(same and row or last)
end

return Chat
