--- `:Winnow run` and `:Winnow hand`: what the user wants of a run.
local begin = require('winnow.begin')
local board = require('winnow.views.board')
local clarify = require('winnow.clarify')
local frontmatter = require('winnow.chat.frontmatter')
local guard = require('winnow.guard')
local host = require('winnow.host')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')

local M = {}

--- What a run is to reach; the name of a file stands for the specification in it.
---@param rest string
---@return string? goal nil: there is no such file
local function goal_of(rest)
  local name = trim.both(rest)
  local path = vim.fn.fnamemodify(name, ':p')
  if name:find('%s') then
    return rest
  elseif vim.fn.filereadable(path) == 1 then
    return ('Reach what the specification in %s asks for.'):format(path)
  elseif name:find('/') or name:find('%w%.%a%w*$') then
    say(('winnow: there is no file %s.'):format(name), 'warn')
    return nil
  end
  return rest
end

--- The run, and the task, that the cursor is on: on the board, in a task, or in a run's chat.
---@return string? run
---@return string task empty: whichever it is
local function here()
  local run, task = board.about(vim.api.nvim_get_current_line())
  if run then
    return run, task
  end
  local chat = registry.current()
  local found = chat and frontmatter.read(chat.buf) or {}
  return found.run, found.task or ''
end

--- Tell the host something about the run here.
---@param kind winnow.EventType
---@param event table its other fields
local function tell(kind, event)
  event.run = here()
  if not event.run then
    say('winnow: no run is here: go to its chat, to one of its tasks, or to its line.', 'warn')
  elseif guard.is_user() then
    host.notify(kind, event)
  end
end

--- Begin a run; or let the one of this chat go on, maybe with a higher budget, or stop it.
---@param args table as nvim_create_user_command gives it
---@param rest string
function M.run(args, rest)
  local words = trim.both(rest)
  local budget = tonumber(words:match('^%+%+budget=([%d.]+)$'))
  local goal, worktree = rest:gsub('^%+%+worktree%f[%s%z]%s*', '')
  goal = trim.both(goal)
  if budget or words == '++continue' then
    tell('goon', { budget = budget or 0 })
  elseif words == '++stop' then
    tell('haltrun', {})
  elseif vim.startswith(goal, '++') then
    local known = '++budget={dollars}, ++continue, ++stop and ++worktree'
    say(('winnow: there is no %s, only %s.'):format(goal:match('%S+'), known), 'warn')
  elseif goal ~= '' or clarify.goal() then
    local what = clarify.goal()
    if goal ~= '' then
      what = goal_of(goal)
    end
    if what then
      begin.chat(args, what, { run = begin.id() }, worktree > 0)
    end
  else
    say('winnow: say what is to be reached: :Winnow run {goal}.', 'warn')
  end
end

--- `:Winnow stop` on the board: of the run on this line.
function M.stop()
  if select(2, here()) == '' then
    tell('haltrun', {})
  else
    say("winnow: on the run's line; for a task dd and :w.", 'warn')
  end
end

--- Have another task answer a question of the task here: `{task} [question]`.
---@param rest string
function M.hand(rest)
  local to, query = rest:match('^%s*(%w+)%s*(%w*)%s*$')
  if to then
    tell('handover', { to = to, query = query, task = select(2, here()) })
  else
    say('winnow: say which task is to answer: :Winnow hand {task} [question].', 'warn')
  end
end

--- The tasks that this buffer names.
---@return string[]
function M.tasks()
  local found = {} ---@type table<string, boolean>
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    for id in line:gmatch('%f[%w]t%d+%f[%W]') do
      found[id] = true
    end
  end
  local ids = vim.tbl_keys(found) ---@type string[]
  table.sort(ids, function(one, other)
    return tonumber(one:sub(2)) < tonumber(other:sub(2))
  end)
  return ids
end

return M
