--- `:Winnow {sub}`: one function for each subcommand.
local config = require('winnow.config')
local host = require('winnow.host')
local lazy = require('winnow.lazy')
local log = require('winnow.log')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')

-- A first `:Winnow` is to show a draft at once: what else there is can wait.
local agent = lazy('winnow.views.agent')
local aside = lazy('winnow.views.aside')
local begin = lazy('winnow.begin')
local board = lazy('winnow.views.board')
local chats = lazy('winnow.chats')
local clarify = lazy('winnow.clarify')
local context = lazy('winnow.context.list')
local image = lazy('winnow.context.image')
local decisions = lazy('winnow.views.decisions')
local engine = lazy('winnow.engine')
local follow = lazy('winnow.chat.follow')
local guard = lazy('winnow.guard')
local handover = lazy('winnow.handover')
local inbox = lazy('winnow.views.inbox')
local kept = lazy('winnow.views.kept')
local library = lazy('winnow.library')
local lists = lazy('winnow.views.list')
local running = lazy('winnow.chat.running')
local refs = lazy('winnow.chat.refs')
local review = lazy('winnow.views.review')
local rewind = lazy('winnow.rewind')
local run = lazy('winnow.run')
local timeline = lazy('winnow.views.timeline')
local window = lazy('winnow.window')

local M = {}

---@param text string
---@param level? 'info'|'warn'|'error'
local function notify(text, level)
  say('winnow: ' .. text, level or 'warn')
end

local BYPASS = 'Claude will run everything without asking, questions excepted. Go on?'

--- Change the permission mode of a chat; empty: show it.
---@param chat winnow.Chat
---@param mode string
local function set_mode(chat, mode)
  if mode ~= '' and not vim.list_contains(config.modes, mode) then
    notify(('there is no mode %s: it is one of %s.'):format(mode, table.concat(config.modes, ', ')))
  elseif mode ~= '' and not guard.is_user() then
    return -- it said so
  elseif mode ~= 'bypassPermissions' or vim.fn.confirm(BYPASS, '&Yes\n&No', 2) == 1 then
    chat:tell('setmode', { mode = mode })
  end
end

---@type table<string, fun(args: table, rest: string)>
M.subcommands = {
  new = function(args, rest)
    begin.new(args, trim.both(rest), clarify.goal())
  end,
  merge = function()
    registry.with_current(function(chat)
      chat:tell('merge', {})
    end)
  end,
  demo = function(args)
    begin.chat(args, 'Show me around.', { agent = 'scripted' })
  end,
  send = function()
    registry.with_current(function(chat)
      chat:send()
    end)
  end,
  ask = function(args, text)
    registry.with_current(function(chat)
      aside.ask(chat, text, args.smods)
    end)
  end,
  ['send!'] = function()
    registry.with_current(function(chat)
      chat:steer()
    end)
  end,
  stop = function()
    if vim.bo.filetype == 'winnowboard' then
      return run.stop()
    end
    registry.with_current(function(chat)
      chat:stop()
    end)
  end,
  paste = image.paste,
  context = function(args)
    registry.with_chat(function(chat)
      context.open(chat, args.smods)
    end)
  end,
  follow = function()
    registry.with_current(follow.toggle)
  end,
  background = function()
    registry.with_current(function(chat)
      chat:tell('background', { call = running.call_here(chat) or '' })
    end)
  end,
  up = agent.up,
  promote = agent.promote,
  todo = function(args)
    registry.with_chat(function(chat)
      lists.open('todo', chat.buf, args.smods)
    end)
  end,
  tasks = function(args)
    lists.open('tasks', 0, args.smods)
  end,
  take = function()
    registry.with_current(function(chat)
      if chat:mine() then
        notify('no other Neovim has this chat.', 'info')
      else
        handover.take(chat)
      end
    end)
  end,
  preview = function()
    registry.with_current(function(chat)
      if not (chat.section and chat.section:preview()) then
        notify('nothing to preview here.', 'info')
      end
    end)
  end,
  discuss = function(_, text)
    registry.with_current(function(chat)
      chat:discuss(text)
    end)
  end,
  allow = function()
    inbox.grant('allow')
  end,
  always = function()
    inbox.grant('always')
  end,
  deny = function(_, reason)
    inbox.grant('deny', trim.both(reason))
  end,
  model = function(_, rest)
    engine.choose('model', trim.both(rest))
  end,
  effort = function(_, rest)
    engine.choose('effort', trim.both(rest))
  end,
  fast = function(_, rest)
    engine.choose('fast', trim.both(rest))
  end,
  mcp = function(args)
    registry.with_chat(function(chat)
      lists.open('mcp', chat.buf, args.smods)
    end)
  end,
  rules = function(args)
    registry.with_chat(function(chat)
      lists.open('rules', chat.buf, args.smods)
    end)
  end,
  mode = function(_, mode)
    registry.with_chat(function(chat)
      set_mode(chat, trim.both(mode))
    end)
  end,
  diff = function()
    registry.with_current(function(chat)
      local section = chat.section
      if section then
        chat:tell('compare', { section = section.id, lines = section:told_lines() })
      else
        notify('there is no open section to compare.')
      end
    end)
  end,
  decisions = function(args, rest)
    local export = rest:match('^export%s*$') or rest:match('^export%s+(.+)$')
    local chat = registry.current()
    if export == rest then
      notify('say where to: :Winnow decisions export {folder} or {file.json}.')
    elseif export then
      decisions.export(export)
    elseif rest ~= '%' then
      decisions.open({ about = rest }, args.smods)
    elseif chat then
      decisions.open({ path = chat.path }, args.smods)
    else
      notify('this is not a chat, so % has no decisions.')
    end
  end,
  trust = function(_, rest)
    if rest ~= '' and rest ~= 'revoke' then
      notify(('there is no :Winnow trust %s, only :Winnow trust revoke.'):format(rest))
    else
      host.notify('trust', { cwd = begin.place(), revoke = rest == 'revoke' })
    end
  end,
  pending = function(args)
    inbox.open(args.smods)
  end,
  next = inbox.next,
  run = run.run,
  hand = function(_, rest)
    run.hand(rest)
  end,
  clarify = clarify.run,
  board = function(args)
    board.open(args.smods)
  end,
  budget = function(_, rest)
    local dollars = tonumber(trim.both(rest):match('^%$?(%d+%.?%d*)$'))
    registry.with_current(function(chat)
      if not dollars then
        notify(':Winnow budget {dollars}; 0: no limit')
      elseif guard.is_user() then
        chat:tell('budget', { dollars = dollars })
      end
    end)
  end,
  compact = function(_, text)
    registry.with_current(function(chat)
      chat:tell('compact', { text = trim.both(text) })
    end)
  end,
  usage = function(args)
    registry.with_chat(function(chat)
      lists.open('usage', chat.buf, args.smods)
    end)
  end,
  log = function(args, rest)
    if trim.both(rest) == 'run' then
      return timeline.open(args.smods)
    end
    -- What follows is not to be on disk, after all; nor may that be full.
    vim.cmd.split({ log.path(), mods = vim.tbl_extend('force', args.smods, { noswapfile = true }) })
    vim.cmd.edit({ bang = true })
    vim.bo.modifiable = true
    if #log.cut > 0 then
      vim.fn.append('$', vim.list_extend({ '', 'Too long for the message line:' }, log.cut))
    end
    vim.bo.modified, vim.bo.readonly, vim.bo.modifiable = false, true, false
    vim.cmd.normal({ 'G', bang = true })
  end,
  chats = function(args, rest)
    library.open(begin.place(), trim.both(rest), args.smods)
  end,
  fork = library.fork,
  rewind = function()
    registry.with_current(rewind.ask)
  end,
  resume = function(_, rest)
    library.resume(begin.place(), trim.both(rest))
  end,
  restore = function(_, name)
    kept.restore(begin.place(), trim.both(name))
  end,
  review = function(args, rest)
    review.run(begin.place(), trim.both(rest), args.smods)
  end,
  refs = function()
    registry.with_current(refs.list)
  end,
  restart = host.restart,
}

