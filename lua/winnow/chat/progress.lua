--- What a turn does, told to Neovim itself where it can be (0.12): the buffer is 'busy', and a
--- progress message says what goes on, at most once a second over all chats. It is in no message
--- history, has room in one line, and stays away while something is typed on that line.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local tool = require('winnow.chat.tool')

local M = {}

local PAUSE = 1000 -- milliseconds between two messages
local ROOM = 20 -- columns that the title's sign, 'showcmd' and the ruler may want
local RUNS = { working = true, waiting = true }
local WAITS = 'waits for your answer'

---@alias winnow.Ending 'success'|'failed'|'cancel'

---@class winnow.Progress of one turn
---@field chat winnow.Chat
---@field title string
---@field text string
---@field status 'running'|winnow.Ending
---@field how? winnow.Ending how the turn ended, before its state says that it is over
---@field id? integer|string of the message
---@field due boolean it is to be told

local turns = {} ---@type table<integer, winnow.Progress> by the chat's buffer
local can ---@type boolean? nil: nobody has tried
local timer = assert(vim.uv.new_timer())
local last = -math.huge -- when the last one was told

--- Count a buffer among the busy ones, or no more; others may have counted it, too.
---@param buf integer
---@param step 1|-1
local function busy(buf, step)
  pcall(function() -- where there is no such option
    local now = vim.api.nvim_get_option_value('busy', { buf = buf })
    vim.api.nvim_set_option_value('busy', math.max(0, now + step), { buf = buf })
  end)
end

--- As much of a text as there are columns.
---@param text string
---@param columns integer
---@return string
local function short(text, columns)
  text = vim.fn.strtrans(text)
  if vim.fn.strdisplaywidth(text) <= columns then
    return text
  end
  while text ~= '' and vim.fn.strdisplaywidth(text) >= columns do
    text = vim.fn.strcharpart(text, 0, vim.fn.strcharlen(text) - 1)
  end
  return text .. '…'
end

--- Have Neovim show it. What it can't be told by its version, a try tells.
---@param turn winnow.Progress
local function echo(turn)
  local room = math.max(10, vim.o.columns - ROOM)
  local title = short(turn.title, math.floor(room / 2))
  local text = short(turn.text, room - vim.fn.strdisplaywidth(title))
  local opts = { kind = 'progress', status = turn.status, title = title, id = turn.id }
  for _, source in ipairs({ 'winnow', false }) do
    opts.source = source or nil
    local done, id = pcall(vim.api.nvim_echo, { { text } }, false, opts)
    if done then
      can, turn.id = true, id or turn.id
      return
    end
  end
  can = false
end

--- Whether a message would disturb: one is being typed on its line, or asks for a key.
---@return boolean
local function disturbs()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or mode.mode:find('^[cr!]') ~= nil or vim.fn.getcmdwintype() ~= ''
end

--- The turn that is to be told now: that of the buffer in front, or one that has ended.
---@return winnow.Progress?
local function next_turn()
  local here, found = turns[vim.api.nvim_get_current_buf()], nil
  for _, turn in pairs(turns) do
    if turn.due and (not found or turn == here or found ~= here and turn.status ~= 'running') then
      found = turn
    end
  end
  return found
end

local tell_soon ---@type fun()

local function tell()
  local turn = next_turn()
  if turn and not disturbs() then
    last, turn.due = vim.uv.now(), false
    echo(turn)
    if turn.status ~= 'running' then
      turns[turn.chat.buf] = nil
    end
  end
  if next_turn() and can ~= false then
    tell_soon()
  end
end

function tell_soon()
  if not timer:is_active() then
    local wait = math.max(disturbs() and PAUSE or 0, last + PAUSE - vim.uv.now(), 0)
    timer:start(wait, 0, vim.schedule_wrap(tell))
  end
end

--- Say something else of a turn.
---@param turn winnow.Progress
---@param text string
---@param status? winnow.Ending
local function say(turn, text, status)
  if can ~= false and (turn.text ~= text or status) then
    turn.text, turn.status, turn.due = text, status or 'running', true
    tell_soon()
  end
end

--- What the chat is about: its title, or where it is.
---@param chat winnow.Chat
---@return string
local function title_of(chat)
  local title = (frontmatter.read(chat.buf) or {}).title
  return title and title ~= '' and title or ('Claude · %s'):format(vim.fs.basename(chat.cwd or ''))
end

local SAID = { success = 'done', failed = 'failed', cancel = 'stopped' }

--- The state of a chat is another one.
---@param chat winnow.Chat
---@param state string
function M.state(chat, state)
  local turn = turns[chat.buf]
  if RUNS[state] then
    if not turn or turn.status ~= 'running' then
      turn = { chat = chat, title = title_of(chat), text = '', status = 'running', due = false }
      turns[chat.buf] = turn
      busy(chat.buf, 1)
    end
    turn.chat = chat
    say(turn, state == 'waiting' and WAITS or 'working')
  elseif turn and turn.status == 'running' then
    busy(chat.buf, -1)
    local how = turn.how or state == 'failed' and 'failed' or 'success'
    say(turn, SAID[how], how)
    turns[chat.buf] = can ~= false and turn or nil
  end
end

--- A tool's line was written: one that runs is what is done now.
---@param chat winnow.Chat
---@param line string
function M.tool(chat, line)
  local turn = turns[chat.buf]
  local parts = turn and turn.status == 'running' and can ~= false and tool.parse(line)
  if turn and parts and parts.state == grammar.RUNNING then
    say(turn, (parts.call:gsub('^' .. grammar.TOOL .. ' ', '')))
  end
end

--- A turn has ended: how, which its state does not say.
---@param chat winnow.Chat
---@param data { stopped: boolean, error: string }
function M.ended(chat, data)
  local turn = turns[chat.buf]
  if turn then
    turn.how = data.stopped and 'cancel' or data.error ~= '' and 'failed' or 'success'
  end
end

return M
