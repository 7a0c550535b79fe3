--- One object for each chat buffer. The host owns the text above the last `## You`, the user owns
--- the draft below it.
local files = require('winnow.files')
local frontmatter = require('winnow.frontmatter')
local guard = require('winnow.guard')
local host = require('winnow.host')
local lock = require('winnow.lock')
local marker = require('winnow.marker')
local say = require('winnow.say')
local sent = require('winnow.sent')
local transcript = require('winnow.transcript')

local M = {}

local DRAFT = '## You'
local namespace = vim.api.nvim_create_namespace('winnow.chat')

-- Said beside the draft's heading.
local STATES = {
  asleep = '',
  idle = '',
  connecting = 'connecting…',
  working = 'working…  :Winnow stop ends the turn',
  waiting = 'waits for your answer',
  failed = 'not connected; <CR> tries again',
}
local QUEUED = 'goes out as soon as Claude can take it'
local SLOW = 3 -- seconds of a start from which on they are counted
local TYPING = 'goes out when you leave Insert mode'

---@class winnow.Pending
---@field section string its id
---@field kind string `question`, `permission`, `patch`, `plan` or `trust`
---@field title string
---@field agent string the subagent that asks; empty: the chat's own
---@field since number seconds since the epoch

---@class winnow.Chat
---@field buf integer
---@field path string
---@field cwd string where its agent works
---@field state string as the host told it last
---@field pending winnow.Pending[] sections that wait for the user, the open one first
---@field announced table<string, winnow.Sight> since when the user can know of them, by section
---@field cost number US dollars that the session has cost
---@field mode string its permission mode, empty while nobody knows it
---@field owner? winnow.Owner the other Neovim that has it; then it is only read here
---@field stamp string of its file, as it was read or written last
---@field private saved string what that held
---@field ahead integer how many other agents start before its own
---@field private since? integer when its agent began to start, in milliseconds
---@field private ticks? boolean what is said of that will be said anew
---@field queued boolean the draft waits to be sent
---@field private unwritten? boolean its file could not be written, which the user knows
---@field private problem? string why the last write failed
---@field saving boolean it is being written
---@field private typing? boolean it would go now, were the user not typing it
---@field section? winnow.Section the open one
---@field private heading integer extmark on the draft's heading
---@field private above integer headings of messages above it
---@field private counted_at integer where the draft's was when they were counted
---@field private lost_at? { tick: integer, row: integer } where the draft starts without a heading
---@field private carry string white space at the end of the text so far: written with what follows
---@field private fresh boolean the next text starts a paragraph
---@field private tools table<string, winnow.ToolMark> the tool lines that still change
local Chat = {}
Chat.__index = Chat

-- Rows and text --------------------------------------------------------------------------------

---@param first integer row, from 0
---@param last integer row after the last one, -1 for the end
---@return string[]
function Chat:lines(first, last)
  return vim.api.nvim_buf_get_lines(self.buf, first, last, false)
end

--- Whether a line is the draft's heading, maybe with text that the user appended to it.
---@param line? string
local function heads_draft(line)
  return line == DRAFT or line ~= nil and line:find('^## You%W') ~= nil
end

--- The mark tells by itself when its text was written anew, as a filter or a formatter does.
---@param row integer
local function set_heading(self, row)
  self.heading = vim.api.nvim_buf_set_extmark(self.buf, namespace, row, 0, {
    id = self.heading,
    end_col = #DRAFT,
    invalidate = true,
  })
end

--- What could be a message's heading, and what surely stands above the draft. In the body of an
--- open section, nothing is either.
---@return integer[] rows of headings such as the draft's
---@return integer said the last row that is surely not the user's
---@return integer first row of the open section, if any
---@return integer last
local function landmarks(self)
  local id = self.section and self.section.id
  local rows, said, first, last, inside = {}, -1, nil, -1, false
  for i, line in ipairs(self:lines(0, -1)) do
    local found = marker.of(line)
    if found then
      inside = found.slot == 'b'
      if found.id == id and found.slot ~= 'r' then
        first, last = first or i - 1, i - 1
      end
    elseif not inside and heads_draft(line) then
      table.insert(rows, i - 1)
    elseif not inside and line == '## Claude' then
      said = i - 1
    end
  end
  return rows, math.max(said, last), first or -1, last
end

--- Row of the draft's heading, told from the text: the one with as many others above as it had. The
--- draft itself may hold what looks like one.
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
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(self.buf, namespace, self.heading, { details = true })
  local row = mark[1]
  if not mark[3].invalid and heads_draft(self:lines(row, row + 1)[1]) then
    return row, true
  end
  local tick = vim.api.nvim_buf_get_changedtick(self.buf)
  if not (self.lost_at and self.lost_at.tick == tick) then
    local found, said = find_heading(self)
    if found then
      set_heading(self, found)
      self:show_state()
      return found, true
    end
    -- Where the mark is, unless everything was written anew: what was said is no draft.
    local count = vim.api.nvim_buf_line_count(self.buf)
    self.lost_at = { tick = tick, row = row > said and math.min(row, count) or count }
  end
  return self.lost_at.row, false
