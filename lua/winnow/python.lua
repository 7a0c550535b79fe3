--- Which Python runs the host.

local M = {}

--- The plugin's own folder.
M.root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')

--- Folder of the log, the database and what else is about this machine only.
---@return string
function M.state()
  return vim.fn.stdpath('state') .. '/winnow'
end

--- The environment that build.lua makes.
M.venv = vim.fn.stdpath('data') .. '/winnow/venv'

---@param venv string a virtual environment's folder
---@return string path its interpreter, whether it exists or not
function M.interpreter(venv)
  return venv .. (vim.fn.has('win32') == 1 and '/Scripts/python.exe' or '/bin/python')
end

--- Whether a path means the same from everywhere.
---@param path string
---@return boolean
function M.is_absolute(path)
  return path:find('^/') ~= nil or path:find('^%a:[/\\]') ~= nil
end

local SEPARATOR = vim.fn.has('win32') == 1 and ';' or ':'

--- The entries of the PATH that mean the same in each folder.
---@return string[]
local function folders()
  return vim.tbl_filter(M.is_absolute, vim.split(vim.env.PATH or '', SEPARATOR))
end

--- The PATH of these alone.
---@return string
function M.path()
  return table.concat(folders(), SEPARATOR)
end

--- A program's absolute path. Only absolute entries of the PATH are looked at: any other would find
--- what lies in the project that Neovim happens to stand in.
---@param name string a name to find on the PATH, or an absolute path
---@return string? path
function M.program(name)
  if M.is_absolute(name) then
    return vim.fn.executable(name) == 1 and vim.fn.exepath(name) or nil
  elseif name:find('[/\\]') then
    return nil
  end
  for _, folder in ipairs(folders()) do
    local path = folder .. '/' .. name
    if vim.fn.executable(path) == 1 then
      return vim.fn.exepath(path)
    end
  end
end

--- Claude Code, as the user has named it.
---@param cli_path string
---@return string path empty: the one that comes with the SDK
function M.cli(cli_path)
  local name = vim.fn.expand(cli_path)
  return M.program(name) or name
end

--- A folder for the processes that are ours: in a project's, they would find the project's files.
---@return string
function M.folder()
  local state = M.state()
  pcall(vim.fn.mkdir, state, 'p', tonumber('700', 8))
  return vim.fn.isdirectory(state) == 1 and state or '/'
end

---@class winnow.Python
---@field path string
---@field why string where it was found
---@field remedy string what to do when it does not work

--- The first interpreter that can be executed. One that the user names is never passed over.
---@return winnow.Python|nil
---@return string|nil problem one sentence with the remedy
function M.find()
  local named = vim.g.winnow_python
  if named then
    local path = M.program(vim.fn.expand(named))
    if not path then
      local remedy = 'give an absolute path or the name of a program, or remove it'
      return nil, ("g:winnow_python (%s) can't be executed: %s."):format(named, remedy)
    end
    return { path = path, why = 'g:winnow_python', remedy = 'Correct or remove g:winnow_python' }
  end

  local build = (':luafile %s/build.lua'):format(M.root)
  for _, place in ipairs({
    { M.root .. '/.venv', "the plugin's .venv", ('make -B -C %s install'):format(M.root) },
    { M.venv, 'made by build.lua', build },
  }) do
    local venv, why, command = unpack(place)
    local path = M.interpreter(venv)
    if vim.fn.executable(path) == 1 then
      return { path = path, why = why, remedy = ('Run `%s`'):format(command) }
    end
  end
  return nil, ('There is no Python environment yet: run %s to make it.'):format(build)
end

return M
