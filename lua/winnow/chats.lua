--- The chats of this Neovim: which buffers they are, and what happens to those.
local fold = require('winnow.fold')
local host = require('winnow.host')
local window = require('winnow.window')

local M = {}

local AUTOSAVE = 1000 -- milliseconds without typing until the file has what was typed

local chats = {} ---@type table<integer, winnow.Chat>

---@param buf integer
---@return winnow.Chat?
function M.get(buf)
  return chats[buf]
end

--- The chat of the current buffer.
---@return winnow.Chat?
function M.current()
  return chats[vim.api.nvim_get_current_buf()]
end

---@return winnow.Chat[]
function M.all()
  return vim.tbl_values(chats)
end

--- The chat of a directory that this Neovim has open already, the newest first.
---@param cwd string
---@return integer? buf
function M.of_directory(cwd)
  local place, found = require('winnow.files').place(cwd), nil ---@type string, winnow.Chat?
  for _, chat in pairs(chats) do
    if chat.cwd == place and not chat.owner and (not found or chat.path > found.path) then
      found = chat
    end
  end
  return found and found.buf
end

--- A buffer was unloaded: for good, or only to be read again.
local function unloaded(chat)
  vim.schedule(function()
    if chats[chat.buf] == chat and not vim.api.nvim_buf_is_loaded(chat.buf) then
      chats[chat.buf] = nil
      require('winnow.lock').release(chat.path)
      host.notify('close', { chat = chat.buf })
    end
  end)
end

