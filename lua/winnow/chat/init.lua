--- One object for each chat buffer. The host owns the text above the last `## You`, the user owns
--- the draft below it.
local config = require('winnow.config')
local draft = require('winnow.chat.draft')
local files = require('winnow.chat.files')
local frontmatter = require('winnow.chat.frontmatter')
local heading = require('winnow.chat.heading')
local host = require('winnow.host')
local legible = require('winnow.chat.legible')
local marker = require('winnow.section.marker')
local pasted = require('winnow.chat.pasted')
local queue = require('winnow.chat.queue')
local registry = require('winnow.registry')
local save = require('winnow.chat.save')
local say = require('winnow.say')
local section = require('winnow.section')
local send = require('winnow.chat.send')
local sent = require('winnow.chat.sent')
local state = require('winnow.chat.state')
local tree = require('winnow.chat.tree')
local undo = require('winnow.chat.undo')
local view = require('winnow.section.view')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.chat')

---@class (partial) winnow.Chat
---@field buf integer
---@field path string
---@field cwd string where its agent works
---@field state 'asleep'|'connecting'|'failed'|'idle'|'waiting'|'working' as the host told it last
---@field pending winnow.Pending[] sections that wait for the user, the open one first
---@field announced table<string, winnow.Sight> since when the user can know of them, by section
---@field cost number US dollars that the session has cost
---@field mode string its permission mode, empty while nobody knows it
---@field task? string it is no chat, but the buffer of this task of a run
---@field worktree? boolean the tasks of its run have git worktrees of their own
---@field owner? winnow.Owner the other Neovim that has it; then it is only read here
---@field stamp string of its file, as it was read or written last
---@field saved string what that held, see `files.digest`
---@field ahead integer how many other agents start before its own
---@field background integer tasks that run, and nobody waits for
---@field since? integer when its agent began to start, in milliseconds
---@field ticks? boolean what is said of time will be said anew
---@field unwritten? string why its file could not be written, which the user knows
---@field retry? uv.uv_timer_t until that is tried again
---@field problem? string why the last write failed
---@field saving boolean it is being written
---@field stays? boolean Neovim is asked to quit, which would cut something here
---@field typing? boolean it would go now, were the user not typing it
---@field section? winnow.Section the open one
---@field stop_mapped? boolean `<C-c>` stops its turn now
---@field esc_mapped? boolean `<Esc>` cancels its section now
---@field status? integer extmark that says the state
---@field ghost? integer extmark in an empty draft
---@field ghosted? { text: string, width: integer, rows: integer } what it shows
---@field drawn_rows? integer rows that these two take, beside those of the text
---@field telling? boolean others are about to hear of a new text
---@field heading integer extmark on the draft's heading
---@field above integer headings of messages above it
---@field answers integer headings of Claude above it
---@field counted_at integer where the draft's was when they were counted
---@field stands_at? { tick: integer, row: integer } where the draft's heading was found
---@field lost_at? { tick: integer, row: integer } where the draft starts without a heading
---@field landmarks? { tick: integer, section?: string, found: table } see `heading.lua`
---@field outline? { tick: integer, draft: integer, section?: string, found: winnow.Said[] }
---@field folded table<integer, true> windows in which all was folded when it was read, just now
---@field carry string white space at the end of the text so far: written with what follows
---@field fresh boolean the next text starts a paragraph
---@field tools table<string, winnow.ToolMark> the tool lines that still change
---@field frontmatter? string[] its lines, as they stood there last
local Chat = vim.tbl_extend('error', heading, draft, queue, save, send, state)
Chat.__index = Chat

---@param first integer row, from 0
---@param last integer row after the last one, -1 for the end
---@return string[]
function Chat:lines(first, last)
  return vim.api.nvim_buf_get_lines(self.buf, first, last, false)
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

--- Row after which a section opens: at the end of the transcript, or at the top of a task.
---@return integer
function Chat:section_row()
  return self.task and (select(2, frontmatter.read(self.buf)) or 0) or self:tail_row()
end

local TOLD = 100 -- milliseconds between two times that others hear of a new text

--- Let others hear that there is a new text, such as plugins that draw on it: Neovim itself tells
--- of the current buffer only.
---@param chat winnow.Chat
local function tell_others(chat)
  local buf = chat.buf
  if chat.telling or vim.api.nvim_get_current_buf() == buf then
    return
  end
  chat.telling = true
  vim.defer_fn(function()
    chat.telling = false
    local elsewhere = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_get_current_buf() ~= buf
    if elsewhere and vim.fn.bufwinid(buf) ~= -1 then
      vim.api.nvim_buf_call(buf, function()
        vim.api.nvim_exec_autocmds('TextChanged', { buffer = buf, modeline = false })
      end)
    end
  end, TOLD)
end

--- Change the buffer as the host does: `u` never removes what the agent said, and still takes back
--- what the user did to the draft.
---@param change fun(): string[]? gives what it has only appended to a line
function Chat:as_host(change)
  undo.keep(self)
  local options = vim.bo[self.buf]
  local levels, modifiable = options.undolevels, options.modifiable
  if not modifiable then
    options.modifiable = true
  end
  options.undolevels = -1
  pasted.fold(self) -- while the marks say where that is
  local ok, grown = pcall(change)
  self.counted = vim.api.nvim_buf_line_count(self.buf)
  options.undolevels = levels
  if not modifiable then
    options.modifiable = false
  end
  undo.wrote(self.buf)
  tell_others(self)
  self:to_bottom(ok and grown)
  if not ok then
    error(grown, 0)
  end
