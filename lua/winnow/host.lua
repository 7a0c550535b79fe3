--- The Python host: started on first use, one for each Neovim, restarted once by itself.
--- Lua only ever notifies it, so no key waits for Python.
local M = {}

local python = require('winnow.python')

-- The interpreter is ours, so no manifest and no g:python3_host_prog are involved.
local BOOT = 'import pynvim; pynvim.start_host()'

-- What may be sent: the tags of `Event` in python/winnow/core/protocol.py.
M.events = {
  open = true,
  close = true,
  send = true,
  queue = true,
  stop = true,
  edit = true,
  confirm = true,
  cancel = true,
  reopen = true,
}

local channel ---@type integer?
local stderr = {} ---@type string[] what the process said last
local crashed = false -- once restarted by itself, the next crash waits for the user

--- Folder of the log and the database.
---@return string
function M.state_dir()
  return vim.fn.stdpath('state') .. '/winnow'
end

---@return string
function M.log_path()
  return M.state_dir() .. '/winnow.log'
end

--- Add to the log.
---@param text string
function M.log(text)
  vim.fn.mkdir(M.state_dir(), 'p')
  local line = os.date('%Y-%m-%d %H:%M:%S ') .. 'neovim: ' .. text
  vim.fn.writefile(vim.split(line, '\n', { plain = true }), M.log_path(), 'a')
end

--- The last line that the process wrote, or nil.
local function last_words()
  return vim.iter(stderr):rev():find(function(line)
    return line:match('%S')
  end)
end

local function on_exit(id, code)
  if channel ~= id then
    return -- one that we stopped ourselves
  end
  channel = nil
  M.log(('host ended with code %d\n%s'):format(code, table.concat(stderr, '\n')))
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local said = last_words()
  local chats = require('winnow.chats')
  if crashed or code == 1 then -- 1: Python could not even start it
    chats.lost(
      ('The Python host stopped (%s). Try :checkhealth winnow, then :Winnow restart.'):format(
        said or code
      )
    )
    return
  end
  crashed = true
  chats.lost('The Python host stopped; it was started again. :Winnow log has the details.')
  chats.reopen_all()
end

--- Start the host if it does not run.
---@return boolean started
---@return string? problem one sentence
local function start()
  if channel then
    return true
  end
  local found, problem = python.find()
  if not found then
    return false, problem
  end
  local config = require('winnow').config()
  local settings = vim.json.encode({
    state = M.state_dir(),
    agent = config.agent,
    cli_path = vim.fn.expand(config.cli_path),
    scenario = vim.fn.expand(config.scenario),
  })
  stderr = {}
  local shim = python.root .. '/rplugin/python3/winnow_host.py'
  local ok, id = pcall(vim.fn.jobstart, { found.path, '-c', BOOT, shim, settings }, {
    rpc = true,
    on_exit = on_exit,
    on_stderr = function(_, data)
      vim.list_extend(stderr, data)
      if #stderr > 50 then
        stderr = vim.list_slice(stderr, #stderr - 50)
      end
    end,
  })
  if not ok or id <= 0 then
    return false, ('%s could not be started: run :checkhealth winnow.'):format(found.path)
  end
  channel = id
  return true
end

--- Tell the host something. Starts it when needed.
---@param kind string one of `M.events`
---@param event table its fields
---@return boolean sent
---@return string? problem one sentence
function M.notify(kind, event)
  local ok, problem = start()
  if not ok then
    return false, problem
  end
  event.type = kind
  vim.rpcnotify(channel, 'winnow', event)
  return true
end

--- The process runs but can't do its work, such as when a package is missing.
---@param sentence string
---@param detail string
function M.broken(sentence, detail)
  M.log(detail)
  require('winnow.chats').lost(sentence .. '. Run :checkhealth winnow, then :Winnow restart.')
end

--- Start the host again; open chats go on.
function M.restart()
  M.stop()
  crashed = false
  require('winnow.chats').reopen_all()
end

--- End the host.
function M.stop()
  local id = channel
  channel = nil
  if id then
    vim.fn.jobstop(id)
  end
end

--- How long the host takes to answer. Starts it when needed; waits, so only for `:checkhealth`.
---@return number? milliseconds
---@return string|table answer what the host says of itself, or the problem
function M.ping()
  local ok, problem = start()
  if not ok then
    return nil, problem or ''
  end
  local answered, first = pcall(vim.rpcrequest, channel, 'winnow_about')
  if not answered then
    return nil, last_words() or tostring(first)
  end
  local began = vim.uv.hrtime()
  local about = vim.rpcrequest(channel, 'winnow_about')
  return (vim.uv.hrtime() - began) / 1e6, about
end

return M
