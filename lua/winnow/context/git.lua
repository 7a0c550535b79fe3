--- Runs git in a project, without waiting for it, and so that nothing of the project is run.
local python = require('winnow.python')

local M = {}

local QUIET = {
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'safe.bareRepository=explicit',
}
local FILTERS = { 'config', '-z', '--show-scope', '--get-regexp', '^filter\\.' }
local PATIENCE = 10 * 1000 -- milliseconds

--- Variables for what is started in a project.
---@return table<string, string>
local function environment()
  return {
    -- An object that is missing is fetched as the repository says, which may name a program.
    GIT_ALLOW_PROTOCOL = 'none',
    GIT_NO_LAZY_FETCH = '1',
    GIT_OPTIONAL_LOCKS = '0',
    GIT_TERMINAL_PROMPT = '0',
    LC_ALL = 'C',
    PATH = python.path(),
  }
end

---@param cwd string
---@param arguments string[]
---@param options table of vim.system()
---@param done? fun(out: table) on the main loop
---@return table? process nil: there is no git
function M.run(cwd, arguments, options, done)
  local git = python.program('git')
  if not git then
    return nil
  end
  local all = vim.iter({ { git }, QUIET, arguments }):flatten():totable()
  local wanted = vim.tbl_extend('force', { cwd = cwd, timeout = PATIENCE }, options)
  wanted.env = vim.tbl_extend('force', environment(), options.env or {})
  local ok, process = pcall(vim.system, all, wanted, done and vim.schedule_wrap(done))
  return ok and process or nil
end

--- Variables that switch off what the repository itself has its files pass through when they are
--- compared. See adapters/git/settings.py, which does so for all that is asked of git by the host.
---@param told string what git says to FILTERS
---@return table<string, string>
local function unfiltered(told)
  local variables, count = {}, 0
  for scope, name, _, value in told:gmatch('(%Z*)%zfilter%.(%Z-)%.(%a+)\n(%Z*)%z') do
    local tool = value:match('^"?git%-(%a+)"? [%a%% -]*$')
    if (scope == 'local' or scope == 'worktree') and tool ~= 'lfs' and tool ~= 'crypt' then
      for what, off in pairs({ clean = '', smudge = '', process = '', required = 'false' }) do
        variables['GIT_CONFIG_KEY_' .. count] = ('filter.%s.%s'):format(name, what)
        variables['GIT_CONFIG_VALUE_' .. count] = off
        count = count + 1
      end
    end
  end
  variables.GIT_CONFIG_COUNT = tostring(count)
  return variables
end

--- The same for what compares files.
---@param cwd string
---@param arguments string[]
---@param done fun(out: table) on the main loop
---@return table? process nil: there is no git
function M.compare(cwd, arguments, done)
  return M.run(cwd, FILTERS, { text = true }, function(told)
    M.run(cwd, arguments, { text = true, env = unfiltered(told.stdout or '') }, done)
  end)
end

return M
