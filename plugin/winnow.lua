-- Loaded at start-up, so it requires nothing: the rest comes with the first :Winnow.
if vim.g.loaded_winnow then
  return
end
vim.g.loaded_winnow = true

-- Where no package manager has made the help's tags. A folder that can't be written has none.
local doc = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h') .. '/doc'
if not vim.uv.fs_stat(doc .. '/tags') then
  pcall(vim.cmd.helptags, doc)
end

-- Loaded late, as package managers can do by a command or a key: a session may have been restored.
local late = vim.tbl_filter(function(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return vim.api.nvim_buf_is_loaded(buf) and name:find('/winnow/chats/[^/]*%.md$') ~= nil
end, vim.api.nvim_list_bufs())

--- Read the chats that were open before.
local function read_late()
  local bufs = late
  late = {}
  for _, buf in ipairs(vim.tbl_filter(vim.api.nvim_buf_is_loaded, bufs)) do
    vim.api.nvim_buf_call(buf, function()
      vim.cmd('silent! edit')
    end)
  end
end
if #late > 0 then
  vim.schedule(read_late) -- a mapping that loads plugins can't
end

vim.api.nvim_create_user_command('Winnow', function(args)
  read_late()
  require('winnow.command').run(args)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Chat with Claude; see :help winnow',
  complete = function(...)
    return require('winnow.command').complete(...)
  end,
})

local group = vim.api.nvim_create_augroup('winnow', {})
local chats = '*/winnow/chats/*.md'
-- A chat has no swap file (see winnow.chat.lock), and Neovim asks nothing about an older one.
vim.api.nvim_create_autocmd('BufReadPre', {
  group = group,
  pattern = chats,
  callback = function(event)
    vim.bo[event.buf].swapfile = false
  end,
})
vim.api.nvim_create_autocmd('SwapExists', {
  group = group,
  pattern = chats,
  callback = function()
    vim.v.swapchoice = 'e'
  end,
})
-- Nothing made for Markdown files shall set itself up in a chat. Said only when one is read: it
-- would double Winnow's share of Neovim's start.
vim.api.nvim_create_autocmd('BufReadPre', {
  group = group,
  pattern = chats,
  once = true,
  callback = function()
    vim.filetype.add({ pattern = { ['.*/winnow/chats/.*%.md'] = 'winnow' } })
  end,
})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  pattern = chats,
  callback = function(event)
    require('winnow.chats').attach(event.buf)
  end,
})

-- A server inside Neovim, which any completion asks.
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'winnow',
  callback = function(event)
    vim.schedule(function()
      if vim.api.nvim_buf_is_loaded(event.buf) then
        require('winnow.lsp.server').attach(event.buf)
      end
    end)
  end,
})

local plugs = {
  n = { 'go', 'cancel', 'keep', 'discuss', 'send', 'steer', 'stop', 'allow', 'always', 'deny' },
  [''] = { 'next-message', 'previous-message' },
  x = { 'inside-code', 'around-code' },
}
plugs.o = plugs.x
vim.list_extend(plugs.n, { 'agent-up', 'next-agent', 'previous-agent' })
vim.list_extend(plugs.n, { 'outline', 'open-file', 'yank-code', 'paste-image', 'comment' })
table.insert(plugs.n, 'accept-change')
table.insert(plugs.n, 'fold-less')
for mode, names in pairs(plugs) do
  for _, name in ipairs(names) do
    vim.keymap.set(mode, ('<Plug>(winnow-%s)'):format(name), function()
      require('winnow.keys')[name]()
    end)
  end
end
-- An operator: the motion follows.
vim.keymap.set({ 'n', 'x' }, '<Plug>(winnow-add)', function()
  return require('winnow.context.add').start()
end, { expr = true })
vim.keymap.set('n', '<Plug>(winnow-add-line)', function()
  return require('winnow.context.add').start() .. '_'
end, { expr = true })
