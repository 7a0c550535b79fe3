--- For how long calls have run, and what the host tells of those that go on beside the
--- conversation: drawn behind their lines, anew every second. Nothing of it is text, so it costs
--- the user's undo nothing.
local duration = require('winnow.chat.duration')
local grammar = require('winnow.grammar')
local registry = require('winnow.registry')
local tool_ = require('winnow.chat.tool')
local transcript = require('winnow.chat.transcript')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.running')

local SLOW = 2 -- seconds from which on they are said of what the host tells nothing of
local ENOUGH = 30 -- that are drawn anew in each second; the others are when they are told anew
local WORKS = { working = true, waiting = true }

---@class winnow.Running the calls of a chat that run
---@field lines table<string, true> whose line says so
---@field told winnow.LiveCall[] of which the host tells more
---@field ticks boolean

local all = setmetatable({}, { __mode = 'k' }) ---@type table<winnow.Chat, winnow.Running>

---@param chat winnow.Chat
---@return winnow.Running
local function of(chat)
  all[chat] = all[chat] or { lines = {}, told = {}, ticks = false }
  return all[chat]
end

--- Columns behind a call's line, in the window that has fewest there.
---@param chat winnow.Chat
---@param row integer
---@param line string
---@return integer
local function room(chat, row, line)
  local least = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    local last = vim.fn.screenpos(win, row + 1, #line).endcol
    local info = vim.fn.getwininfo(win)[1]
    least = last > 0 and math.min(least, info.wincol + info.width - 2 - last) or least
  end
  return least
end

--- Say behind a call's line since when it runs, and what else there is to say.
---@param chat winnow.Chat
---@param id string
---@param seconds number
---@param what string
---@param anew? boolean look for the line, should somebody have written the text anew
local function say(chat, id, seconds, what, anew)
  local tool = chat.tools[id]
  local row = tool and (anew and transcript.row(chat, id) or transcript.marked(chat, tool))
  if row then
    local passed = duration.words(math.max(0, math.floor(seconds)))
    local told = what == '' and passed or passed .. ' · ' .. what
    local columns = room(chat, row, tool.line)
    local fits = columns >= #passed -- else it goes on in the next row, and is not cut off
    local shown = fits and tool_.beginning(told, columns) or (' '):rep(columns + 1) .. passed
    vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, fits and 0 or #tool.line, {
      virt_text = { { shown, 'WinnowStatus' } },
      virt_text_pos = fits and 'eol' or 'inline',
      hl_mode = 'combine',
    })
  end
end

--- For how long a call's line has said that it runs.
---@param chat winnow.Chat
---@param id string
---@return number seconds 0: nobody knows, or it runs no more
local function seconds_of(chat, id)
  local since = vim.tbl_get(chat.tools, id, 'since')
  return since and (vim.uv.now() - since) / 1000 or 0
end

--- Draw what runs. The host tells of a call since it has heard more of it, which may be later.
---@param chat winnow.Chat
---@param anew? boolean
local function draw(chat, anew)
  local running = of(chat)
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  local told = {} ---@type table<string, true>
  for i, call in ipairs(running.told) do
    told[call.id] = true
    if i <= ENOUGH then
      local seconds = math.max(os.time() - call.since, seconds_of(chat, call.id))
      say(chat, call.id, seconds, call.text, anew)
    end
  end
  for id in pairs(running.lines) do
    local seconds = seconds_of(chat, id)
    if seconds >= SLOW and not told[id] then
      say(chat, id, seconds, '')
    end
  end
end

--- Whether any of it changes with time.
---@param chat winnow.Chat
---@return boolean
local function goes_on(chat)
  local running = of(chat)
  return #running.told > 0 or next(running.lines) ~= nil and WORKS[chat.state] or false
end

---@param chat winnow.Chat
local function tick(chat)
  local loaded = vim.api.nvim_buf_is_loaded(chat.buf)
  if loaded and registry.get(chat.buf) == chat and goes_on(chat) then
    if #vim.fn.win_findbuf(chat.buf) > 0 then
      draw(chat)
    end
    vim.defer_fn(function()
      tick(chat)
    end, 1000)
    return
  end
  of(chat).ticks = false
  if loaded then
    vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  end
end

--- Draw every second from now on, as long as something runs.
---@param chat winnow.Chat
local function begin(chat)
  local running = of(chat)
  if not running.ticks then
    running.ticks = true
    vim.defer_fn(function()
      tick(chat)
    end, 1000)
  end
end

--- The host tells what goes on, all of it.
---@param chat winnow.Chat
---@param calls winnow.LiveCall[]
function M.show(chat, calls)
  of(chat).told = calls
  draw(chat, true)
  if #calls > 0 then
    begin(chat)
  end
end

--- A tool's line was written: it runs from now on, or no more.
---@param chat winnow.Chat
---@param id string
---@param waits boolean something else is said behind it
function M.follow(chat, id, waits)
  local tool = chat.tools[id]
  if not tool then
    return -- its line was taken away
  end
  local runs = not waits and vim.endswith(tool.line, ' ' .. grammar.RUNNING)
  runs = runs and not vim.startswith(tool.line, transcript.TODO)
  local was = tool.since
  tool.since = runs and (was or vim.uv.now()) or nil
  of(chat).lines[id] = runs or nil
  if was and not runs then
    draw(chat)
  elseif runs then
    begin(chat)
  end
end

--- The call whose line the cursor is on.
---@param chat winnow.Chat
---@return string? id
function M.call_here(chat)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  if not vim.startswith(chat:lines(row, row + 1)[1] or '', grammar.TOOL) then
    return nil
  end
  for id in pairs(chat.tools) do
    if transcript.row(chat, id) == row then
      return id
    end
  end
end

return M
