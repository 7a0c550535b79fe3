--- What happened in a run, in a buffer of its own.
local frontmatter = require('winnow.chat.frontmatter')
local host = require('winnow.host')
local registry = require('winnow.registry')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

local NAME = 'winnow://run'

--- The buffer, made when it is missing.
---@return integer
local function buffer()
  local buf = vim.fn.bufadd(NAME)
  vim.fn.bufload(buf)
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  return buf
end

--- The run that is led in the current chat; says so where there is none.
---@return string?
function M.run()
  local chat = registry.current()
  local run = chat and frontmatter.read(chat.buf).run
  if not run then
    say('winnow: this is not the chat of a run: :Winnow run {goal} starts one.', 'warn')
  end
  return run
end

--- Open the timeline of the current chat's run; its text follows.
---@param mods table command modifiers
function M.open(mods)
  local run = M.run()
  if run then
    window.show(buffer(), mods)
    local ok, problem = host.notify('timeline', { run = run })
    if not ok then
      say(problem or '', 'error')
    end
  end
end

--- The host's answer to `M.open`.
---@param lines string[]
function M.show(lines)
  local buf = buffer()
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

return M
