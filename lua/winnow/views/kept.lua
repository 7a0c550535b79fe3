--- What is kept of worktrees that were removed, in a buffer of its own: `<CR>` brings one back.
local host = require('winnow.host')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

local NAME = 'winnow://kept'

--- List what is kept in the repository at this folder; or, with a name, bring that back.
---@param cwd string
---@param name? string
function M.restore(cwd, name)
  local ok, problem = host.notify('restore', { cwd = cwd, name = name or '' })
  if not ok then
    say(problem or '', 'error')
  end
end

--- The host's answer.
---@param cwd string
---@param lines string[] each begins with a name
function M.show(cwd, lines)
  local buf = vim.fn.bufadd(NAME)
  vim.fn.bufload(buf)
  local options = vim.bo[buf]
  options.buftype, options.swapfile, options.modifiable = 'nofile', false, true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  options.modifiable = false
  vim.keymap.set('n', '<CR>', function()
    M.restore(cwd, vim.api.nvim_get_current_line():match('^%S+'))
  end, { buffer = buf, desc = 'Winnow: bring this worktree back' })
  window.show(buf)
end

return M
