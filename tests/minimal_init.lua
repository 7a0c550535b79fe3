-- The least configuration that runs winnow: `nvim --clean -u tests/minimal_init.lua`.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local root = vim.fs.dirname(vim.fn.fnamemodify(here, ':p:h'))
-- plugin/winnow.lua is sourced from here, after this file, as for any plugin.
vim.opt.runtimepath:prepend(root)
