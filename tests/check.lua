-- Run by `nvim -l`: every Lua file parses, and the help has no broken or duplicate tags.
for _, pattern in ipairs({ '*.lua', '{lua,plugin,ftplugin,tests}/**/*.lua' }) do
  for _, path in ipairs(vim.fn.glob(pattern, false, true)) do
    assert(loadfile(path))
  end
end
vim.cmd.helptags('doc')
