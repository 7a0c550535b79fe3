--- The draft: what the user writes below the last `## You`, until it is sent.
local context = require('winnow.lazy')('winnow.context.draft')
local grammar = require('winnow.grammar')
local legible = require('winnow.chat.legible')
local marker = require('winnow.section.marker')
local queued = require('winnow.chat.queued')
local trim = require('winnow.trim')
local undo = require('winnow.chat.undo')
local window = require('winnow.window')

---@class (partial) winnow.Chat
local Chat = {}

local DRAFT = grammar.YOU

--- Row where the draft starts.
---@return integer
function Chat:draft_row()
  local row, stands = self:heading_row()
  return stands and row + 1 or row
end

--- The draft without blank edges and without markers, and without the messages that wait above it.
---@return string
function Chat:draft()
  local row, stands = self:heading_row()
  local lines = self:lines(row, -1)
  if stands then
    lines[1] = lines[1]:sub(#DRAFT + 1)
  end
  local _, rest = queued.parse(lines)
  return trim.both(marker.strip(table.concat(rest, '\n')))
end

--- Make sure that the draft has its heading, with a blank line above.
function Chat:ensure_heading()
  local row, stands = self:heading_row()
  local rest = stands and self:lines(row, row + 1)[1]:sub(#DRAFT + 1) or ''
  if rest ~= '' then
    vim.api.nvim_buf_set_lines(self.buf, row, row + 1, false, { DRAFT, '', trim.both(rest) })
    self:set_heading(row)
  end
  if not stands then
    local above = row > 0 and self:lines(row - 1, row)[1] ~= ''
    local lines = above and { '', DRAFT, '' } or { DRAFT, '' }
    local heading = row + #lines - 2
    if row == vim.api.nvim_buf_line_count(self.buf) then
      table.insert(lines, '') -- the draft, of which nothing is left
    end
    vim.api.nvim_buf_set_lines(self.buf, row, row, false, lines)
    self:set_heading(heading)
    self:count_above()
  end
end

--- Give the draft its lines back, which a formatter takes from an empty one: what is typed next
--- must not be glued to the heading. Not beside an open section, whose steps of undo stay Neovim's.
function Chat:heal()
  local row, stands = self:heading_row()
  local line = stands and self:lines(row, -1)
  if self.owner or self.section or not line or #line > 1 then
    return
  end
  local wins = self:in_draft()
  self:as_host(function()
    self:ensure_heading()
    if line[1] == DRAFT then
      vim.api.nvim_buf_set_lines(self.buf, row + 1, -1, false, { '', '' })
    end
  end)
  for _, win in ipairs(wins) do
    self:to_draft(win)
  end
end

--- Put a window's cursor at the end of the draft.
---@param win integer
function Chat:to_draft(win)
  local last = vim.api.nvim_buf_line_count(self.buf)
  vim.api.nvim_win_set_cursor(win, { last, #self:lines(last - 1, last)[1] })
end

--- Windows whose cursor stands in the draft.
---@param above? integer lines above its heading that count, too
---@return integer[]
function Chat:in_draft(above)
  local first = self:heading_row() + 1 - (above or 0)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= first
  end, vim.fn.win_findbuf(self.buf))
end

--- Have the end of the text at the bottom of the window for whoever is in the draft.
---@param grown? string[]|false see `window.fill`
function Chat:to_bottom(grown)
  for _, win in ipairs(self:in_draft(1)) do -- text comes before the blank line above it
    window.fill(win, grown)
  end
end

--- Add lines to the draft, after a blank line when it has text; an edit that `u` takes back.
---@param lines string[]
function Chat:append_draft(lines)
  self:as_host(function()
    self:ensure_heading()
  end)
  undo.restore(self)
  local text = self:draft()
  local rest = text == '' and {} or vim.list_extend(vim.split(text, '\n', { plain = true }), { '' })
  local all = queued.joined(self:below(), vim.list_extend(rest, legible.lines(lines)))
  vim.api.nvim_buf_set_lines(self.buf, self:draft_row(), -1, false, vim.list_extend(all, { '' }))
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    self:to_draft(win)
  end
end

-- Its way to the host --------------------------------------------------------------------------

--- Whether the last message of these lines is Claude's.
---@param lines string[]
---@param last integer
---@return boolean
local function claude_said(lines, last)
  for i = last, 1, -1 do
    if lines[i] == DRAFT or lines[i] == grammar.CLAUDE then
      return lines[i] == grammar.CLAUDE
    end
  end
  return false
end

--- Take the message above the draft out of the transcript, if it is this one and nothing but
--- notices came of it: what is given back stands in one place.
---@param self winnow.Chat
---@param text string
local function withdraw(self, text)
  local last = self:heading_row()
  local lines = self:lines(0, last)
  local answer ---@type integer? line of the heading below the message
  local silent = true -- no notice either
  for i = #lines, 1, -1 do
    local line = lines[i]
    if line == DRAFT and answer then
      if context.words(trim.both(table.concat(lines, '\n', i + 1, answer - 1))) == text then
        -- What is said of it stands below what Claude has said before, if that is there.
        local to = silent and last or claude_said(lines, i - 1) and answer + 1 or answer - 1
        vim.api.nvim_buf_set_lines(self.buf, i - 1, to, false, {})
        self:count_above()
      end
      return
    elseif line == grammar.CLAUDE and not answer then
      answer = i
    elseif line ~= '' and not answer then
      silent = false
      if not vim.startswith(line, grammar.NOTICE) then
        return -- an answer
      end
    end
  end
end

--- Put text that was not delivered back into the draft, and tell the host once it is in the file.
---@param text string
---@param messages string[] the ids of the messages that it is
function Chat:refill(text, messages)
  self:hold()
  self:as_host(function()
    self:ensure_heading()
    if not self:untake(messages) then
      withdraw(self, text)
    end
    self:put_back(text)
  end)
  self:show_state()
  for _, win in ipairs(self:in_draft()) do
    self:to_draft(win)
  end
  self:save()
  if #messages > 0 and not vim.bo[self.buf].modified then
    self:tell('refilled', { messages = messages })
  end
end

return Chat
