-- Loaded at start-up, so it requires nothing: the rest comes with the first :Winnow.
if vim.g.loaded_winnow then
  return
end
vim.g.loaded_winnow = true

-- Where no package manager has made the help's tags. A folder that can't be written has none.
local root = debug.getinfo(1, 'S').source:match('^@(.*[/\\])plugin[/\\]')
if root and not vim.uv.fs_stat(root .. 'doc/tags') then
  pcall(vim.cmd.helptags, root .. 'doc')
end

local late = {} ---@type integer[] chats that were open before

--- Read them.
local function read_late()
  local bufs = late
  late = {}
  for _, buf in ipairs(vim.tbl_filter(vim.api.nvim_buf_is_loaded, bufs)) do
    vim.api.nvim_buf_call(buf, function()
      vim.cmd('silent! edit')
    end)
  end
end
-- Loaded late, as package managers can do by a command or a key: a session may have been restored.
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  local name = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) or ''
  if name:find('/winnow/chats/[^/]*%.md$') then
    table.insert(late, buf)
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
local named = false
---@param events string|string[]
---@param act fun(event: table)
local function on(events, act)
  local options = { group = group, pattern = '*/winnow/chats/*.md', callback = act }
  vim.api.nvim_create_autocmd(events, options)
end
-- A chat has no swap file (see winnow.chat.lock), and Neovim asks nothing about an older one.
-- Nothing made for Markdown files shall set itself up in it: said only when one is read, since to
-- say so would double Winnow's share of Neovim's start.
on('BufReadPre', function(event)
  vim.bo[event.buf].swapfile = false
  if not named then
    named = true
    vim.filetype.add({ pattern = { ['.*/winnow/chats/.*%.md'] = 'winnow' } })
  end
end)
on('SwapExists', function()
  vim.v.swapchoice = 'e'
end)
on({ 'BufReadPost', 'BufNewFile' }, function(event)
  require('winnow.chats').attach(event.buf)
end)

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

--- Half of what `vim.keymap.set()` takes, which would be most of what is done here.
---@param modes string[]
---@param name string
---@param act? fun(): string?
local function plug(modes, name, act)
  local options = { noremap = true, expr = act ~= nil, replace_keycodes = act ~= nil }
  options.callback = act or function()
    require('winnow.keys')[name]()
  end
  for _, mode in ipairs(modes) do
    vim.api.nvim_set_keymap(mode, ('<Plug>(winnow-%s)'):format(name), '', options)
  end
end
-- stylua: ignore
for _, name in ipairs({
  'go', 'cancel', 'keep', 'discuss', 'send', 'steer', 'stop', 'allow', 'always', 'deny', 'agent-up',
  'next-agent', 'previous-agent', 'outline', 'open-file', 'yank-code', 'paste-image', 'comment',
  'accept-change', 'fold-less',
}) do
  plug({ 'n' }, name)
end
plug({ '' }, 'next-message')
plug({ '' }, 'previous-message')
plug({ 'x', 'o' }, 'inside-code')
plug({ 'x', 'o' }, 'around-code')
-- An operator: the motion follows.
plug({ 'n', 'x' }, 'add', function()
  return require('winnow.context.add').start()
end)
plug({ 'n' }, 'add-line', function()
  return require('winnow.context.add').start() .. '_'
end)
