--- What happens in a chat's buffer and to its file, from the time when it is one.
local dress = require('winnow.chat.dress')
local fold = require('winnow.chat.fold')
local growth = require('winnow.chat.growth')
local host = require('winnow.host')
local legible = require('winnow.chat.legible')
local lock = require('winnow.chat.lock')
local mentions = require('winnow.context.show')
local progress = require('winnow.chat.progress')
local pasted = require('winnow.chat.pasted')
local registers = require('winnow.chat.registers')
local registry = require('winnow.registry')
local saves = require('winnow.chat.saves')
local undo = require('winnow.chat.undo')

local M = {}

local AUTOSAVE = 1000 -- milliseconds without typing until the file has what was typed
local LONGEST = 5000 -- until it has that however long one types

--- A buffer was unloaded: for good, or only to be read again.
---@param chat winnow.Chat
local function unloaded(chat)
  vim.schedule(function()
    if registry.get(chat.buf) == chat and not vim.api.nvim_buf_is_loaded(chat.buf) then
      registry.remove(chat.buf)
      progress.state(chat, 'failed')
      undo.forget(chat.buf)
      lock.release(chat.path)
      host.notify('close', { chat = chat.buf })
    end
  end)
end

---@alias winnow.on fun(events: string|string[], act: fun(event: table), more?: table)

local SAVES = { nested = true } -- to write a file is an event itself: see `BufWriteCmd`

--- Windows come to show the chat, and the cursor moves in them.
---@param on winnow.on
---@param chat winnow.Chat
local function follow(on, chat)
  on({ 'BufWinEnter', 'WinEnter', 'BufEnter' }, function()
    dress.window(vim.api.nvim_get_current_win())
    chat:follow()
  end)
  on('BufWinEnter', function()
    local win = vim.api.nvim_get_current_win()
    if not chat.folded[win] then
      fold.all(win)
    end
  end)
  on('CursorMoved', function()
    chat:follow()
  end)
end

--- The user has changed the text, or a plugin.
---@param chat winnow.Chat
---@param typing boolean the user goes on with it
---@param healed integer 'changedtick' when the rest of the chat was looked at last
local function changed(chat, typing, healed)
  legible.typed(chat.buf)
  local elsewhere = not (chat.section and chat.section:only(healed))
  if elsewhere and not typing then
    fold.frontmatter(chat.buf)
    chat:heal()
    chat:heal_queue()
  end
  pasted.fold(chat)
  if elsewhere then
    chat:show_ghost()
  end
end

--- Notice that, but not text that has only streamed in.
---@param on winnow.on
---@param chat winnow.Chat
local function watch_changes(on, chat)
  local seen, healed = 0, 0 -- 'changedtick'
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP', 'InsertLeave' }, function(event)
    local grew = event.event ~= 'InsertLeave' and growth.only(chat.buf, seen)
    seen = vim.api.nvim_buf_get_changedtick(chat.buf)
    if grew then
      return
    end
    local typing = event.event ~= 'TextChanged' and event.event ~= 'InsertLeave'
    changed(chat, typing, healed)
    if not typing then
      healed = vim.api.nvim_buf_get_changedtick(chat.buf)
    end
  end)
end

--- The user writes in the chat, or copies from it.
---@param on winnow.on
---@param chat winnow.Chat
local function watch_text(on, chat)
  chat.counted = vim.api.nvim_buf_line_count(chat.buf)
  -- Whatever has set options since the last key. `OptionSet` comes for none that autocommands set.
  on({ 'SafeState', 'InsertEnter' }, function()
    dress.text(chat.buf)
    for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
      dress.reconceal(win)
    end
  end)
  on('TextYankPost', registers.yanked)
  on('BufLeave', registers.leave)
  on({ 'ModeChanged', 'BufLeave' }, function() -- CTRL-C leaves Insert mode without `InsertLeave`
    if chat.typing then
      vim.schedule(function()
        chat:typed()
      end)
    end
  end)
  on('InsertEnter', function()
    undo.begin(chat.buf)
  end)
  on({ 'BufLeave', 'InsertLeave' }, function()
    chat:save()
  end, SAVES)
end

--- What is typed gets into the file before long.
---@param on winnow.on
---@param chat winnow.Chat
local function autosave(on, chat)
  local timer = assert(vim.uv.new_timer())
  local since ---@type integer? when what no save has seen was typed
  local save = vim.schedule_wrap(function()
    since = nil
    if registry.get(chat.buf) == chat and vim.api.nvim_buf_is_loaded(chat.buf) then
      chat:save()
    end
  end)
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function()
    since = since or vim.uv.now()
    timer:start(math.min(AUTOSAVE, math.max(0, since + LONGEST - vim.uv.now())), 0, save)
  end)
  on('BufUnload', function()
    timer:stop()
  end)
end

--- Its file is written, by whomever.
---@param on winnow.on
---@param chat winnow.Chat
local function watch_file(on, chat)
  on('FileChangedShell', function()
    vim.v.fcs_choice = '' -- neither a question nor the file's text
    vim.schedule(function()
      chat:save()
    end)
  end)
  on('BufWriteCmd', function(event)
    if event.match ~= chat.path then -- a copy
      local renamed = vim.api.nvim_buf_get_name(chat.buf) ~= chat.path -- which says more
      local mods = { noautocmd = true, silent = renamed }
      vim.cmd.write({ event.match, bang = true, mods = mods, magic = { file = false } })
    elseif chat.saving then
      chat:put()
    elseif chat:mine_or_say() then
      chat:write()
      if chat.stays and vim.v.cmdbang == 0 then
        vim.bo[chat.buf].modified = true -- so to Neovim the write has failed
      end
    end
  end, SAVES)
  on('BufFilePost', function()
    vim.schedule(function() -- when what is to be written there is
      chat:stay()
    end)
  end)
  on('BufUnload', function()
    chat:save() -- else `:e!` would forget what was said, and maybe edits, since the last time
    if chat.section then
      chat.section:tell_edits() -- what the last keys did: after `:e!` the section begins anew
    end
    unloaded(chat)
  end, SAVES)
end

---@param chat winnow.Chat
function M.start(chat)
  local group = vim.api.nvim_create_augroup('winnow.chat.' .. chat.buf, {})
  ---@param events string|string[]
  ---@param act fun(event: table)
  ---@param more? table
  local function on(events, act, more)
    local all = { group = group, buffer = chat.buf, callback = act }
    vim.api.nvim_create_autocmd(events, vim.tbl_extend('error', all, more or {}))
  end
  follow(on, chat)
  watch_text(on, chat)
  watch_changes(on, chat)
  autosave(on, chat)
  watch_file(on, chat)
  mentions.watch(on, chat)
  saves.watch()
end

return M
