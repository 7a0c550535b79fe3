--- The board: the list of all runs and their tasks.
local grammar = require('winnow.grammar')
local list = require('winnow.views.list')
local marker = require('winnow.section.marker')
local page = require('winnow.views.page')
local task = require('winnow.views.task')

local M = {}

--- What a line is about.
---@param line string
---@return string? run
---@return string task empty: the run itself
function M.about(line)
  local found = marker.of(line)
  if found and found.slot == grammar.TASK then
    return found.id, 't' .. found.question
  end
  return found and found.slot == grammar.HEAD and found.id or nil, ''
end

---@type winnow.ListKind
local KIND = {
  filetype = 'winnowboard',
  hint = '<CR> opens, K looks · dd cancels, o adds · :w does it',
  key = function(line)
    local run, id = M.about(line)
    return run and run .. id
  end,
  pick = function(line, _, peek)
    local run, id = M.about(line)
    if peek then
      page.tell('peek', { run = run, task = id })
    elseif run and id ~= '' then
      task.open(run, id)
    else
      page.tell('gotorun', { run = run })
    end
  end,
}

--- Open the board; its lines follow.
---@param mods? table command modifiers
function M.open(mods)
  list.open('board', 0, mods, KIND)
end

return M
