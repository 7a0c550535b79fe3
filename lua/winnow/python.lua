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

--- The first interpreter that can be executed. One that the user names is never passed over.
---@return winnow.Python|nil
---@return string|nil problem one sentence with the remedy
function M.find()
  local named = vim.g.winnow_python
  if named then
    local path = vim.fn.exepath(vim.fn.expand(named))
    if path == '' then
      return nil,
        ("g:winnow_python is %q, which can't be executed: correct or remove it."):format(named)
    end
    return { path = path, why = 'g:winnow_python' }
  end

  for _, place in ipairs({
    { venv = M.root .. '/.venv', why = "the plugin's .venv" },
    { venv = M.venv, why = 'the environment that build.lua made' },
  }) do
    local path = M.interpreter(place.venv)
    if vim.fn.executable(path) == 1 then
      return { path = path, why = place.why }
    end
  end
  return nil,
    ('There is no Python environment yet: run `:luafile %s/build.lua` to make it.'):format(M.root)
end

return M