end

--- Tell the host something of this chat; a problem is said in the chat.
---@param kind winnow.EventType
---@param event table its other fields
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

-- The open section ----------------------------------------------------------------------------

--- The open section, when the cursor is in it. The chat is that of the current buffer.
---@return winnow.Section?
function Chat:section_here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return self.section and self.section:contains(row) and self.section or nil
end

--- `<Esc>` is mapped only while the cursor stands in an open section, so that everywhere else it
--- does what it did, the user's own mapping of it included. The preview follows, too.
function Chat:follow()
  if vim.api.nvim_get_current_buf() ~= self.buf then
    return
  end
  local inside = self:section_here() ~= nil
  if inside and not self.esc_mapped then
    vim.keymap.set(
      'n',
      '<Esc>',
      '<Plug>(winnow-cancel)',
      { buffer = self.buf, nowait = true, desc = 'Winnow: cancel' }
    )
  elseif self.esc_mapped and not inside then
    pcall(vim.keymap.del, 'n', '<Esc>', { buffer = self.buf }) -- it may be gone: `:nmapclear`
  end
  self.esc_mapped = inside
  if self.section then
    self.section:peek(inside)
  end
end

--- Talk back about the open section.
---@param text string
function Chat:discuss(text)
  if not self.section then
    say('winnow: there is no open section to discuss.', 'warn')
  elseif not text:find('%S') then
    say('winnow: say what to discuss: :Winnow discuss {text}.', 'warn')
  else
    self.section:discuss(text)
  end
end

-- Start ----------------------------------------------------------------------------------------

--- The chat of a buffer, read from its text.
---@param buf integer
---@param owner? winnow.Owner the other Neovim that has it
---@return winnow.Chat
function M.new(buf, owner)
  local path = vim.api.nvim_buf_get_name(buf)
  local self = setmetatable({
    buf = buf,
    path = path,
    owner = owner,
    task = frontmatter.trusted(buf).task,
    state = 'asleep',
    pending = {},
    announced = {},
    cost = 0,
    mode = '',
    ahead = 0,
    background = 0,
    queued = false,
    asked = 0,
    carry = '',
    fresh = false,
    saving = false,
    tools = {},
  }, Chat)
  self:remember_file()
  local text = files.read(path)
  legible.read(buf, text)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  view.clear(buf) -- what was drawn before `:e!` stands elsewhere now
  if not owner and marker.is_old(text) then
    marker.renew(buf)
  end
  frontmatter.keep(self)
  local before = registry.get(buf)
  self:first_heading(before)
  if not owner then
    section.recognise(self, before and before.section)
  end
  self:show_state()
  self:count_above()
  return self
end

--- What is clarified in a chat, and how.
---@param id string as the frontmatter has it
---@param options winnow.Config
---@return table
local function clarified(id, options)
  return {
    id = id:match('^%w+$') or '',
    folder = options.clarify_folder,
    templates = vim.fn.expand(options.clarify_prompts),
    one_by_one = options.clarify_one_by_one,
  }
end

--- How much a run of this chat may do.
---@param self winnow.Chat
---@param options winnow.Config
---@return winnow.Limits
local function limits(self, options)
  return {
    max_workers = options.run_workers,
    budget = options.run_budget,
    silence = options.run_silence,
    gate = options.run_gate,
    uncommitted = options.run_uncommitted,
    worker = {
      model = '',
      mode = '',
      effort = '',
      budget = 0,
      worktree = options.run_worktree or self.worktree or false,
    },
  }
end

---@param value? string
---@return string
local function default(value)
  return value == 'default' and '' or value or ''
end

--- Tell the host of this chat, as it stands in the text.
function Chat:open()
  local values, own = frontmatter.trusted(self.buf)
  local options = config.get()
  self.cwd = files.place(values.cwd or vim.fn.getcwd())
  local worktree = tree.told(self, values)
  if self.owner then
    return -- its section and its agent are the other's
  end
  local told = self:tell('open', {
    path = self.path,
    cwd = self.cwd,
    agent = values.agent and values.agent:match('^%w+') or options.agent,
    session = values.session or '',
    model = values.model and default(values.model) or options.model,
    effort = (values.effort and default(values.effort) or options.effort):match('^%l*$') or '',
    fast = own and values.fast == 'on',
    -- With a session, Claude has told it; without one, `default` is whatever Claude Code takes.
    mode = (values.session or '') ~= '' and values.mode or default(values.mode),
    configured = options.mode,
    questions = (values.questions or ''):match('^%l+$') or options.questions,
    compact = options.compact,
    budget = options.max_budget,
    sections = self.section and { self.section.id } or {},
    lines = self.section and self.section:left() or {},
    confirmed = self.section and self.section.confirming or -1,
    sent = sent.of(self.path),
    headless = #vim.api.nvim_list_uis() == 0,
    eager = own,
    run = own and (values.run or ''):match('^%l+$') or '',
    task = (self.task or ''):match('^t%d+$') or '',
    clarify = clarified(values.clarify or '', options),
    limits = limits(self, options),
    places = config.places(options),
    worktree = worktree,
    tools = config.offered(options),
  })
  if told and own and not values.session then
    self:set_state('connecting') -- as the host does now, which has to start first
  end
end

return M
