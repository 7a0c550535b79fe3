--- What the host may ask of Neovim: one function for each tag of `Effect` in
--- python/winnow/protocol/effects.py. What is about no chat has none.
require('winnow.editor.fresh')

local M = {}

local agent = require('winnow.views.agent')
local aside = require('winnow.views.aside')
local branches = require('winnow.chat.branches')
local chats = require('winnow.chats')
local context = require('winnow.context.list')
local decisions = require('winnow.views.decisions')
local engine = require('winnow.engine')
local events = require('winnow.events')
local files = require('winnow.chat.files')
local follow = require('winnow.chat.follow')
local host = require('winnow.host')
local kept = require('winnow.views.kept')
local library = require('winnow.library')
local lists = require('winnow.views.list')
local log = require('winnow.log')
local offers = require('winnow.context.offers')
local progress = require('winnow.chat.progress')
local quiet = require('winnow.quiet')
local registry = require('winnow.registry')
local reload = require('winnow.reload')
local rewind = require('winnow.rewind')
local running = require('winnow.chat.running')
local say = require('winnow.say')
local section = require('winnow.section')
local seen = require('winnow.section.seen')
local sent = require('winnow.chat.sent')
local sides = require('winnow.views.sides')
local timeline = require('winnow.views.timeline')
local transcript = require('winnow.chat.transcript')
local tree = require('winnow.chat.tree')
local uninterrupted = require('winnow.uninterrupted')
local window = require('winnow.window')

--- An effect on a section, which does nothing once that is closed.
---@generic E
---@param act fun(section: winnow.Section, effect: E)
---@return fun(chat: winnow.Chat, effect: E)
local function on_section(act)
  return function(chat, e)
    if chat.section and chat.section.id == e.section then
      if e.type ~= 'verdict' or e.acted then -- not that of an edit which came before the <CR>
        chat.section.confirming = nil -- the host has acted on it
      end
      act(chat.section, e)
    end
  end
end

--- An effect on a list, which does nothing once that is closed.
---@generic E
---@param act fun(list: winnow.List, effect: E)
---@return fun(chat: nil, effect: E)
local function on_list(act)
  return function(_, e)
    local list = lists.get(e.name, e.of)
    if list then
      act(list, e)
    end
  end
end

