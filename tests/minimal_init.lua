-- Winnow and nothing else: `nvim --clean -u tests/minimal_init.lua`, from anywhere.
local here = debug.getinfo(1, "S").source:sub(2)
vim.opt.runtimepath:prepend(vim.fn.fnamemodify(here, ":p:h:h"))
