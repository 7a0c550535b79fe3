--- `:Winnow {sub}`: one function for each subcommand.
local M = {}

local function notify(text, level)
  require('winnow.say')('winnow: ' .. text, level or 'warn')
end

local function with_chat(act)
  local chat = require('winnow.chats').current()
  if chat then
    act(chat)
  else
    notify('this is not a chat: go to one with :Winnow.')
  end
end

--- Show a buffer: where it is visible already, or in the current window when that holds nothing,
--- or in a new one at the right; command modifiers such as :tab say otherwise.
---@param buf integer
---@param mods? table
function M.show(buf, mods)
  local win = vim.fn.bufwinid(buf)
  local given = mods and (mods.split ~= '' or mods.tab ~= -1 or mods.vertical or mods.horizontal)
  local empty = not vim.wo.winfixbuf
    and vim.api.nvim_buf_get_name(0) == ''
    and vim.bo.buftype == ''
    and not vim.bo.modified
    and vim.api.nvim_buf_line_count(0) == 1
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
  elseif empty and not given then
    vim.api.nvim_set_current_buf(buf)
  else
    vim.cmd.sbuffer({ buf, mods = given and mods or { vertical = true, split = 'botright' } })
  end
  if win == -1 then
    local chat = require('winnow.chats').get(buf)
    if chat then
      chat:to_draft(vim.api.nvim_get_current_win())
    end
  end
end

--- Put lines of another buffer into the chat's draft, as a fenced block that says where they are.
local function quote(chat, source, first, last)
  local lines = vim.api.nvim_buf_get_lines(source, first - 1, last, false)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':~:.')
  local fence = '```'
  while table.concat(lines, '\n'):find(fence, 1, true) do
    fence = fence .. '`'
  end
  local block = { ('%s:%d-%d'):format(name, first, last), fence .. vim.bo[source].filetype }
  vim.list_extend(block, lines)
  table.insert(block, fence)
  chat:append_draft(block)
end

local BYPASS = 'Claude will run everything without asking, questions excepted. Go on?'

--- Change the permission mode of a chat; empty: show it.
local function set_mode(chat, mode)
  local modes = require('winnow').modes
  if mode ~= '' and not vim.list_contains(modes, mode) then
    notify(('there is no mode %s: it is one of %s.'):format(mode, table.concat(modes, ', ')))
  elseif mode ~= '' and not require('winnow.guard').is_user() then
    return -- it said so
  elseif mode ~= 'bypassPermissions' or vim.fn.confirm(BYPASS, '&Yes\n&No', 2) == 1 then
    chat:tell('setmode', { mode = mode })
  end
end

---@type table<string, fun(args: table, rest: string)>
M.subcommands = {
  new = function(args)
    M.show(require('winnow.files').create(vim.fn.getcwd()), args.smods)
  end,
  demo = function(args)
    M.show(require('winnow.files').create(vim.fn.getcwd(), { agent = 'scripted' }), args.smods)
  end,
  send = function()
    with_chat(function(chat)
      chat:send()
    end)
  end,
  stop = function()
    with_chat(function(chat)
      chat:stop()
    end)
  end,
  take = function()
    with_chat(function(chat)
      if chat:mine() then
        notify('no other Neovim has this chat.', 'info')
      else
        require('winnow.handover').take(chat)
      end
    end)
  end,
  preview = function()
    with_chat(function(chat)
      if not (chat.section and chat.section:preview()) then
        notify('nothing to preview here.', 'info')
      end
    end)
  end,
  discuss = function(_, text)
    with_chat(function(chat)
      if not chat.section then
        notify('there is no open section to discuss.')
      elseif not text:find('%S') then
        notify('say what to discuss: :Winnow discuss {text}.')
      else
        chat.section:discuss(vim.trim(text))
      end
    end)
  end,
  allow = function()
    require('winnow.inbox').grant('allow')
  end,
  always = function()
    require('winnow.inbox').grant('always')
  end,
  deny = function(_, reason)
    require('winnow.inbox').grant('deny', vim.trim(reason))
  end,
  mode = function(_, mode)
    with_chat(function(chat)
      set_mode(chat, vim.trim(mode))
    end)
  end,
  diff = function()
    with_chat(function(chat)
      local section = chat.section
      if section then
        chat:tell('compare', { section = section.id, lines = section:lines() })
      else
        notify('there is no open section to compare.')
      end
    end)
  end,
  decisions = function(args, rest)
    local export = rest:match('^export%s*$') or rest:match('^export%s+(.+)$')
    local chat = require('winnow.chats').current()
    if export == rest then
      notify('say where to: :Winnow decisions export {folder} or {file.json}.')
    elseif export then
      require('winnow.decisions').export(export)
    elseif rest ~= '%' then
      require('winnow.decisions').open({ about = rest }, args.smods)
    elseif chat then
      require('winnow.decisions').open({ path = chat.path }, args.smods)
    else
      notify('this is not a chat, so % has no decisions.')
    end
  end,
  trust = function(_, rest)
    local chat = require('winnow.chats').current()
    local place = chat and chat.cwd or require('winnow.files').place(vim.fn.getcwd())
    if rest ~= '' and rest ~= 'revoke' then
      notify(('there is no :Winnow trust %s, only :Winnow trust revoke.'):format(rest))
    else
      local event = { cwd = place, revoke = rest == 'revoke' }
      require('winnow.host').notify('trust', event)
    end
  end,
  pending = function()
    require('winnow.inbox').open()
  end,
  next = function()
    require('winnow.inbox').next()
  end,
  log = function(args)
    local host = require('winnow.host')
    vim.cmd.split({ host.log_path(), mods = args.smods })
    vim.bo.swapfile = false -- else what follows would be on disk, after all
    vim.cmd.edit({ bang = true })
    vim.bo.modifiable = true
    if #host.cut > 0 then
      vim.fn.append('$', vim.list_extend({ '', 'Too long for the message line:' }, host.cut))
    end
    vim.bo.modified, vim.bo.readonly, vim.bo.modifiable = false, true, false
    vim.cmd.normal({ 'G', bang = true })
  end,
  restart = function()
    require('winnow.host').restart()
  end,
}

--- `:Winnow` alone: open or focus this directory's chat; with a range, hand over those lines, and
--- with words after it send them at once.
local function open(args)
  local source, cwd = vim.api.nvim_get_current_buf(), vim.fn.getcwd()
  local files, chats = require('winnow.files'), require('winnow.chats')
  local buf = chats.of_directory(cwd) or files.of_directory(cwd) or files.create(cwd)
  M.show(buf, args.smods)
  local chat = chats.get(buf)
  if chat and args.range > 0 then
    quote(chat, source, args.line1, args.line2)
    if args.args ~= '' then
      chat:append_draft({ args.args })
      chat:send()
    end
  end
end

---@param args table as nvim_create_user_command gives it
function M.run(args)
  local name = args.fargs[1]
  if name == nil or args.range > 0 then
    open(args)
  elseif M.subcommands[name] then
    M.subcommands[name](args, args.args:match('^%S+%s*(.*)$'))
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
    words = require('winnow').modes
  elseif before:match('^trust%s+$') then
    words = { 'revoke' }
  elseif before:match('^decisions%s+$') then
    words = { '%', 'export' }
  elseif before:match('^decisions%s+export%s+$') then
    return vim.fn.getcompletion(lead, 'file')
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
