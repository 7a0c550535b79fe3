-- Run by `nvim -l` in the plugin's folder: every Lua file parses, and the help is whole.
for _, pattern in ipairs({ '*.lua', '{lua,plugin,ftplugin,tests}/**/*.lua' }) do
  for _, path in ipairs(vim.fn.glob(pattern, false, true)) do
    assert(loadfile(path))
  end
end

vim.cmd.helptags('doc') -- raises on a duplicate tag
local help = table.concat(vim.fn.readfile('doc/winnow.txt'), '\n')

---@param text string
local function is_documented(text)
  assert(help:find(text, 1, true), ('doc/winnow.txt lacks %s'):format(text))
end

vim.opt.runtimepath:prepend('.')
for name in pairs(require('winnow.command').subcommands) do
  is_documented(('*:Winnow-%s*'):format(name))
end
for name in pairs(require('winnow.config').get()) do
  is_documented(('\n    %s '):format(name))
end
require('winnow.highlight').define()
for group in pairs(vim.api.nvim_get_hl(0, {})) do
  if vim.startswith(group, 'Winnow') then
    is_documented(('*hl-%s*'):format(group))
  end
end
