--- Lists: buffers in which lines are things, kept up to date while they are open. What
--- the user does is done when the buffer is written; until then it shows nothing new.
local glance = require('winnow.views.glance')
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local hints = require('winnow.hints')
local kinds = require('winnow.views.kinds')
local marker = require('winnow.section.marker')
local page = require('winnow.views.page')
local quiet = require('winnow.quiet')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

--- What is special to a list.
---@class winnow.ListKind
---@field key? fun(line: string): string? which thing a line is
---@field filetype? string
---@field guarded? boolean only the user may have its lines done, and only those that were seen
---@field pick? fun(line: string, key: string, peek: boolean) go to it, or look at it
---@field go? fun(list: winnow.List) the same, where lines are more than things
---@field unsaved? fun(): string[] files whose edits the host has to know of
---@field undoes? boolean `u` takes back what was done, too
---@field hint? string what can be done to its lines
---@field dress? fun(buf: integer) what its buffer has besides
---@field wraps? boolean a thing may need several rows, and is to be seen whole
---@field window? table<string, any> options of its windows, besides
---@field fold? fun(lines: string[], anew: boolean) fold them in the current window, if need be

---@class winnow.List
---@field name string
---@field of integer the buffer of the chat whose list it is; 0: it is about all of them
---@field buf integer
---@field kind winnow.ListKind
---@field latest string[] as the host gave it last
---@field written string[] what stands there, but for the user's edits
---@field sights table<string, winnow.Sight> since when its things can be seen, where that matters
---@field coming? string[] lines of which more are to come
---@field asked boolean the host has yet to say what comes of those
local List = {}
List.__index = List

local namespace = vim.api.nvim_create_namespace('winnow.list')
local lists = {} ---@type table<string, winnow.List> by the names of their buffers

---@param line string
---@return string?
local function key_of(line)
  local found = marker.of(line)
  return found and found.slot == grammar.LINE and found.id or nil
end

---@param name string
---@param of integer
---@return string
local function title(name, of)
  return 'winnow://' .. name .. (of > 0 and '/' .. of or '')
end

---@param name string
---@param of? integer
---@return winnow.List?
function M.get(name, of)
  local list = lists[title(name, of or 0)]
  return list and vim.api.nvim_buf_is_loaded(list.buf) and list or nil
end

--- Tell the host something about it.
---@param kind winnow.EventType
---@param event table its fields
function List:tell(kind, event)
  event.name, event.of = self.name, self.of
  page.tell(kind, event)
end

---@return string[]
function List:lines()
  return vim.api.nvim_buf_get_lines(self.buf, 0, -1, false)
end

-- Shown -----------------------------------------------------------------------------------------

--- Where a thing stands now: mostly where it was, so that not all lines are read each time.
---@param lines string[]
---@param key fun(line: string): string?
---@param was { key?: string, view: table }
---@return integer? row from 1
local function find(lines, key, was)
  if key(lines[was.view.lnum] or '') == was.key then
    return was.view.lnum
  end
  for row, line in ipairs(lines) do
    if key(line) == was.key then
      return row
    end
  end
end

