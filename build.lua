-- Makes or refreshes the host's Python environment, in stdpath('data')/winnow/venv.
-- lazy.nvim runs this file on every install and update; by hand it is `:luafile build.lua`.

local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
local python = dofile(root .. '/lua/winnow/python.lua')
local interpreter = python.interpreter(python.venv)
local uv = python.program('uv')

-- What is run here is isolated (-I) and stands in a folder of ours, so that neither modules nor
-- settings of the project count in which Neovim happens to be. The user's own settings do.
local folder = python.folder()
local environment = vim.fn.environ()
for name in pairs(environment) do
  if vim.startswith(name, 'PYTHON') then
    environment[name] = nil
  end
end

-- lazy.nvim calls from a coroutine: it shows what is yielded, and what is raised as the failure.
local in_lazy = coroutine.running() ~= nil

---@param progress string
local function say(progress)
  if in_lazy then
    coroutine.yield(progress)
  else
    vim.api.nvim_echo({ { 'winnow: ' .. progress .. '\n' } }, true, {})
    vim.cmd.redraw()
  end
end

---@param command string[]
---@return string|nil failure the command's last words
local function run(command)
  local options = { text = true, cwd = folder, env = environment, clear_env = true }
  local process = vim.system(command, options)
  while in_lazy and not process:is_closing() do
    coroutine.yield()
  end
  local result = process:wait()
  if result.code ~= 0 then
    return vim.trim(result.stderr ~= '' and result.stderr or result.stdout):match('[^\n]*$')
  end
end

---@return string|nil python the first one that can make an environment
local function system_python()
  local probe = 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))'
  for _, version in ipairs({ '3.14', '3.13', '3.12', '3.11', '3.10', '3', '' }) do
    local name = python.program('python' .. version)
    if name and not run({ name, '-I', '-c', probe }) then
      return name
    end
  end
end

---@return string|nil problem
local function make_venv()
  local command
  if uv then
    command = { uv, 'venv', '--python', '>=3.10', python.venv }
  else
    local base = system_python()
    if not base then
      return 'There is no Python 3.10 or newer with venv: install it, or uv, and try again.'
    end
    command = { base, '-I', '-m', 'venv', python.venv }
  end
  local failure = run(command)
  return failure and ('The Python environment could not be made: %s'):format(failure)
end

---@return string|nil problem
local function install()
  -- Editable, so that the environment never runs an older winnow than the plugin's own.
  local with_uv = { uv, 'pip', 'install', '--compile-bytecode', '--python', interpreter }
  local with_pip = { interpreter, '-I', '-m', 'pip', 'install', '--disable-pip-version-check' }
  local command = vim.list_extend(uv and with_uv or with_pip, { '--editable', root })
  local failure = run(command)
  if failure then
    return ('The Python packages could not be installed: %s'):format(failure)
  end
  -- What is editable nobody else compiles: the first chat would wait for it, a second or two.
  run({ interpreter, '-I', '-m', 'compileall', '-q', root .. '/python', root .. '/rplugin' })
end

local problem
if vim.fn.executable(interpreter) == 0 or run({ interpreter, '-I', '-c', '' }) then
  say('making a Python environment …')
  vim.fn.delete(python.venv, 'rf')
  problem = make_venv()
end
if not problem then
  say('installing Python packages …')
  problem = install()
end

if not problem then
  say('ready')
elseif in_lazy then
  error(problem, 0)
else
  vim.notify('winnow: ' .. problem, vim.log.levels.ERROR)
end
