--- The board: all runs and their tasks as lines of a buffer, kept up to date while it is open. What
--- the user does to the lines is done when the buffer is written; until then it shows nothing new.
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local page = require('winnow.views.page')
local quiet = require('winnow.quiet')
local say = require('winnow.say')
local task = require('winnow.views.task')
local window = require('winnow.window')

local M = {}

local NAME = 'winnow://board'
local latest = {} ---@type string[] as the host gave it last
local written = {} ---@type string[] what stands there, but for the user's edits
local asked = false -- the host has yet to say what comes of those

---@return integer? buf if it is there
local function buffer()
  local buf = vim.fn.bufnr(NAME)
  return buf ~= -1 and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---@param buf integer
---@return string[]
local function lines_of(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- What a line is about.
---@param line string
---@return string? run
---@return string? task empty: the run itself
local function about(line)
  local found = marker.of(line)
  if not found then
    return
  elseif found.slot == grammar.TASK then
    return found.id, 't' .. found.question
  elseif found.slot == grammar.HEAD then
    return found.id, ''
  end
end

-- Shown -----------------------------------------------------------------------------------------

--- The row of each task's line.
---@param lines string[]
---@return table<string, integer>
local function rows_of(lines)
  local rows = {}
  for row, line in ipairs(lines) do
    local run, id = about(line)
    if run then
      rows[run .. id] = row
    end
  end
  return rows
end

--- Put lines in the place of those that differ; each cursor stays on its task.
---@param buf integer
---@param lines string[]
local function write(buf, lines)
  local before = lines_of(buf)
  local on = {} ---@type table<integer, { key: string, view: table }>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    local run, id = about(before[view.lnum] or '')
    on[win] = { key = run and run .. id or '', view = view }
  end
  local options = vim.bo[buf]
  local levels = options.undolevels
  options.undolevels = -1 -- what the host shows is nothing to undo
  local old, new = table.concat(before, '\n') .. '\n', table.concat(lines, '\n') .. '\n'
  local hunks = vim.diff(old, new, { result_type = 'indices' }) --[[@as integer[][] ]]
  for i = #hunks, 1, -1 do
    local first, count, from, size = unpack(hunks[i])
    local row = count == 0 and first or first - 1
    local block = vim.list_slice(lines, from, from + size - 1)
    vim.api.nvim_buf_set_lines(buf, row, row + count, false, block)
  end
  options.undolevels = levels
  options.modified = false
  written = lines
  local rows = rows_of(lines)
  for win, was in pairs(on) do
    vim.api.nvim_win_call(win, function()
      was.view.lnum = rows[was.key] or math.min(was.view.lnum, #lines)
      vim.fn.winrestview(was.view)
    end)
  end
end

--- The host's lines. They wait while the user edits them, or is in the middle of a command.
---@param lines string[]
---@param done? boolean what the user wanted is done
function M.show(lines, done)
  latest = lines
  asked = asked and not done
  local buf = buffer()
  if not buf or vim.bo[buf].modified or asked then
    return
  elseif quiet.counts_lines(buf) then
    quiet.after_command(buf, function()
      M.show(latest)
    end)
  else
    write(buf, lines)
  end
end

--- The host's answer to a board that was written: a line that can't be understood, and nothing is
--- done.
---@param row integer from 0
---@param sentence string
function M.refuse(row, sentence)
  local buf = buffer()
  asked = false
  if buf then
    vim.bo[buf].modified = true
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      local last = vim.api.nvim_buf_line_count(buf)
      vim.api.nvim_win_set_cursor(win, { math.min(row + 1, last), 0 })
    end
  end
  say(('Line %d: %s'):format(row + 1, sentence), 'error')
end

--- The host's answer to a board that was written: work would stop.
---@param sentence string a question
function M.ask(sentence)
  local buf = buffer()
  asked = false
  if not buf then
    return
  elseif vim.fn.confirm(sentence, '&Stop\n&Keep', 2) == 1 then
    M.write(true)
  else
    vim.bo[buf].modified = true
  end
end

-- What the user does ----------------------------------------------------------------------------

--- Have done what the lines ask for.
---@param force? boolean work may stop
function M.write(force)
  local buf = buffer()
  if buf then
    asked = true
    page.tell('editboard', { before = written, lines = lines_of(buf), force = force or false })
    vim.bo[buf].modified = false
  end
end

--- Open what the line under the cursor is about: a task, or the chat of a run.
local function open()
  local run, id = about(vim.api.nvim_get_current_line())
  if run and id ~= '' then
    task.open(run, id or '')
  elseif run then
    page.tell('gotorun', { run = run })
  else
    vim.cmd.normal({ vim.v.count1 .. '\r', bang = true })
  end
end

--- Look at it without leaving.
local function peek()
  local run, id = about(vim.api.nvim_get_current_line())
  if run then
    page.tell('peek', { run = run, task = id })
  end
end

-- Markers are hidden, and a task is one row.
local WINDOW = { conceallevel = 3, concealcursor = 'nvic', wrap = false, list = false }

--- Set the options for the board in this window; other buffers of the window keep theirs.
local function dress()
  for name, value in pairs(WINDOW) do
    vim.wo[0][0][name] = value
  end
end

---@param buf integer
local function watch(buf)
  local group = vim.api.nvim_create_augroup('winnow.board', {})
  ---@param events string|string[]
  ---@param act fun(event: table)
  local function on(events, act)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = act })
  end
  on('BufWriteCmd', function()
    M.write(vim.v.cmdbang == 1)
  end)
  on('BufReadCmd', function()
    page.tell('watchboard', { open = true })
  end)
  on('BufModifiedSet', function()
    M.show(latest) -- maybe all was undone
  end)
  on({ 'BufWinEnter', 'WinEnter' }, dress)
  on('BufUnload', function()
    page.tell('watchboard', { open = false })
  end)
end

---@param buf integer
local function map(buf)
  ---@param key string
  ---@param act fun()
  ---@param what string
  local function set(key, act, what)
    vim.keymap.set('n', key, act, { buffer = buf, nowait = true, desc = 'Winnow: ' .. what })
  end
  set('<CR>', open, 'open this task')
  set('<2-LeftMouse>', open, 'open this task')
  set('K', peek, 'look at this task')
end

--- Open the board; its lines follow.
---@param mods? table command modifiers
function M.open(mods)
  page.tell('watchboard', { open = true }) -- the host reads while the buffer is made
  local buf = buffer()
  if not buf then
    buf = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_buf_set_name(buf, NAME)
    local options = vim.bo[buf]
    options.buftype, options.swapfile, options.bufhidden = 'acwrite', false, 'hide'
    options.undofile, options.modifiable = false, true -- whatever :set said
    watch(buf)
    map(buf)
    options.filetype = 'winnowboard'
  end
  window.show(buf, mods)
end

return M
