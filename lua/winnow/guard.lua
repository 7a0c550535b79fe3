--- Which keys may answer: only the user's own, for what was on the screen before they were pressed.
---
--- So it is known here since when a thing can be seen, when a key was pressed at the earliest,
--- which presses are one (a key held down, a tap too many), and whether code runs for a key at all
--- or because another process calls.
local log = require('winnow.log')
local say = require('winnow.say')

local M = {}

--- Milliseconds that a thing must have been on the screen before a key can be about it, and within
--- which two presses of the same key are one. 0, for tests of other things: no key waits.
M.pause = 300

local QUIET = 1000 -- milliseconds after a connection from outside in which it may have typed

local SOON = 'That came before the question was on the screen: press again.'
local STILL = 'Too soon: %s'
local TWICE = 'Two presses within %g s are one: press again.'
local FOREIGN = 'Ignored: only your own keys answer, no program; :help winnow-guard'
local THERE = 'Ignored: channel %d (%s) may type; :call chanclose(%d) ends it.'
local GONE = 'Ignored: channel %d (%s) may just have typed: press again.'

---@class winnow.Sight something that the user gets to see; all times are in milliseconds
---@field born number
---@field at? number since when all that was seen of it is on the screen, with nothing typed left
---@field said? string the sentence that it is, if it is one

---@class winnow.Press what was typed last
---@field key string
---@field at number when it was read
---@field came number when it was pressed, at the earliest
---@field before number when the last one was read, if that was of the same key
---@field again? boolean the same key followed

-- What is drawn, and seen once nothing typed is left.
local due = {} ---@type { [1]: winnow.Sight, [2]: fun(): boolean? }[]
local typed = false -- what runs now runs for a key
local free = 0 -- when nothing typed was left to read
local behind = false -- keys came while Neovim was busy: when, nobody knows, but after `free`
local began = 0 -- when the user began what runs: the key, or the `:` of the command line
local press = { key = '', at = 0, came = 0, before = -math.huge } ---@type winnow.Press
local refused = 0 -- when a press that was too early or one too many was read
local inserted = -math.huge -- when a key of Insert mode was read: the last one left it
local back = 0 -- when the user came back from another program's screen
local connected = {} ---@type table<integer, number> when a connection from outside opened
-- The last one; when nothing was left to read that it had typed until then, and in the end.
local newest ---@type { id: integer, name: string, idle?: number, gone?: number }?

---@return number milliseconds
local function now()
  return vim.uv.hrtime() / 1e6
end

--- A thing that nobody has seen yet.
---@return winnow.Sight
function M.sight()
  return { born = now() }
end

-- Time -----------------------------------------------------------------------------------------

local after_key, after_drawing = assert(vim.uv.new_timer()), assert(vim.uv.new_timer())

--- Whether a connection is still open.
---@param connection { id: integer }
---@return boolean
local function is_there(connection)
  return next(vim.api.nvim_get_chan_info(connection.id)) ~= nil
end

local on_safe ---@type fun()

local look = vim.schedule_wrap(function()
  on_safe()
end)

--- Look again after the pause. `SafeState` comes only when something happens, and not in Terminal
--- mode, after `i_CTRL-O`, or while Lua waits.
---@param timer table
local function look_later(timer)
  timer:start(M.pause + 1, 0, look)
end

--- Neovim waits for the user, unless something was typed ahead.
function on_safe()
  typed = false
  local whole, key = pcall(vim.fn.getchar, 1)
  behind = not whole or key ~= 0 -- CTRL-C ends whatever runs, and is read after that
  if behind then
    return
  end
  free = now()
  after_key:stop()
  local seen = due
  due = {}
  for _, one in ipairs(seen) do
    local sight, more = unpack(one)
    if more and more() or not sight.at then
      sight.at = free
      look_later(after_drawing) -- so that a key of then is known to be one of then
    end
  end
  if newest and not newest.gone then
    newest.idle = newest.idle or free
    newest.gone = not is_there(newest) and free or nil
  end
end

--- It is on the screen, or on its way there. A key can be about it after what was typed until now.
---@param sight winnow.Sight
---@param more? fun(): boolean? look at it then, and say whether more of it is seen than before
function M.drawn(sight, more)
  table.insert(due, { sight, more })
  look() -- after the screen is drawn
end

-- Connections ----------------------------------------------------------------------------------

--- What the program behind a connection calls itself.
---@param chan table as nvim_list_chans() has it
---@return string
local function name_of(chan)
  return vim.tbl_get(chan, 'client', 'name') or 'no name'
end

--- Somebody connected to this Neovim.
---@param chan table as nvim_list_chans() has it
local function note(chan)
  if chan.stream == 'socket' and chan.mode == 'rpc' and not connected[chan.id] then
    connected[chan.id] = now()
    newest = { id = chan.id, name = name_of(chan) }
  end
end