--- Put lines in the place of those that differ; each cursor stays on its thing.
---@param lines string[]
function List:replace(lines)
  local before, key = self:lines(), self.kind.key or key_of
  local on = {} ---@type table<integer, { key?: string, view: table }>
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    on[win] = { key = key(before[view.lnum] or ''), view = view }
  end
  local old, new = table.concat(before, '\n') .. '\n', table.concat(lines, '\n') .. '\n'
  local hunks = vim.diff(old, new, { result_type = 'indices' }) --[[@as integer[][] ]]
  page.write_beside(self.buf, self.kind.undoes, function()
    for i = #hunks, 1, -1 do
      local first, count, from, size = unpack(hunks[i])
      local row = count == 0 and first or first - 1
      local block = vim.list_slice(lines, from, from + size - 1)
      vim.api.nvim_buf_set_lines(self.buf, row, row + count, false, block)
    end
  end)
  self.written = lines
  for win, was in pairs(on) do
    vim.api.nvim_win_call(win, function()
      was.view.lnum = was.key and find(lines, key, was) or math.min(was.view.lnum, #lines)
      if self.kind.fold then
        self.kind.fold(lines, true)
      end
      vim.fn.winrestview(was.view)
    end)
  end
  window.stays(self.buf)
  self:show_hint()
  self:look()
end

--- Say below the lines what can be done to them.
function List:show_hint()
  local last = vim.api.nvim_buf_line_count(self.buf) - 1
  if self.kind.hint then
    local some = last > 0 or (self.kind.key or key_of)(self:lines()[1])
    local rows = hints.in_lines(hints.wrapped(self.kind.hint, window.text_width(self.buf)))
    local mark = { id = 1, virt_lines = some and rows or nil }
    vim.api.nvim_buf_set_extmark(self.buf, namespace, last, 0, mark)
  end
end

--- The user has changed something: maybe all is again as it was, and new lines can be shown.
function List:changed()
  if not self.asked and vim.deep_equal(self:lines(), self.written) then
    vim.bo[self.buf].modified = false
    self:show(self.latest)
  end
  self:show_hint()
end

--- See what is on the screen, where that matters.
function List:look()
  if self.kind.guarded then
    glance.look(self)
  end
end

--- The host's lines. They wait while the user edits them, or is in the middle of a command.
---@param lines string[]
---@param done? boolean what the user wanted is done
function List:show(lines, done)
  self.latest = #lines > 0 and lines or { '' }
  self.asked = self.asked and not done
  if vim.bo[self.buf].modified or self.asked then
    return
  elseif quiet.counts_lines(self.buf) then
    quiet.after_command(self.buf, function()
      self:show(self.latest)
    end)
  else
    self:replace(self.latest)
  end
end

--- A piece of the host's lines, or all of them.
---@param e winnow.effect.Listed
function List:hear(e)
  if e.at == 0 and not e.more then
    self.coming = nil
    self:show(e.lines, e.done)
    return
  end
  self.coming = vim.list_extend(e.at > 0 and self.coming or {}, e.lines)
  if not e.more then
    local lines = self.coming
    self.coming = nil
    self:show(lines, e.done)
  end
end

--- The host's answer to a list that was written: a line that can't be understood, and nothing is
--- done.
---@param row integer from 0
---@param sentence string
function List:refuse(row, sentence)
  self.asked = false
  vim.bo[self.buf].modified = true
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    local last = vim.api.nvim_buf_line_count(self.buf)
    vim.api.nvim_win_set_cursor(win, { math.min(row + 1, last), 0 })
  end
  say(('Line %d: %s'):format(row + 1, sentence), 'error')
end

--- The host's answer to a list that was written: is that meant?
---@param sentence string a question
function List:ask(sentence)
  self.asked = false
  if vim.fn.confirm(sentence, '&Yes\n&No', 2) == 1 then
    self:write(true)
  else
    vim.bo[self.buf].modified = true
  end
end

-- What the user does ----------------------------------------------------------------------------

--- Have done what the lines ask for.
---@param force? boolean without being asked
function List:write(force)
  if self.kind.guarded and not guard.is_user() then
    return -- it said so
  end
  self.asked = true
  local event = { before = self.written, lines = self:lines(), force = force or false }
  event.unseen = self.kind.guarded and glance.unseen(self) or {}
  event.unsaved = self.kind.unsaved and self.kind.unsaved() or {}
  self:tell('editlist', event)
  vim.bo[self.buf].modified = false
end

--- Go to what the line under the cursor is about, or look at it.
---@param peek boolean
function List:pick(peek)
  if self.kind.go then
    self.kind.go(self)
    return
  end
  local line = vim.api.nvim_get_current_line()
  local key = (self.kind.key or key_of)(line)
  if not key and not peek then -- K would look for a manual
    vim.cmd.normal({ vim.v.count1 .. '\r', bang = true })
  elseif not key then
    return
  elseif self.kind.pick then
    self.kind.pick(line, key, peek)
  else
    self:tell('pickline', { key = key, peek = peek })
  end
end

-- Markers are hidden, and a thing is one row.
local WINDOW = { conceallevel = 3, concealcursor = 'nvic', wrap = false, list = false }

--- Set the options for lists in this window; other buffers of the window keep theirs.
function List:dress()
  local wraps = self.kind.wraps and window.WRAPPED or {}
  local options = vim.tbl_extend('force', WINDOW, wraps, self.kind.window or {})
  for name, value in pairs(options) do
    vim.wo[0][0][name] = value
  end
  if self.kind.fold then
    self.kind.fold(self:lines(), false)
  end
  self:look()
end

--- Colours, which hide markers and which `:edit` takes, and what else its kind has.
function List:colour()
  vim.bo[self.buf].filetype = self.kind.filetype or 'winnowlist'
  if self.kind.dress then
    self.kind.dress(self.buf)
  end
end

function List:watch()
  local group = vim.api.nvim_create_augroup(title(self.name, self.of), {})
  ---@param events string|string[]
  ---@param act fun(event: table)
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = self.buf, callback = act })
  end
  on('BufWriteCmd', function()
    self:write(vim.v.cmdbang == 1)
  end)
  on('BufReadCmd', function()
    self:colour()
    self:tell('watchlist', { open = true })
  end)
  on({ 'TextChanged', 'InsertLeave' }, function()
    self:changed()
  end)
  on('BufModifiedSet', function()
    self:show(self.latest) -- maybe all was undone
  end)
  on({ 'BufWinEnter', 'WinEnter' }, function()
    self:dress()
  end)
  on({ 'CursorMoved', 'WinScrolled' }, function()
    self:look()
  end)
  on('BufUnload', function()
    self:tell('watchlist', { open = false })
  end)
end

function List:map()
  for key, what in pairs({ ['<CR>'] = 'open', ['<2-LeftMouse>'] = 'open', K = 'look at' }) do
    vim.keymap.set('n', key, function()
      self:pick(key == 'K')
    end, { buffer = self.buf, nowait = true, desc = ('Winnow: %s this'):format(what) })
  end
end

--- Make its buffer.
---@param name string
---@param of integer
---@param kind winnow.ListKind
---@return winnow.List
local function make(name, of, kind)
  local buf = vim.api.nvim_create_buf(true, false)
  local list = { name = name, of = of, buf = buf, kind = kind }
  local self = setmetatable(list, List) --[[@as winnow.List]]
  self.latest, self.written, self.asked, self.sights = { '' }, { '' }, false, {}
  lists[title(name, of)] = self
  vim.api.nvim_buf_set_name(buf, title(name, of))
  local options = vim.bo[buf]
  options.buftype, options.swapfile, options.bufhidden = 'acwrite', false, 'hide'
  options.undofile, options.modifiable = false, true -- whatever :set said
  self:watch()
  self:map()
  self:colour()
  return self
end

--- Open a list; its lines follow.
---@param name string
---@param of? integer the buffer of the chat whose list it is
---@param mods? table command modifiers
---@param kind? winnow.ListKind
function M.open(name, of, mods, kind)
  local list = M.get(name, of) or make(name, of or 0, kind or kinds[name] or {})
  list:tell('watchlist', { open = true }) -- the host reads while the window is made
  window.show(list.buf, mods)
end

return M
