-- Winnow and nothing else: `nvim --clean -u tests/minimal_init.lua`, from anywhere.
local here = debug.getinfo(1, 'S').source:sub(2)
-- plugin/winnow.lua is sourced from there, after this file, as of any plugin.
vim.opt.runtimepath:prepend(vim.fn.fnamemodify(here, ':p:h:h'))
