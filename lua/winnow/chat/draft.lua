--- The draft: what the user writes below the last `## You`, until it is sent.
local context = require('winnow.context.draft')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local say = require('winnow.say')
local sent = require('winnow.chat.sent')
local undo = require('winnow.chat.undo')

---@class (partial) winnow.Chat
local Chat = {}

local DRAFT = grammar.YOU

--- Row where the draft starts.
---@return integer
function Chat:draft_row()
  local row, stands = self:heading_row()
  return stands and row + 1 or row
end

--- The draft without blank edges and without markers.
---@return string
function Chat:draft()
  local row, stands = self:heading_row()
  local lines = self:lines(row, -1)
  if stands then
    lines[1] = lines[1]:sub(#DRAFT + 1)
  end
  return vim.trim(marker.strip(table.concat(lines, '\n')))
end

--- Make sure that the draft has its heading, with a blank line above.
function Chat:ensure_heading()
  local row, stands = self:heading_row()
  local rest = stands and self:lines(row, row + 1)[1]:sub(#DRAFT + 1) or ''
  if rest ~= '' then
    vim.api.nvim_buf_set_lines(self.buf, row, row + 1, false, { DRAFT, '', vim.trim(rest) })
    self:set_heading(row)
  end
  if not stands then
    local above = row > 0 and self:lines(row - 1, row)[1] ~= ''
    local lines = above and { '', DRAFT, '' } or { DRAFT, '' }
    vim.api.nvim_buf_set_lines(self.buf, row, row, false, lines)
    self:set_heading(row + #lines - 2)
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
---@return integer[]
function Chat:in_draft()
  local first = self:heading_row() + 1
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= first
  end, vim.fn.win_findbuf(self.buf))
end

--- Add lines to the draft, after a blank line when it has text; an edit that `u` takes back.
---@param lines string[]
function Chat:append_draft(lines)
  self:as_host(function()
    self:ensure_heading()
  end)
  undo.restore(self)
  local text = self:draft()
  local before = text == '' and '' or '\n' .. text .. '\n'
  local all = ('%s\n%s\n'):format(before, table.concat(lines, '\n'))
  local draft = vim.split(all, '\n', { plain = true })
  vim.api.nvim_buf_set_lines(self.buf, self:draft_row(), -1, false, draft)
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    self:to_draft(win)
  end
end

-- Its way to the host --------------------------------------------------------------------------

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
      if context.words(vim.trim(table.concat(lines, '\n', i + 1, answer - 1))) == text then
        vim.api.nvim_buf_set_lines(self.buf, i - 1, silent and last or answer - 1, false, {})
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
  self.queued = false
  self:as_host(function()
    self:ensure_heading()
    withdraw(self, text)
    local rest = self:draft()
    if not ('\n' .. rest .. '\n'):find('\n' .. text .. '\n', 1, true) then
      text = rest == '' and text or text .. '\n\n' .. rest
      local lines = vim.split('\n' .. text, '\n', { plain = true })
      vim.api.nvim_buf_set_lines(self.buf, self:draft_row(), -1, false, lines)
    end
  end)
  self:show_ghost()
  for _, win in ipairs(self:in_draft()) do
    self:to_draft(win)
  end
  self:save()
  if #messages > 0 and not vim.bo[self.buf].modified then
    self:tell('refilled', { messages = messages })
  end
end

--- Tell the host a message, and write the file: it no longer is the draft.
---@param self winnow.Chat
---@param text string empty: there was none after all
---@param along? winnow.Along
local function post(self, text, along)
  local id = text ~= '' and sent.add(self.path, text) or '' -- before the file calls it sent
  self:tell('send', { text = text, id = id, attached = along and along.attached or {} })
  self:save()
end

--- Make the draft a message of the transcript and open an empty draft below.
---@param along? winnow.Along what goes with it
---@return string text
function Chat:commit(along)
  local text = self:draft()
  local wins = self:in_draft()
  self.queued = false
  self.carry = ''
  self:as_host(function()
    self:ensure_heading()
    local row = self:heading_row()
    local block = { '', '' } -- of a task, whose transcript has it when its worker is told
    if not self.task then
      block = vim.list_extend({ '' }, vim.split(text, '\n', { plain = true }))
      vim.list_extend(block, along and along.line and { '', along.line } or {})
      vim.list_extend(block, { '', grammar.CLAUDE, '', DRAFT, '', '' })
    end
    vim.api.nvim_buf_set_lines(self.buf, row + 1, -1, false, block)
    self:set_heading(row + 1 + #block - 3)
    self:count_above()
  end)
  for _, win in ipairs(wins) do
    self:to_draft(win)
  end
  self:show_state()
  return text
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

--- Do what helps, and go on: with the draft, or where it stopped.
function Chat:mend()
  self.queued = self:draft() ~= ''
  if self:tell('again', { draft = self.queued }) then
    self:show_state()
  end
  self:save()
end

--- Send the draft now, or as soon as the agent can take it.
function Chat:send()
  if not self:mine_or_say() then
    return
  elseif self:goes_again() then
    self:mend()
  elseif self:draft() == '' then
    say(('The draft is empty: write below “%s”.'):format(DRAFT))
  else
    context.gather(self, function(along, waited)
      if self.state == 'idle' and not self.section then
        post(self, self:commit(along), along)
      elseif not waited or self:mine() then
        self:queue()
      end
    end)
  end
end

--- Send the draft as soon as the agent can take it.
function Chat:queue()
  self.queued = true
  if self:tell('queue', {}) then
    self:show_state()
  end
  self:save()
end

--- End the turn; a draft that waits to be sent stays a draft.
function Chat:stop()
  local queued = self.queued
  self.queued, self.typing = false, false
  self:show_state()
  if queued and self.state ~= 'working' and self.state ~= 'waiting' then
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

--- The host has a place for the queued draft. It does not go out half typed.
function Chat:take()
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

--- The user is somewhere else, or in another mode.
function Chat:typed()
  if self.typing and not is_typed(self) then
    self.typing = false
    self:send()
  end
end

return Chat
