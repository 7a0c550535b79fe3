--- The Python host: started on first use, one for each Neovim, restarted once by itself.
--- Lua only ever notifies it, so no key waits for Python.
local M = {}

local config = require('winnow.config')
local files = require('winnow.chat.files')
local log = require('winnow.log')
local python = require('winnow.python')
local trim = require('winnow.trim')

-- The interpreter is ours, so no manifest and no g:python3_host_prog are involved. It is isolated
-- (-I): modules come from its own environment, never from the working directory or PYTHONPATH.
-- Nothing that is imported is garbage: to look for some would take a tenth of the time.
local BOOT = 'import gc; gc.disable(); import pynvim; pynvim.start_host()'

local REMEDY = ':checkhealth winnow says why, :Winnow restart tries again'

local channel ---@type integer?
local stderr = {} ---@type string[] what the process said last
local crashed = false -- once restarted by itself, the next crash waits for the user
local awaited = false -- this host was told something, so it must speak
local heard = false -- it did

--- Milliseconds for a new host to answer; a machine that is busy takes its time.
M.patience = 30000

--- Seconds for the CLI to start, before it is started once more.
M.cli_patience = 30

---@class winnow.host.Handlers
---@field started (fun())[] a new host runs and knows of no chat
---@field lost (fun(sentence: string))[] there is none, or a new one; the sentence says why
local handlers = { started = {}, lost = {} } ---@type winnow.host.Handlers

--- Hear of what becomes of the host.
---@param happening 'started'|'lost'
---@param handler fun(sentence?: string)
function M.on(happening, handler)
  table.insert(handlers[happening], handler)
end

---@param happening 'started'|'lost'
---@param sentence? string
local function announce(happening, sentence)
  for _, handler in ipairs(handlers[happening]) do
    handler(sentence)
  end
end

--- What the process wrote, for the log. Once it works, an error of it may quote the chat: then only
--- where it was and its name count.
---@return string
local function written()
  local lines = vim.tbl_map(function(line)
    return (not heard or line:match('^%s')) and line or line:match('^[^:]*')
  end, stderr)
  return table.concat(lines, '\n')
end

--- The last line that the process wrote, or nil.
---@return string?
local function last_words()
  local line = vim.iter(stderr):rev():find(function(line)
    return line:match('%S')
  end)
  return line and trim.both(line:gsub('%c', ' '):sub(1, 200))
end

---@param id integer
---@param code integer
local function on_exit(id, code)
  if channel ~= id then
    return -- one that we stopped ourselves
  end
  channel = nil
  log.write(('host ended with code %d\n%s'):format(code, written()))
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if crashed or not heard then -- what could not even start would not do so now
    local said = last_words() or 'exit code ' .. code
    announce('lost', ('The Python host stopped (%s); %s.'):format(said, REMEDY))
    return
  end
  crashed = true
  announce('lost', 'The Python host stopped and was started again: see :Winnow log.')
  M.start()
end

--- A host that neither ends nor speaks must not be waited for without the user knowing. It has its
--- time in beats: while Neovim itself was stopped, or the machine asleep, none has passed.
---@param id integer the channel
---@param left integer milliseconds
local function wait(id, left)
  if channel ~= id or heard then
    return
  elseif left > 0 then
    local beat = math.min(left, 1000)
    vim.defer_fn(function()
      wait(id, left - beat)
    end, beat)
    return
  end
  M.stop()
  local sentence = ('The Python host does not answer; %s.'):format(REMEDY)
  log.write(('%s\n%s'):format(sentence, written()))
  announce('lost', sentence)
end

--- The host works: it says so when it is first told something.
function M.hear()
  heard = true
end

--- A file that the user has named, from wherever the host runs.
---@param name string
---@return string path
local function absolute(name)
  return name == '' and '' or vim.fn.fnamemodify(vim.fn.expand(name), ':p')
end

--- Start the process.
---@return boolean started
---@return string? problem one sentence
local function launch()
  local found, problem = python.find()
  if not found then
    return false, problem
  end
  local options = config.get()
  local settings = vim.json.encode({
    state = python.state(),
    trees = files.trees(),
    chats = files.dir(),
    trash = vim.fs.joinpath(vim.fs.dirname(files.dir()), 'trash'),
    agent = options.agent,
    cli_path = python.cli(options.cli_path),
    cli_patience = M.cli_patience,
    scenario = absolute(options.scenario),
    replay = absolute(options.replay),
    keep_hours = options.keep_hours,
    form_hours = options.form_hours,
  })
  stderr = {}
  local shim = python.root .. '/rplugin/python3/winnow_host.py'
  local ok, id = pcall(vim.fn.jobstart, { found.path, '-I', '-c', BOOT, shim, settings }, {
    rpc = true,
    cwd = python.folder(),
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
  channel, awaited, heard = id, false, false
  return true
end

--- Start the host if it does not run, and tell it of every chat.
---@return boolean runs
---@return string? problem one sentence
function M.start()
  if channel then
    return true
  end
  local ok, problem = launch()
  if ok then
    announce('started')
  end
  return ok, problem
end

--- Tell the host something. Starts it when needed.
---@param kind winnow.EventType
---@param event table its fields
---@return boolean sent
---@return string? problem one sentence
function M.notify(kind, event)
  local ran = channel ~= nil
  if (kind == 'close' or kind == 'watched') and not ran then
    return true -- nobody has to know: there is no chat, or it is told with the chat
  end
  local ok, problem = M.start()
  if not ok then
    return false, problem
  end
  if kind == 'open' and not ran then
    return true -- told of already
  end
  if not awaited then
    awaited = true
    wait(channel --[[@as integer]], M.patience)
  end
  event.type = kind
  if not pcall(vim.rpcnotify, channel, 'winnow', event) then
    vim.fn.jobstop(channel) -- the connection broke; `on_exit` says so
  end
  return true
end

--- The process runs but can't do its work, such as when a package is missing.
---@param sentence string
---@param detail string
function M.broken(sentence, detail)
  log.write(detail)
  M.stop() -- so that the next try is with a new one
  announce('lost', ("The Python host can't work (%s); %s."):format(sentence, REMEDY))
end

--- Start the host again; open chats go on.
function M.restart()
  M.stop()
  crashed = false
  local ok, problem = M.start()
  if not ok then
    announce('lost', problem or '')
  end
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
  local ok, problem = M.start()
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
