--- A chat that another Neovim has is only read here: as its file has it, until that one is gone or
--- hands it over.
local directory = require('winnow.chat.directory')
local files = require('winnow.chat.files')
local host = require('winnow.host')
local lock = require('winnow.chat.lock')
local quiet = require('winnow.quiet')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')

local M = {}

local TICK = 1000 -- milliseconds between two looks at the file and at who has it
local PATIENCE = 2000 -- milliseconds for the other Neovim to hand over; one that was stopped can't

--- Who has a chat, and what to do.
---@param owner winnow.Owner
---@return string
function M.sentence(owner)
  local here = owner.host == vim.uv.os_gethostname()
  local who = here and owner.pid or ('%d on %s'):format(owner.pid, owner.host)
  return ('Another Neovim (%s) has this chat; :Winnow take takes over.'):format(who)
end

--- Read the file again, in windows that stay where they are, or at the end. Whether the chat is
--- ours then, `chats.attach` finds out.
---@param chat winnow.Chat
---@return boolean done
local function reread(chat)
  local buf = chat.buf
  if quiet.counts_lines(buf) or vim.fn.getcmdwintype() ~= '' then
    return false
  end
  local views = {} ---@type table<integer, table|false>
  local last = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local at_end = vim.api.nvim_win_get_cursor(win)[1] == last
    views[win] = not at_end and vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent! keepalt keepjumps edit!')
  end)
  for win, view in pairs(views) do
    vim.api.nvim_win_call(win, function()
      if view then
        vim.fn.winrestview(view)
      else
        registry.get(buf):to_draft(win)
      end
    end)
  end
  return registry.get(buf) ~= chat -- else something was in the way
end

--- Follow the file of a chat that another Neovim has, until that changes.
---@param chat winnow.Chat
local function watch(chat)
  local timer = assert(vim.uv.new_timer())
  timer:start(
    TICK,
    TICK,
    vim.schedule_wrap(function()
      local current = registry.get(chat.buf) == chat and vim.api.nvim_buf_is_loaded(chat.buf)
      local owner = lock.owner(chat.path)
      local news = not owner or owner.pid ~= chat.owner.pid or files.stamp(chat.path) ~= chat.stamp
      if (not current or news and reread(chat)) and not timer:is_closing() then
        timer:close()
      end
    end)
  )
end

--- A chat was opened or read again: say whose it is, unless that is as it was.
---@param chat winnow.Chat
---@param before? winnow.Owner who had it then
function M.begin(chat, before)
  local owner = chat.owner
  local sentence
  if owner then
    watch(chat)
    sentence = not (before and before.pid == owner.pid) and M.sentence(owner)
  elseif before then
    sentence = 'This chat goes on here: no other Neovim has it any more.'
  end
  if sentence then
    vim.schedule(function() -- in place of the file's name, not below it: there it asks for <CR>
      say(sentence)
    end)
  end
end

--- Leave Insert mode, and then do something: its end takes off the message line what was said.
---@param act fun()
local function leave_insert(act)
  if not vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
    act()
    return
  end
  vim.cmd.stopinsert()
  vim.api.nvim_create_autocmd('ModeChanged', {
    pattern = 'i*:n*',
    once = true,
    callback = vim.schedule_wrap(function()
      vim.cmd.redraw()
      act()
    end),
  })
end

--- This Neovim has lost a chat: it is read from now on. What of the draft is in no file, gets one.
---@param chat winnow.Chat
---@param owner? winnow.Owner who has it now; nil: the lock tells, and if not that, the next look
function M.resign(chat, owner)
  chat.owner = owner or lock.owner(chat.path) or lock.me()
  host.notify('close', { chat = chat.buf })
  local draft = trim.both(table.concat(chat:below(), '\n'))
  local saved = vim.endswith(trim.both(files.read(chat.path)), '\n' .. draft)
  local kept = draft ~= '' and not saved and directory.keep_draft(chat.project or chat.cwd, draft)
  watch(chat)
  vim.schedule(function() -- not now: it may be closing, or in the middle of a command
    reread(chat)
    local function tell()
      if kept then
        local sentence = 'Your draft is in %s: another Neovim has taken this chat over.'
        say(sentence:format(kept), 'warn')
      end
    end
    if vim.api.nvim_get_current_buf() == chat.buf then
      leave_insert(tell)
    else
      tell()
    end
  end)
end

--- Another Neovim takes a chat over: asked by it, see `M.take`.
---@param path string the chat's real one
---@param owner winnow.Owner that Neovim
function M.yield(path, owner)
  vim.schedule(function() -- after what the last command still has to tell the host
    for _, chat in ipairs(registry.all()) do
      if files.real(chat.path) == path and chat:mine() then
        chat:save()
        M.resign(chat, owner)
        lock.give(path, owner)
      end
    end
  end)
end

--- Ask the Neovim that has a chat to hand it over.
---@param chat winnow.Chat
---@return integer? channel to that one, to be closed
local function ask(chat)
  local ok, channel = pcall(vim.fn.sockconnect, 'pipe', chat.owner.server, { rpc = true })
  if ok then
    local code = "require('winnow.handover').yield(...)"
    vim.rpcnotify(channel, 'nvim_exec_lua', code, { files.real(chat.path), lock.me() })
    return channel
  end
end

--- Take a chat over. One that does not hand it over in time will read it, once it runs again.
---@param chat winnow.Chat
function M.take(chat)
  local channel = ask(chat)
  local deadline = vim.uv.now() + PATIENCE
  local function look()
    if channel and lock.owner(chat.path) and vim.uv.now() < deadline then
      vim.defer_fn(look, 20)
      return
    end
    lock.give(chat.path)
    reread(chat) -- if not now, then at the next look
    pcall(vim.fn.chanclose, channel)
  end
  look()
end

return M