---@type winnow.Effects
M.effects = {
  write = function(chat, e)
    transcript.write(chat, e.text, e.fresh)
  end,
  tool = function(chat, e)
    transcript.tool(chat, e.id, e.line, e.output, e.seconds)
    running.follow(chat, e.id, (e.seconds or 0) > 0)
    progress.tool(chat, e.line)
  end,
  agentpage = agent.show,
  promoted = function(from, e)
    local cwd, values = tree.of(from)
    values.session = e.session
    local buf = chats.create(e.cwd == from.cwd and cwd or e.cwd, values)
    local chat = registry.get(buf)
    if chat then
      transcript.whole(chat, e.lines)
    end
    window.show(buf)
  end,
  live = function(chat, e)
    running.show(chat, e.calls)
  end,
  section = function(chat, e)
    section.open(chat, e.section, e.lines, e.previews, e.focus, e.edited)
    chat.section.confirming = nil -- a new host has seen it
  end,
  verdict = on_section(function(open, e)
    open:judge(e.parts, e.waiting, e.offer)
  end),
  say = function(chat, e)
    say(e.text, e.level)
    if chat and chat.section then
      chat.section:hear(e.text)
    end
  end,
  notify = function(_, e)
    say(e.text, e.level)
  end,
  move = on_section(function(open, e)
    open:step(e.question)
  end),
  reveal = on_section(seen.reveal),
  delete = on_section(function(open, e)
    open:delete(e.question, e.rows)
  end),
  fill = on_section(function(open, e)
    open:fill(e.lines)
  end),
  freeze = on_section(function(open, e)
    open:freeze(e.lines)
  end),
  take = function(chat)
    chat:take()
  end,
  hold = function(chat, e)
    if e.number == chat.asked then -- else the user has said so when it was on its way
      chat:hold()
    end
  end,
  taken = function(chat, e)
    chat:taken(e.messages)
  end,
  asidesaid = function(_, e)
    aside.said(e.id, e.text, e.done, e.problem)
  end,
  refill = function(chat, e)
    chat:refill(e.text, e.messages)
  end,
  stored = function(chat, e)
    sent.forget(chat.path, e.messages)
  end,
  status = function(chat, e)
    chat.cost, chat.mode, chat.ahead = e.cost, e.mode, e.ahead
    chat.background = e.background
    chat:learn(e)
    chat:announce(e.pending)
    chat:set_state(e.state)
  end,
  happened = function(chat, e)
    if e.name == 'TurnEnd' then
      progress.ended(chat, e.data)
    end
    events.fire(chat, e.name, e.data)
  end,
  meta = function(chat, e)
    transcript.meta(chat, e.values)
    chat.branch = e.values.branch or chat.branch
  end,
  offers = function(chat, e)
    engine.offer(chat, e.models, e.efforts)
  end,
  offered = function(chat, e)
    offers.know(chat.buf, e.commands)
  end,
  unmention = function(chat, e)
    context.remove(chat, e.mentions)
  end,
  save = function(chat)
    chat:save()
  end,
  touched = function(chat, e)
    follow.show(chat, e.path, e.line, e.text)
  end,
  visit = function(chat, e)
    local here, review = vim.api.nvim_get_current_buf(), lists.get('review', chat.buf)
    if here == chat.buf or review and here == review.buf then -- else the user has gone elsewhere
      window.open_beside(files.whole(e.path, chat.cwd), e.line)
    end
  end,
  reload = function(_, e)
    reload.reload(e.path)
  end,
  askunsaved = function(chat)
    chat:tell('unsaved', { paths = rewind.unsaved() })
  end,
  branches = function(chat, e)
    branches.show(chat, e.forks)
  end,
  editorcall = function(_, e)
    require('winnow.editor').call(e) -- most chats get along without
  end,
  editordrop = function(_, e)
    require('winnow.editor').drop(e.id)
  end,
  sides = function(_, e)
    sides.open(e.path, e.old, e.new)
  end,
  rules = function(_, e)
    window.float(e.lines, 'winnow.rules')
  end,
  decisions = function(_, e)
    decisions.show(e.lines)
  end,
  transcript = function(chat, e)
    transcript.whole(chat, e.lines, e.earlier)
  end,
  listed = on_list(function(list, e)
    list:hear(e)
  end),
  listproblem = on_list(function(list, e)
    list:refuse(e.row, e.sentence)
  end),
  listasks = on_list(function(list, e)
    list:ask(e.sentence)
  end),
  peeked = function(_, e)
    window.float(e.lines, 'winnow.peek')
  end,
  pick = function(_, e)
    library.pick(e.name, e.of, e.prompt, e.choices)
  end,
  discard = function(_, e)
    library.discard(e.paths)
  end,
  retitle = function(_, e)
    library.retitle(e.path, e.title)
  end,
  adopt = function(_, e)
    library.adopt(e.cwd, e.values, e.lines, e.draft, e.late)
  end,
  remark = function(chat, e)
    chat:remark(e.text)
  end,
  openchat = function(_, e)
    library.go(e.path)
  end,
  lived = function(_, e)
    timeline.show(e.lines)
  end,
  kepttrees = function(_, e)
    kept.show(e.cwd, e.lines)
  end,
  export = function(_, e)
    decisions.write(e.path, e.files)
  end,
}

-- Effects that wait for the end of a command that counts lines, by buffer.
local held = {} ---@type table<integer, table[]>

--- Whether effects for this buffer wait.
---@param buf integer
---@return boolean
function M.holds(buf)
  return held[buf] ~= nil
end

--- Keep effects until the command is over.
---@param buf integer
---@param effect winnow.Effect
local function hold(buf, effect)
  if held[buf] then
    table.insert(held[buf], effect)
    return
  end
  held[buf] = { effect }
  quiet.after_command(buf, function()
    local batch = held[buf] or {}
    held[buf] = nil
    M.apply(batch)
  end)
end

--- What tells later whether nothing was written in a chat since now.
---@param chat? winnow.Chat
---@return fun(): boolean
local function untouched(chat)
  local tick = chat and vim.api.nvim_buf_get_changedtick(chat.buf)
  return function()
    return not chat or vim.api.nvim_buf_get_changedtick(chat.buf) == tick
  end
end

---@param chat? winnow.Chat
---@param effect winnow.Effect
local function run(chat, effect)
  local ok, problem = pcall(uninterrupted, function()
    M.effects[effect.type](chat, effect)
  end, untouched(chat))
  if not ok then
    log.write(('%s failed: %s'):format(effect.type, problem))
    say('winnow: a part of the chat could not be shown; :Winnow log says why.', 'error')
    if effect.type == 'section' then
      chat.section = nil
      host.notify('unshown', { chat = effect.chat, section = effect.section })
    end
  end
end

--- Apply a batch in order. One effect that fails does not take the others with it.
---@param batch table[]
function M.apply(batch)
  for _, effect in ipairs(batch) do
    local chat = effect.chat and registry.get(effect.chat)
    chat = chat and not chat.owner and chat or nil -- what was on its way when it was handed over
    if chat and (M.holds(chat.buf) or quiet.counts_lines(chat.buf)) then
      hold(chat.buf, effect)
    elseif not effect.chat or chat and vim.api.nvim_buf_is_loaded(chat.buf) then
      run(chat, effect)
    end
  end
end

return M
