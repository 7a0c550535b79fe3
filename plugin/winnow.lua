-- Loaded at start-up, so it requires nothing: the rest comes with the first :Winnow.
if vim.g.loaded_winnow then
  return
end
vim.g.loaded_winnow = true

vim.api.nvim_create_user_command('Winnow', function(args)
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
vim.api.nvim_create_autocmd('BufReadPost', {
  group = group,
  pattern = chats,
  callback = function(event)
    require('winnow.chats').attach(event.buf)
  end,
})

-- Of a Neovim that died, all but the last second of typing is in the file: no dialog about that.
vim.api.nvim_create_autocmd('SwapExists', {
  group = group,
  pattern = chats,
  callback = function()
    if vim.fn.swapinfo(vim.v.swapname).pid == 0 then
      vim.v.swapchoice = 'd'
    end
  end,
})

local names = { 'go', 'cancel', 'keep', 'discuss', 'send', 'stop', 'allow', 'always', 'deny' }
for _, name in ipairs(names) do
  vim.keymap.set('n', ('<Plug>(winnow-%s)'):format(name), function()
    require('winnow.keys')[name]()
  end)
end
