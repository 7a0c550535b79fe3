--- Which Python runs the host.

local M = {}

--- The plugin's own folder.
M.root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')

--- The environment that build.lua makes.
M.venv = vim.fn.stdpath('data') .. '/winnow/venv'

---@param venv string a virtual environment's folder
---@return string path its interpreter, whether it exists or not
function M.interpreter(venv)
  return venv .. (vim.fn.has('win32') == 1 and '/Scripts/python.exe' or '/bin/python')
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
    local path = vim.fn.exepath(vim.fn.expand(named))
    if path == '' then
      return nil, ("g:winnow_python (%s) can't be executed: correct or remove it."):format(named)
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