end

--- Count the headings above the draft's, which says where that is after all was written anew.
function Chat:count_above()
  local row, stands = self:heading_row()
  if stands then
    self.counted_at = row
    self.above = #vim.tbl_filter(function(other)
      return other < row
    end, (landmarks(self)))
  end
end

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

--- Row of the last line of the transcript that has text.
---@return integer
function Chat:tail_row()
  local row = self:heading_row() - 1
  while row > 0 and not self:lines(row, row + 1)[1]:find('%S') do
    row = row - 1
  end
  return row
end

--- Change the buffer as the host does: outside undo, so `u` never removes what the agent said.
---@param change fun()
function Chat:edit(change)
  local options = vim.bo[self.buf]
  local levels, modifiable = options.undolevels, options.modifiable
  options.modifiable = true
  options.undolevels = -1
  local ok, problem = pcall(change)
  options.undolevels = levels
  options.modifiable = modifiable
  if not ok then
    error(problem, 0)
  end
end

--- Make sure that the draft has its heading, with a blank line above.
function Chat:ensure_heading()
  local row, stands = self:heading_row()
  local rest = stands and self:lines(row, row + 1)[1]:sub(#DRAFT + 1) or ''
  if rest ~= '' then
    vim.api.nvim_buf_set_lines(self.buf, row, row + 1, false, { DRAFT, '', vim.trim(rest) })
    set_heading(self, row)
  end
  if not stands then
    local above = row > 0 and self:lines(row - 1, row)[1] ~= ''
    local lines = above and { '', DRAFT, '' } or { DRAFT, '' }
    vim.api.nvim_buf_set_lines(self.buf, row, row, false, lines)
    set_heading(self, row + #lines - 2)
    self:count_above()
  end
end

--- Whether this Neovim has the chat. One that finds it taken reads it from now on.
---@return boolean
function Chat:mine()
  if not self.owner and not lock.mine(self.path) then
    require('winnow.handover').resign(self)
  end
  return self.owner == nil
end

--- The same, and say so if it has not.
---@return boolean
function Chat:mine_or_say()
  local mine = self:mine()
  if not mine then
    say(require('winnow.handover').sentence(self.owner))
  end
  return mine
end

--- Write the chat's file. It is this Neovim's, so what another program has written meanwhile stays
--- beside it: a session goes on from the text that is here.
function Chat:save()
  local now = files.stamp(self.path)
  if not self:mine() or not vim.bo[self.buf].modified and now == self.stamp then
    return
  end
  -- Time alone tells too much: whatever copies files may set it.
  local other = now ~= '' and now ~= self.stamp and files.read(self.path) ~= self.saved
  local copy = other and files.set_aside(self.path)
  if other and not copy then
    host.log(('%s is not written, for what it holds could not be kept.'):format(self.path))
    return
  end
  if self:heading_row() ~= self.counted_at then
    self:count_above() -- the user may have pasted or deleted some
  end
  local ok, problem = pcall(vim.api.nvim_buf_call, self.buf, function()
    -- keepalt and lockmarks: a save by itself must leave no trace in the user's editing.
    self.saving = true
    vim.cmd('silent lockmarks keepalt write!') -- Neovim leaves the file to `Chat:put`
    if vim.bo.undofile and not vim.bo.modified then
      vim.cmd.wundo({ vim.fn.undofile(self.path), bang = true, magic = { file = false } })
    end
  end)
  self.saving = false
  self:written(ok and not vim.bo[self.buf].modified, self.problem or tostring(problem))
  if copy then
    vim.schedule(function() -- after what Neovim itself says of the file
      say(('%s has what another program wrote into this chat.'):format(copy), 'warn')
    end)
  end
end

--- `:write` by the user: as for any file.
function Chat:write()
  local function tell(event)
    vim.api.nvim_exec_autocmds(event, { buffer = self.buf, modeline = false })
  end
  tell('BufWritePre')
  self:save()
  if not vim.bo[self.buf].modified then
    tell('BufWritePost')
    local name, count = vim.fs.basename(self.path), vim.api.nvim_buf_line_count(self.buf)
    say(('"%s" %dL, %dB written'):format(name, count, #self.saved))
  end
end

--- Put the text into the file: what Neovim's `:write` by `Chat:save` leaves to us.
function Chat:put()
  local ok, done = pcall(files.replace, self.path, self:lines(0, -1))
  self.problem = not ok and tostring(done) or nil
  if ok and not done then
    files.prepare(self.path)
    vim.cmd('silent lockmarks keepalt noautocmd write!')
  elseif ok then
    vim.bo[self.buf].modified = false
  end
end

--- The file was written, or not, which the user is told once.
---@param ok boolean
---@param problem string
function Chat:written(ok, problem)
  if ok then
    self:remember_file()
  elseif not self.unwritten then
    local why = problem:match('E%d+: [^\n]*') or 'for no known reason'
    host.log(('%s could not be written: %s'):format(self.path, why))
    say(('The chat could not be written; it stays here, :w! tries again (%s).'):format(why), 'warn')
  end
  self.unwritten = not ok
end

--- The file is now as this Neovim has written or read it.
function Chat:remember_file()
  self.stamp, self.saved = files.stamp(self.path), files.read(self.path)
end

-- The draft ------------------------------------------------------------------------------------

--- Put text that was not delivered back into the draft, and tell the host once it is in the file.
---@param text string
---@param messages string[] the ids of the messages that it is
function Chat:refill(text, messages)
  self.queued = false
  self:edit(function()
    self:ensure_heading()
    local rest = self:draft()
    if not ('\n' .. rest .. '\n'):find('\n' .. text .. '\n', 1, true) then
      text = rest == '' and text or text .. '\n\n' .. rest
      local lines = vim.split('\n' .. text, '\n', { plain = true })
      vim.api.nvim_buf_set_lines(self.buf, self:draft_row(), -1, false, lines)
    end
  end)
  for _, win in ipairs(self:in_draft()) do
    self:to_draft(win)
  end
  self:save()
  if #messages > 0 and not vim.bo[self.buf].modified then
    self:tell('refilled', { messages = messages })
  end
end

--- Tell the host a message, and write the file: it no longer is the draft.
---@param text string empty: there was none after all
local function post(self, text)
  local id = text ~= '' and sent.add(self.path, text) or '' -- before the file calls it sent
  self:tell('send', { text = text, id = id })
  self:save()
end

--- Make the draft a message of the transcript and open an empty draft below.
---@return string text
function Chat:commit()
  local text = self:draft()
  local wins = self:in_draft()
  self.queued = false
  self.carry = ''
  self:edit(function()
    self:ensure_heading()
    local row = self:heading_row()
    local lines = vim.split(text, '\n', { plain = true })
    local block = vim.list_extend({ '' }, lines)
    vim.list_extend(block, { '', '## Claude', '', DRAFT, '', '' })
    vim.api.nvim_buf_set_lines(self.buf, row + 1, -1, false, block)
    set_heading(self, row + 1 + #block - 3)
    self:count_above()
  end)
  for _, win in ipairs(wins) do
    self:to_draft(win)
  end
  self:show_state()
  return text
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
  self:edit(function()
    self:ensure_heading()
  end)
  local text = self:draft()
  local before = text == '' and '' or '\n' .. text .. '\n'
  local all = ('%s\n%s\n'):format(before, table.concat(lines, '\n'))
  local draft = vim.split(all, '\n', { plain = true })
  vim.api.nvim_buf_set_lines(self.buf, self:draft_row(), -1, false, draft)
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    self:to_draft(win)
  end
end

--- Send the draft now, or as soon as the agent can take it.
function Chat:send()
  if not self:mine_or_say() then
    return
  elseif self:draft() == '' then
    say('The draft is empty: write below “## You”.')
  elseif self.state == 'idle' and not self.section then
    post(self, self:commit())
  else
    self.queued = true
    if self:tell('queue', {}) then
      self:show_state()
    end
    self:save()
  end
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

--- The host has a place for the queued draft. It does not go out half typed.
function Chat:take()
  -- Also in `niI` and the like, where it is left for one command.
  local types = vim.api.nvim_get_mode().mode:find('^n?[iR]') ~= nil
  self.typing = self.queued and types and vim.api.nvim_get_current_buf() == self.buf
  local wanted = self.queued and not self.typing and self:draft() ~= ''
  post(self, wanted and self:commit() or '')
  self:show_state()
end

--- The user has left Insert mode.
function Chat:typed()
  if self.typing then
    self.typing = false
    self:send()
  end
end

--- Tell the host something of this chat; a problem is said in the chat.
---@param kind string
---@param event table
---@return boolean sent
function Chat:tell(kind, event)
  if not self:mine_or_say() then
    return false
  end
  event.chat = self.buf
  local ok, problem = host.notify(kind, event)
  if not ok then
    self:lost(problem or '')
  end
  return ok
end

-- State ----------------------------------------------------------------------------------------

--- The host stopped: nothing is connected, and the open section has nobody to answer to.
---@param sentence string
function Chat:lost(sentence)
  self.queued = false
  if self.section then
    self.section:forget()
  end
  local notice = '⚠ ' .. sentence
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

---@param state string
function Chat:set_state(state)
  if state ~= self.state then
    self.state = state
    require('winnow.events').fire(self, 'State', { state = state })
  end
  if state == 'failed' then
    self.queued = false
  end
  self:show_state()
end

--- How a start gets on; said anew every second.
---@return string
function Chat:progress()
  local text = STATES.connecting
  if self.ahead > 0 then
    text = ('waits for %d other%s to start…'):format(self.ahead, self.ahead > 1 and 's' or '')
  end
  if not self.ticks then
    self.ticks = true
    vim.defer_fn(function()
      self.ticks = false
      if self.since and vim.api.nvim_buf_is_loaded(self.buf) then
        self:show_state()
      end
    end, 1000)
  end
  local seconds = math.floor((vim.uv.now() - self.since) / 1000)
  return seconds < SLOW and text or ('%s %d s'):format(text, seconds)
end

--- Say the state beside the draft's heading.
function Chat:show_state()
  local text = STATES[self.state] or self.state
  if self.state == 'connecting' or self.state == 'asleep' and self.queued then
    self.since = self.since or vim.uv.now()
    text = self:progress()
  else
    self.since = nil
  end
  if self.owner then
    text = require('winnow.handover').sentence(self.owner)
  end
  if self.queued then
    local when = self.typing and TYPING or QUEUED
    text = text == '' and when or ('%s · %s'):format(text, when)
  end
  local row = self:heading_row()
  self.status = vim.api.nvim_buf_set_extmark(self.buf, namespace, row, 0, {
    id = self.status,
    virt_text = text ~= '' and { { ' ' .. text, 'WinnowStatus' } } or nil,
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
end

-- Start ----------------------------------------------------------------------------------------

--- The chat of a buffer, read from its text.
---@param buf integer
---@param owner? winnow.Owner the other Neovim that has it
---@return winnow.Chat
function M.new(buf, owner)
  local self = setmetatable({
    buf = buf,
    path = vim.api.nvim_buf_get_name(buf),
    owner = owner,
    state = 'asleep',
    pending = {},
    announced = {},
    cost = 0,
    mode = '',
    ahead = 0,
    queued = false,
    carry = '',
    fresh = false,
    saving = false,
    tools = {},
  }, Chat)
  self:remember_file()
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  require('winnow.section_view').clear(buf) -- what was drawn before `:e!` stands elsewhere now
  local rows, said = landmarks(self)
  if #rows == 0 and not owner then
    self:edit(function()
      vim.api.nvim_buf_set_lines(buf, -1, -1, false, { '', DRAFT, '', '' })
    end)
    rows, said = landmarks(self)
  end
  -- Read again after `:e!`: the draft may hold what looks like its heading.
  local before = require('winnow.chats').get(buf)
  local row = before and rows[before.above + 1]
  local last = rows[#rows] or vim.api.nvim_buf_line_count(buf) - 1
  set_heading(self, row and row > said and row or last)
  if owner then
    self:show_state()
  else
    require('winnow.section').recognise(self)
  end
  self:count_above()
  return self
end

--- What the frontmatter may decide. A file from elsewhere says neither where Claude works nor what
--- it may do. Claude Code would not start with a mode that it does not know; whether the user has
--- set the one that stands there, the host knows.
---@return table<string, string>
---@return boolean own
local function trusted(self)
  local values = frontmatter.read(self.buf)
  local own = files.own(self.path)
  if not own then
    values.cwd, values.session, values.mode = nil, nil, nil
  elseif not vim.list_contains(require('winnow').modes, values.mode) then
    values.mode = nil
  end
  return values, own
end

--- Tell the host of this chat, as it stands in the text.
function Chat:open()
  local values, own = trusted(self)
  local default = function(value)
    return value == 'default' and '' or value or ''
  end
  local config = require('winnow').config()
  self.cwd = files.place(values.cwd or vim.fn.getcwd())
  if self.owner then
    return -- its section and its agent are the other's
  end
  self:tell('open', {
    path = self.path,
    cwd = self.cwd,
    agent = values.agent and values.agent:match('^%w+') or config.agent,
    session = values.session or '',
    model = values.model and default(values.model) or config.model,
    -- With a session, Claude has told it; without one, `default` is whatever Claude Code takes.
    mode = (values.session or '') ~= '' and values.mode or default(values.mode),
    configured = config.mode,
    questions = (values.questions or ''):match('^%l+$') or config.questions,
    sections = self.section and { self.section.id } or {},
    lines = self.section and self.section:left() or {},
    confirmed = self.section and self.section.confirming or -1,
    sent = sent.of(self.path),
    headless = #vim.api.nvim_list_uis() == 0,
    eager = own,
  })
end

return M
