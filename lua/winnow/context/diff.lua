--- What has changed in a project since its last commit.
local git = require('winnow.context.git')
local trim = require('winnow.trim')

local M = {}

-- None may run what the project's own settings name, or those of a repository in it.
local DIFF = { 'diff', '--no-color', '--no-ext-diff', '--no-textconv' }
vim.list_extend(DIFF, { '--ignore-submodules=dirty', '--submodule=short', 'HEAD', '--', '.' })

---@class winnow.Diff
---@field at integer when it was made, in milliseconds
---@field lines string[]
---@field problem? string

local known = {} ---@type table<string, winnow.Diff> by directory

--- The difference as it was made last.
---@param cwd string
---@return winnow.Diff?
function M.of(cwd)
  return known[cwd]
end

--- Make it anew.
---@param cwd string
---@param done fun()
function M.prepare(cwd, done)
  local running = git.compare(cwd, DIFF, function(out)
    local made = { at = vim.uv.now(), lines = {} } ---@type winnow.Diff
    if out.code ~= 0 then
      local said = trim.both(out.stderr or ''):match('[^\n]*$'):gsub('^%l+: ', '')
      made.problem = 'git has none: ' .. (said ~= '' and said or 'it took too long')
    elseif out.stdout == '' then
      made.problem = 'is empty: nothing has changed since the last commit'
    else
      made.lines = vim.split(out.stdout:gsub('\n$', ''), '\n', { plain = true })
    end
    known[cwd] = made
    done()
  end)
  if not running then
    known[cwd] = { at = vim.uv.now(), lines = {}, problem = 'there is no git to make it' }
    done()
  end
end

return M