--- Open or focus this directory's chat; with a range, hand over those lines, and send the words of
--- the command at once.
---@param args table
local function open(args)
  host.start() -- it takes the longest; what is wrong with it, the chat says
  local source = vim.api.nvim_get_current_buf()
  local buf = chats.of_directory(begin.place())
  window.show(buf, args.smods, true)
  local chat = registry.get(buf)
  if chat and args.range > 0 then
    begin.quote(chat, source, args.line1, args.line2)
  end
  if chat and args.args ~= '' then
    begin.send(chat, args.args)
  end
end

--- Words that are no subcommand are a message; a single one may be a slip.
---@param args table as nvim_create_user_command gives it
function M.run(args)
  local name = args.fargs[1]
  if name == nil or (args.range > 0 and name ~= 'run' and name ~= 'clarify') then
    open(args)
  elseif M.subcommands[name] then
    M.subcommands[name](args, args.args:match('^%S+%s*(.*)$'))
  elseif #args.fargs > 1 then
    open(args)
  else
    notify(('there is no :Winnow %s; <Tab> shows what there is.'):format(name), 'error')
  end
end

--- Completion of the first word, and of what `decisions` and `mode` take.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match('^.-Winnow!?%s+(%S+.*%s)')
  local words = {}
  if not before then
    words = vim.fn.sort(vim.tbl_keys(M.subcommands))
  elseif before:match('^mode%s+$') then
    words = config.modes
  elseif before:match('^%l+%s+$') and engine.values(trim.both(before)) then
    words = engine.values(trim.both(before)) or {}
  elseif before:match('^chats%s+$') then
    words = { '%' }
  elseif before:match('^new%s+$') then
    words = { '++worktree', '++worktree=' }
  elseif before:match('^clarify%s+$') then
    words = { '++all', '++one' }
  elseif before:match('^run%s+$') then
    words = { '++budget=', '++continue', '++stop', '++worktree' }
  elseif before:match('^hand%s+$') then
    words = run.tasks()
  elseif before:match('^review%s+$') then
    words = require('winnow.views.review').words
  elseif before:match('^review%s+accept%s+$') then
    words = { 'here' }
  elseif before:match('^log%s+$') then
    words = { 'run' }
  elseif before:match('^trust%s+$') then
    words = { 'revoke' }
  elseif before:match('^decisions%s+$') then
    words = { '%', 'export' }
  elseif before:match('^decisions%s+export%s+$') then
    -- Once a folder is completed, its name comes back: what is between backticks would be run.
    return vim.fn.getcompletion(vim.fn.escape(lead, '`'), 'file')
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
