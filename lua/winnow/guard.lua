--- Which keys may answer: only the user's own, for what was on the screen before they were pressed.
---
--- So it is known here since when a thing can be seen, which presses are one (a key held down, a
--- tap too many), and whether code runs for a key at all or because another process calls.
local log = require('winnow.log')
local say = require('winnow.say')

local M = {}

--- Milliseconds that a thing must have been on the screen before a key can be about it, and within
--- which two presses of the same key are one. 0, for tests of other things: no key waits.
M.pause = 300

local QUIET = 1000 -- milliseconds after a connection from outside in which it may have typed

local SOON = 'That came before the question was on the screen: press again.'
local FOREIGN = 'Ignored: only your own keys answer, and %s.'

---@class winnow.Sight something that the user gets to see; all times are in milliseconds
---@field born number
---@field at? number when it was on the screen, and nothing typed was left to do

local due = {} ---@type { [1]: winnow.Sight, [2]: fun()? }[] drawn: seen once nothing typed is left
local typed = false -- what runs now runs for a key
local began = 0 -- when the user began it: the key, or the `:` of the command line
local press = { key = '', at = 0, gap = math.huge } -- the last key; `gap`: since the same one
local connected = {} ---@type table<integer, number> when a connection from outside opened
-- The last one; `idle`: since when it could not have typed ahead.
local newest ---@type { id: integer, name: string, idle?: number }?

---@return number milliseconds
local function now()
  return vim.uv.hrtime() / 1e6
end

--- A thing that nobody has seen yet.
---@return winnow.Sight
function M.sight()
  return { born = now() }
end

--- It is on the screen, or on its way there. A key can be about it after what was typed until now.
---@param sight winnow.Sight
---@param look? fun() what to do then
function M.drawn(sight, look)
  table.insert(due, { sight, look })
  vim.schedule(function() end) -- so that `SafeState` comes again, after the screen is drawn
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

--- A connection from outside, no user interface, that may have typed what was just read: one of
--- this moment, which may have ended already, or one that opened since then and is still there.
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
      local who = name_of(chan)
      return ('a program (channel %d, %s) connected after this was asked'):format(chan.id, who)
    end
  end
  if newest and not screens[newest.id] and now() - (newest.idle or now()) < QUIET then
    return ('a program (channel %d, %s) just connected'):format(newest.id, newest.name)
  end
end

--- Whether the user does what runs now; says and logs who else it is.
---@param since? number connections that opened later may type what they like
---@return boolean
function M.is_user(since)
  local problem = not typed and 'this came from a program' or stranger(since or now())
  if problem then
    local sentence = FOREIGN:format(problem)
    log.write(sentence)
    vim.schedule(function()
      say(sentence, 'warn') -- not to the caller: `execute()` would take it
    end)
  end
  return not problem
end

-- Keys -----------------------------------------------------------------------------------------

--- Whether what the user does now may be about a thing; says why not, unless it is the same press.
---@param sight winnow.Sight
---@param pause? number for how long it must have been seen, if not for `M.pause`
---@return boolean
function M.allows(sight, pause)
  if not M.is_user(sight.born) then
    return false
  elseif M.pause == 0 then
    return true
  elseif press.gap < M.pause then
    return false
  elseif not sight.at or began - sight.at < (pause or M.pause) then
    say(SOON, 'warn')
    return false
  end
  return true
end

--- Do what a press asks for, unless it turns out to be one that goes on: a key that is held down
--- comes a second time after up to a second, and then again and again.
---@param act fun()
function M.unless_held(act)
  if press.gap > 4 * M.pause then
    act()
    return
  end
  local this = press
  vim.defer_fn(function()
    if press == this or press.key ~= this.key then
      act()
    end
  end, M.pause / 2)
end

---@param key string after mappings
---@param keys string as they were typed
local function on_key(key, keys)
  local at = now()
  if keys ~= '' then -- else a macro's, or a mapping's
    key, typed = keys, true
    if vim.api.nvim_get_mode().mode:sub(1, 1) ~= 'c' and vim.fn.getcmdwintype() == '' then
      began = at
    end
  end
  press = { key = key, at = at, gap = key == press.key and at - press.at or math.huge }
end

--- Neovim waits for the user, if nothing was typed ahead.
local function on_safe()
  typed = false
  local greeted = not newest or newest.idle
  if #due == 0 and greeted or vim.fn.getchar(1) ~= 0 then
    return
  end
  local seen = due
  due = {}
  for _, one in ipairs(seen) do
    local sight, look = unpack(one)
    sight.at = sight.at or now()
    if look then
      look()
    end
  end
  if newest then
    newest.idle = newest.idle or now()
  end
end

--- Watch keys and connections.
function M.start()
  for _, chan in ipairs(vim.api.nvim_list_chans()) do
    connected[chan.id] = 0
  end
  vim.on_key(on_key, vim.api.nvim_create_namespace('winnow.guard'))
  local group = vim.api.nvim_create_augroup('winnow.guard', {})
  vim.api.nvim_create_autocmd('SafeState', { group = group, callback = on_safe })
  vim.api.nvim_create_autocmd('ChanOpen', {
    group = group,
    callback = function()
      note(vim.v.event.info)
    end,
  })
end

return M
