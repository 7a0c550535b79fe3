--- What the host may ask of Neovim: one function for each tag of `Effect` in
--- python/winnow/protocol.py.
local M = {}

local say = require('winnow.say')
local transcript = require('winnow.transcript')

--- An effect on a section, which does nothing once that is closed.
---@param act fun(section: winnow.Section, effect: table)
local function on_section(act)
  return function(chat, e)
    if chat.section and chat.section.id == e.section then
      chat.section.confirming = nil -- the host has acted on it
      act(chat.section, e)
    end
  end
end

---@type table<string, fun(chat: winnow.Chat, effect: table)>
M.effects = {
  write = function(chat, e)
    transcript.write(chat, e.text, e.fresh)
  end,
  tool = function(chat, e)
    transcript.tool(chat, e.id, e.line, e.output)
  end,
  section = function(chat, e)
    require('winnow.section').open(chat, e.section, e.lines, e.previews, e.focus, e.edited)
  end,
  verdict = on_section(function(section, e)
    section:judge(e.parts, e.waiting, e.offer)
  end),
  say = function(chat, e)
    say(e.text, e.level)
    if chat and chat.section then
      chat.section:hear(e.text)
    end
  end,
  step = on_section(function(section, e)
    section:step(e.question)
  end),
  reveal = on_section(function(section)
    require('winnow.seen').reveal(section)
  end),
  keep = on_section(function(section, e)
    section:keep(e.question, e.rows)
  end),
  fill = on_section(function(section, e)
    section:fill(e.lines)
  end),
  freeze = on_section(function(section, e)
    section:freeze(e.lines)
  end),
  take = function(chat)
    chat:take()
  end,
  refill = function(chat, e)
    chat:refill(e.text, e.messages)
  end,
  kept = function(chat, e)
    require('winnow.sent').forget(chat.path, e.messages)
  end,
  status = function(chat, e)
    chat.cost, chat.mode, chat.ahead = e.cost, e.mode, e.ahead
    chat:announce(e.pending)
    chat:set_state(e.state)
  end,
  happened = function(chat, e)
    require('winnow.events').fire(chat, e.name, e.data)
  end,
  meta = function(chat, e)
    transcript.meta(chat, e.values)
  end,
  save = function(chat)
    chat:save()
  end,
  visit = function(chat, e)
    if vim.api.nvim_get_current_buf() == chat.buf then -- else the user has gone elsewhere
      require('winnow.keys').open_beside(e.path, e.line)
    end
  end,
  reload = function(_, e)
    require('winnow.reload').reload(e.path)
  end,
  sides = function(_, e)
    require('winnow.sides').open(e.path, e.old, e.new)
  end,
  rules = function(_, e)
    require('winnow.float')(e.lines, 'winnow.rules')
  end,
  decisions = function(_, e)
    require('winnow.decisions').show(e.lines)
  end,
  export = function(_, e)
    require('winnow.decisions').write(e.path, e.files)
  end,
}

-- Effects that wait for the end of a command, by buffer.
local held = {} ---@type table<integer, table[]>

--- Whether the user is in the middle of a command that counts lines: text that came in above a
--- selection, or between the two keys of `dd`, would make it take other lines.
---@param buf integer
---@return boolean
function M.counts_lines(buf)
  local mode = vim.api.nvim_get_mode().mode
  return vim.api.nvim_get_current_buf() == buf
    and (vim.startswith(mode, 'no') or mode:find('^[vVsS\22\19]') ~= nil)
end

--- Whether effects for this buffer wait.
---@param buf integer
---@return boolean
function M.holds(buf)
  return held[buf] ~= nil
end

--- Do something as soon as no such command is under way any more.
---@param buf integer
---@param act fun()
function M.after_command(buf, act)
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'BufEnter' }, {
    callback = function()
      if M.counts_lines(buf) then
        return
      end
      vim.schedule(act) -- not now: an operator may still be at work
      return true
    end,
  })
end

--- Keep effects until the command is over.
local function hold(buf, effect)
  if held[buf] then
    table.insert(held[buf], effect)
    return
  end
  held[buf] = { effect }
  M.after_command(buf, function()
    local batch = held[buf] or {}
    held[buf] = nil
    M.apply(batch)
  end)
end

local function run(chat, effect)
  local ok, problem = xpcall(M.effects[effect.type], debug.traceback, chat, effect)
  if not ok then
    require('winnow.host').log(('%s failed: %s'):format(effect.type, problem))
    say('winnow: a part of the chat could not be shown; :Winnow log says why.', 'error')
    if effect.type == 'section' then
      chat.section = nil
      require('winnow.host').notify('unshown', { chat = effect.chat, section = effect.section })
    end
  end
end

--- Apply a batch in order. One effect that fails does not take the others with it.
---@param batch table[]
function M.apply(batch)
  local chats = require('winnow.chats')
  require('winnow.host').hear()
  for _, effect in ipairs(batch) do
    local chat = chats.get(effect.chat)
    chat = chat and not chat.owner and chat or nil -- what was on its way when it was handed over
    if chat and (M.holds(chat.buf) or M.counts_lines(chat.buf)) then
      hold(chat.buf, effect)
    elseif effect.chat == 0 or chat and vim.api.nvim_buf_is_loaded(chat.buf) then
      run(chat, effect) -- 0: about no chat
    end
  end
end

return M
