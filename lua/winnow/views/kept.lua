--- What is kept of worktrees that were removed, in a buffer of its own: `<CR>` brings one back.
local page = require('winnow.views.page')

local M = {}

local NAME = 'winnow://kept'

--- List what is kept in the repository at this folder; or, with a name, bring that back.
---@param cwd string
---@param name? string
function M.restore(cwd, name)
  page.tell('restore', { cwd = cwd, name = name or '' })
end

--- The host's answer.
---@param cwd string
---@param lines string[] each begins with a name
function M.show(cwd, lines)
  local buf = page.buffer(NAME)
  page.write(buf, lines)
  vim.keymap.set('n', '<CR>', function()
    M.restore(cwd, vim.api.nvim_get_current_line():match('^%S+'))
  end, { buffer = buf, desc = 'Winnow: bring this worktree back' })
  page.show(buf)
end

return M
