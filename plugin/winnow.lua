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

vim.api.nvim_create_autocmd('BufReadPost', {
  group = vim.api.nvim_create_augroup('winnow', {}),
  pattern = '*/winnow/chats/*.md',
  callback = function(event)
    require('winnow.chats').attach(event.buf)
  end,
})

for name, call in pairs({
  go = 'go',
  cancel = 'cancel',
  keep = 'keep',
  send = 'send',
  stop = 'stop',
}) do
  vim.keymap.set('n', ('<Plug>(winnow-%s)'):format(name), function()
    require('winnow.keys')[call]()
  end)
end
