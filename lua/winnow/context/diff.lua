--- What has changed in a project since its last commit.
local M = {}

local QUIET = { 'git', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null' }
local ENV = { GIT_OPTIONAL_LOCKS = '0', GIT_TERMINAL_PROMPT = '0', LC_ALL = 'C' }
-- Neither may run what the project's own settings name.
local DIFF = { 'diff', '--no-color', '--no-ext-diff', '--no-textconv', 'HEAD', '--', '.' }
local PATIENCE = 10 * 1000 -- milliseconds

---@class winnow.Diff
---@field at integer when it was made, in milliseconds
---@field lines string[]
---@field problem? string

local known = {} ---@type table<string, winnow.Diff> by directory

--- Run git in a directory without waiting for it.
---@param cwd string
---@param arguments string[]
---@param options table of vim.system()
---@param done? fun(out: table) on the main loop
---@return table? process nil: there is no git
function M.git(cwd, arguments, options, done)
  local all = vim.list_extend(vim.list_extend({}, QUIET), arguments)
  local wanted = vim.tbl_extend('force', { cwd = cwd, env = ENV, timeout = PATIENCE }, options)
  local ok, process = pcall(vim.system, all, wanted, done and vim.schedule_wrap(done))
  return ok and process or nil
end

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
  local running = M.git(cwd, DIFF, { text = true }, function(out)
    local made = { at = vim.uv.now(), lines = {} } ---@type winnow.Diff
    if out.code ~= 0 then
      local said = vim.trim(out.stderr or ''):match('[^\n]*$'):gsub('^%l+: ', '')
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