--- A connection from outside, no user interface, that may have typed what runs now: one of that
--- moment, which may have ended already, or one that opened since then and is still there.
---@param since number
---@return string? problem
local function stranger(since)
  local screens = {}
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    screens[ui.chan] = true
  end
  for _, chan in ipairs(vim.api.nvim_list_chans()) do
    note(chan) -- keys come before `ChanOpen` when Neovim was busy
    if (connected[chan.id] or 0) > since and not screens[chan.id] then
      return THERE:format(chan.id, name_of(chan), chan.id)
    end
  end
  local last = newest and not screens[newest.id] and newest
  if last and began - (last.gone or is_there(last) and last.idle or math.huge) < QUIET then
    return GONE:format(last.id, last.name)
  end
end

--- Whether what runs now runs for a key.
---@return boolean
function M.by_key()
  return typed
end

--- Whether the user does what runs now; says and logs who else it is.
---@param since? number connections that opened later may type what they like; 0: since the first
--- chat was opened
---@return boolean
function M.is_user(since)
  local problem = not typed and FOREIGN or stranger(since or 0)
  if problem then
    log.write(problem)
    vim.schedule(function()
      say(problem, 'warn') -- not to the caller: `execute()` would take it
    end)
  end
  return not problem
end

--- What is done with what the user is asked for now. Plugins that ask in windows of their own say
--- it after the key, by `vim.schedule()`; without a key since now it is nobody's answer.
---@generic T: function
---@param act T
---@return T
function M.asking(act)
  local asked = typed and now()
  return function(...)
    local was = typed
    typed = was or asked and press.at > asked or false
    act(...)
    typed = was
  end
end

-- Keys -----------------------------------------------------------------------------------------

--- Whether it was on the screen, for so long, when the user began what runs now.
---@param sight winnow.Sight
---@param pause? number milliseconds, if not `M.pause`
---@return boolean
function M.seen(sight, pause)
  local shown = #vim.api.nvim_list_uis() > 0 and sight.at -- not while suspended
  return shown and began - math.max(sight.at, back) >= (pause or M.pause) or false
end

--- Whether what the user does now may be about a thing; says why not, once for a run of presses.
---@param sight winnow.Sight
---@param pause? number for how long it must have been seen, if not for `M.pause`
---@return boolean
function M.allows(sight, pause)
  local still = sight.said and STILL:format(sight.said)
  if not M.is_user(sight.born) then
    return false
  elseif M.pause == 0 then
    return true
  end
  local goes_on = press.came - refused < M.pause -- a run, whatever other keys are in it
  local twice = press.came - press.before < M.pause
  if M.seen(sight, pause) and not (goes_on or twice) then
    return true
  elseif not goes_on then
    say(still or twice and TWICE:format(M.pause / 1000) or SOON, 'warn')
  end
  refused = press.at
  return false
end

--- Whether what the user presses now may still be part of leaving Insert mode: `<Esc>` comes twice
--- by habit.
---@return boolean
function M.is_leaving()
  return press.came - inserted < M.pause * 5 / 3
end

---@return number milliseconds since a key was read
function M.idle()
  return now() - press.at
end

--- The key that runs what runs now, as it was typed.
---@return string
function M.key()
  return press.key
end

--- Do what a press asks for, unless it turns out to be one that goes on: a key that is held down
--- comes a second time after up to two seconds, and then again and again.
---@param act fun()
function M.unless_held(act)
  local this = press
  if M.pause == 0 or this.came - this.before > 7 * M.pause then
    act()
    return
  end
  vim.defer_fn(function()
    M.drawn({ born = 0 }, function() -- when all is read that came meanwhile
      if not this.again then
        act()
      end
    end)
  end, M.pause / 2)
end

---@param keys string as they were typed
local function on_key(_, keys)
  if keys == '' then
    return -- a macro's, or a mapping's: what was typed for it counts
  end
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  local at = now()
  local came = (behind or mode == 't') and free or at
  press.again = keys == press.key
  local before = press.again and press.at or -math.huge
  press = { key = keys, at = at, came = came, before = before }
  typed = true
  if mode == 'i' or mode == 'R' then
    inserted = at
  end
  if mode ~= 'c' and vim.fn.getcmdwintype() == '' then
    began = came
  end
  look_later(after_key)
end

--- Watch keys and connections.
function M.start()
  for _, chan in ipairs(vim.api.nvim_list_chans()) do
    connected[chan.id] = connected[chan.id] or 0
  end
  vim.on_key(on_key, vim.api.nvim_create_namespace('winnow.guard'))
  local group = vim.api.nvim_create_augroup('winnow.guard', {})
  vim.api.nvim_create_autocmd('SafeState', { group = group, callback = on_safe })
  vim.api.nvim_create_autocmd({ 'FocusGained', 'UIEnter' }, {
    group = group,
    callback = function()
      back = now()
    end,
  })
  vim.api.nvim_create_autocmd('ChanOpen', {
    group = group,
    callback = function()
      note(vim.v.event.info)
    end,
  })
end

return M
