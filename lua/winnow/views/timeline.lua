--- What happened in a run, in a buffer of its own.
local frontmatter = require('winnow.chat.frontmatter')
local page = require('winnow.views.page')
local registry = require('winnow.registry')
local say = require('winnow.say')

local M = {}

local NAME = 'winnow://run'

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
    page.show(page.buffer(NAME), mods)
    page.tell('timeline', { run = run })
  end
end

--- The host's answer to `M.open`.
---@param lines string[]
function M.show(lines)
  page.write(page.buffer(NAME), lines)
end

return M
