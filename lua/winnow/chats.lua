--- What makes a buffer a chat, and what happens to it from then on.
local Chat = require('winnow.chat')
local directory = require('winnow.chat.directory')
local dress = require('winnow.chat.dress')
local draw = require('winnow.draw')
local files = require('winnow.chat.files')
local fold = require('winnow.chat.fold')
local guard = require('winnow.guard')
local handover = require('winnow.handover')
local highlight = require('winnow.highlight')
local host = require('winnow.host')
local lock = require('winnow.chat.lock')
local maps = require('winnow.chat.maps')
local registry = require('winnow.registry')
local say = require('winnow.say')
local syntax = require('winnow.syntax')
local transcript = require('winnow.chat.transcript')
local tree = require('winnow.chat.tree')
local watch = require('winnow.chat.watch')

local M = {}

local SAVES = { nested = true } -- see `winnow.chat.watch`

--- The newest chat of a directory that this Neovim has open already, and the newest that is in
--- sight or in which something was said.
---@param cwd string
---@return winnow.Chat? newest
---@return winnow.Chat? alive
local function open_here(cwd)
  local newest, alive ---@type winnow.Chat?, winnow.Chat?
  local place = files.place(cwd)
  for _, chat in ipairs(registry.all()) do
    local there = vim.api.nvim_buf_is_loaded(chat.buf) -- not one that just went
    if there and chat.cwd == place and not (chat.owner or chat.task) then
      newest = newest and newest.path > chat.path and newest or chat
      local seen = vim.fn.bufwinid(chat.buf) ~= -1
      if seen or not directory.is_blank(chat:lines(0, -1)) then
        alive = alive and alive.path > chat.path and alive or chat
      end
    end
  end
  return newest, alive
end