--- What a buffer needs to be a chat.
local function set_up(chat)
  local buf = chat.buf
  vim.bo[buf].bufhidden = 'hide' -- a closed window keeps its question
  vim.bo[buf].modeline = false -- a file is data, whatever it says
  vim.bo[buf].autoread = false -- see `Chat:save`
  if chat.owner or vim.bo[buf].buftype == 'acwrite' then -- else it is as the user has it
    vim.bo[buf].modifiable = not chat.owner
    vim.bo[buf].buftype = chat.owner and 'acwrite' or '' -- written by what stands below only
  end
  vim.bo[buf].keywordprg = ':Winnow preview'
  vim.bo[buf].filetype = 'winnow'
  -- Nothing typed may break a line: an option is one line, its note included.
  vim.bo[buf].indentexpr = "v:lua.require'winnow.section'.indent()"
  vim.bo[buf].indentkeys = 'o,O'
  vim.bo[buf].textwidth = 0
  vim.bo[buf].wrapmargin = 0
  vim.bo[buf].formatoptions = vim.bo[buf].formatoptions:gsub('a', '')
  -- Loading parser and queries takes longer than all the rest: the draft comes first.
  vim.schedule(function()
    if vim.api.nvim_buf_is_loaded(buf) then
      require('winnow.highlight').markdown(buf)
    end
  end)
  require('winnow.keys').map(buf)
  window.forget(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    window.dress(win)
    fold.all(win)
  end

  local autosave = assert(vim.uv.new_timer())
  local group = vim.api.nvim_create_augroup('winnow.chat.' .. buf, {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on({ 'BufWinEnter', 'WinEnter', 'BufEnter' }, function()
    window.dress(vim.api.nvim_get_current_win())
    require('winnow.keys').follow(chat)
  end)
  on('BufWinEnter', function()
    fold.all(vim.api.nvim_get_current_win())
  end)
  on('CursorMoved', function()
    require('winnow.keys').follow(chat)
  end)
  on('TextYankPost', function()
    local register = vim.v.event.regname
    if register == '+' or register == '*' then -- for another program
      local text = require('winnow.marker').strip(vim.fn.getreg(register))
      vim.fn.setreg(register, text, vim.v.event.regtype)
    end
  end)
  on('InsertLeave', function()
    chat:typed()
  end)
  on({ 'BufLeave', 'InsertLeave' }, function()
    chat:save()
  end)
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function()
    autosave:start(
      AUTOSAVE,
      0,
      vim.schedule_wrap(function()
        if chats[buf] == chat and vim.api.nvim_buf_is_loaded(buf) then
          chat:save()
        end
      end)
    )
  end)
  on('FileChangedShell', function()
    vim.v.fcs_choice = '' -- neither a question nor the file's text
    vim.schedule(function()
      chat:save()
    end)
  end)
  on('BufWritePre', function()
    chat:save() -- what another program wrote is set aside, and Neovim doesn't ask about it
  end)
  on('BufWritePost', function()
    chat:remember_file()
  end)
  if chat.owner then
    on('BufWriteCmd', function(event)
      if event.match == vim.api.nvim_buf_get_name(buf) then
        chat:mine_or_say()
      else
        vim.fn.writefile(vim.api.nvim_buf_get_lines(buf, 0, -1, false), event.match)
      end
    end)
  end
  on('BufUnload', function()
    autosave:stop()
    chat:save() -- else `:e!` would forget what was said, and maybe edits, since the last time
    unloaded(chat)
  end)
end

--- What all chats share.
local function start()
  require('winnow.files').seal_all()
  require('winnow.highlight').define()
  vim.treesitter.language.register('markdown', 'winnow')
  require('winnow.draw').start(M.get)
  require('winnow.guard').start()
  local group = vim.api.nvim_create_augroup('winnow.chats', {})
  local function on(events, callback, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = callback })
  end
  on('OptionSet', function()
    if M.current() then
      window.reconceal(vim.api.nvim_get_current_win())
    end
  end, { 'conceallevel', 'concealcursor' })
  on('OptionSet', function()
    local chat = M.current()
    if chat and chat.section then
      chat.section:decorate() -- there are more or fewer columns for it
    end
  end, { 'number', 'relativenumber', 'numberwidth', 'signcolumn', 'foldcolumn', 'statuscolumn' })
  on('ColorScheme', require('winnow.highlight').define)
  on('WinResized', function()
    for _, chat in pairs(chats) do
      if chat.section and vim.api.nvim_buf_is_loaded(chat.buf) then -- not one that just went
        chat.section:decorate()
      end
    end
  end)
  -- Before Vim asks about unsaved buffers: a chat is never one.
  on({ 'QuitPre', 'VimLeavePre' }, function()
    for _, chat in pairs(chats) do
      if vim.api.nvim_buf_is_loaded(chat.buf) then
        chat:save()
      end
    end
  end)
  on('VimLeave', function()
    for _, chat in pairs(chats) do
      require('winnow.lock').release(chat.path)
    end
  end)
  on({ 'VimResume', 'FocusGained' }, function()
    for _, chat in pairs(chats) do
      chat:mine() -- it may have been taken over
    end
  end)
end

--- Make a buffer a chat, or read it again after `:e!`.
---@param buf integer
---@return winnow.Chat
function M.attach(buf)
  if next(chats) == nil then
    start()
  end
  local before = chats[buf]
  local owner = require('winnow.lock').claim(vim.api.nvim_buf_get_name(buf))
  local chat = require('winnow.chat').new(buf, owner)
  chats[buf] = chat
  chat.esc_mapped = before and before.esc_mapped
  local files = require('winnow.files')
  if files.own(chat.path) then -- Neovim has made this like the file, as that was when it was read
    files.seal(vim.fn.undofile(chat.path))
  end
  set_up(chat)
  require('winnow.keys').follow(chat)
  chat:open()
  require('winnow.handover').begin(chat, before and before.owner)
  return chat
end

--- The host stopped: say so in every chat.
---@param sentence string
function M.lost(sentence)
  for _, chat in pairs(chats) do
    if not chat.owner then
      chat:lost(sentence)
    end
  end
end

--- Tell a new host of every chat.
function M.reopen_all()
  for _, chat in pairs(chats) do
    chat.state = 'asleep'
    chat:open()
    if chat.queued then
      chat:tell('queue', {})
    end
  end
end

return M