--- Make a buffer the chat's, in every window that shows it.
---@param chat winnow.Chat
local function set_up(chat)
  local buf = chat.buf
  chat.folded = {}
  dress.buffer(chat)
  -- Loading parser and queries takes longer than all the rest: the draft comes first.
  vim.schedule(function()
    chat.folded = {}
    if vim.api.nvim_buf_is_loaded(buf) then
      highlight.markdown(buf)
      syntax.start(registry.get)
    end
  end)
  maps.set(buf)
  dress.forget(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    dress.window(win)
    fold.all(win)
    chat.folded[win] = true
  end

  watch.start(chat)
end

--- There are more or fewer columns and rows for what is drawn.
---@param chat winnow.Chat
local function refit(chat)
  chat:show_state()
  chat:to_bottom()
  if chat.section then
    chat.section:decorate()
    chat.section:refit()
  end
end

--- The windows change around the chats.
---@param on winnow.on
local function watch_windows(on)
  on('OptionSet', function()
    if registry.current() then
      dress.reconceal(vim.api.nvim_get_current_win())
    end
  end, { pattern = { 'conceallevel', 'concealcursor' } })
  on('OptionSet', function()
    local chat = registry.current()
    if chat then
      refit(chat)
    end
  end, {
    pattern = {
      'number',
      'relativenumber',
      'numberwidth',
      'signcolumn',
      'foldcolumn',
      'statuscolumn',
    },
  })
  on('SessionLoadPost', function()
    for _, chat in ipairs(vim.o.sessionoptions:find('folds') and {} or registry.all()) do
      fold.open_messages(chat)
    end
  end)
  on('ColorScheme', highlight.define)
  on('OptionSet', highlight.define, { pattern = 'background' })
  on({ 'WinResized', 'TabEnter' }, function()
    for _, chat in ipairs(registry.all()) do
      if vim.api.nvim_buf_is_loaded(chat.buf) then -- not one that just went
        refit(chat)
      end
    end
  end)
end

--- Somebody comes who can be asked, or goes; not with CTRL-Z, which detaches a UI, too.
---@param on winnow.on
local function watch_uis(on)
  local suspended = false
  on('VimSuspend', function()
    suspended = true
  end)
  on({ 'UIEnter', 'UILeave' }, function(event)
    suspended = suspended and event.event == 'UILeave'
    if not suspended then
      host.notify('watched', { headless = #vim.api.nvim_list_uis() == 0 })
    end
  end)
end

--- Neovim ends, or was left for a while.
---@param on winnow.on
local function watch_end(on)
  -- Before Vim asks about unsaved buffers: a chat is none, unless it is busy.
  on({ 'QuitPre', 'VimLeavePre' }, function()
    for _, chat in ipairs(registry.all()) do
      if vim.api.nvim_buf_is_loaded(chat.buf) then
        chat:save()
      end
    end
  end, SAVES)
  on('ExitPre', function()
    local why ---@type string?
    for _, chat in ipairs(registry.all()) do
      if vim.api.nvim_buf_is_loaded(chat.buf) then
        why = chat:refuse_to_quit() or why
      end
    end
    if why then
      vim.schedule(function()
        say(('%s; :qa! quits all the same.'):format(why), 'warn')
      end)
    end
  end)
  on('VimLeave', function()
    for _, chat in ipairs(registry.all()) do
      lock.release(chat.path)
    end
  end)
  on({ 'VimResume', 'FocusGained' }, function()
    for _, chat in ipairs(registry.all()) do
      chat:mine() -- it may have been taken over
    end
  end)
end

--- What all chats share.
local function start()
  files.seal_all()
  highlight.define()
  draw.start(registry.get)
  guard.start()
  local group = vim.api.nvim_create_augroup('winnow.chats', {})
  ---@param events string|string[]
  ---@param act fun(event: table)
  ---@param more? table
  local function on(events, act, more)
    local all = { group = group, callback = act }
    vim.api.nvim_create_autocmd(events, vim.tbl_extend('error', all, more or {}))
  end
  watch_windows(on)
  watch_uis(on)
  watch_end(on)
end

--- Make a buffer a chat, or read it again after `:e!`.
---@param buf integer
---@return winnow.Chat
function M.attach(buf)
  if #registry.all() == 0 then
    start()
  end
  local before, path = registry.get(buf), vim.api.nvim_buf_get_name(buf)
  local empty = vim.deep_equal(vim.api.nvim_buf_get_lines(buf, 0, 2, false), { '' })
  if empty and files.own(path) then -- what holds nothing has no file: `:e!`, a session's file
    local cwd, values = directory.project(vim.fn.getcwd()), {}
    if before then
      cwd, values = tree.of(before)
    end
    directory.fill(buf, cwd, values)
  end
  local owner = lock.claim(path)
  local chat = Chat.new(buf, owner)
  registry.add(chat)
  chat.esc_mapped = before and before.esc_mapped
  chat.stop_mapped = before and before.stop_mapped
  if files.own(chat.path) then -- Neovim has made this like the file, as that was when it was read
    files.seal(vim.fn.undofile(chat.path))
  end
  set_up(chat)
  chat:heal()
  chat:note_queue()
  chat:follow()
  if not owner and (not before or before.owner) then
    transcript.settle(chat) -- else a host of ours has it already
  end
  chat:open()
  handover.begin(chat, before and before.owner)
  return chat
end

--- Make a new chat.
---@param cwd string
---@param values? table<string, string> more frontmatter
---@param path? string of its file
---@return integer buf
function M.create(cwd, values, path)
  local buf = directory.create(cwd, values, path)
  M.attach(buf)
  return buf
end

--- A directory's chat: the newest that is open here, or of its files, in which something was said;
--- else an empty one.
---@param cwd string
---@return integer buf
function M.of_directory(cwd)
  local newest, alive = open_here(cwd)
  return alive and alive.buf or directory.newest(cwd) or newest and newest.buf or M.create(cwd)
end

host.on('lost', function(sentence)
  for _, chat in ipairs(registry.all()) do
    if not chat.owner then
      chat:lost(sentence)
    end
  end
end)

host.on('started', function()
  for _, chat in ipairs(registry.all()) do
    chat.state = 'asleep'
    chat:open()
    if chat.queued then
      chat:tell('queue', { now = chat.now ~= nil, number = chat.asked })
    end
  end
end)

return M
