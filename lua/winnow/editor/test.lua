--- The test at a place, run by the user's own command.
local act = require('winnow.editor.act')
local config = require('winnow.config')
local editor = require('winnow.context.editor')
local project = require('winnow.editor.project')
local python = require('winnow.python')
local refuse = require('winnow.editor.ask').refuse
local symbol = require('winnow.context.symbol')
local trim = require('winnow.trim')

local M = {}

local KEPT = 60 * 1000 -- bytes of its end
local LINES = 300 -- of these
local PATIENCE = 590 -- seconds; the host waits a little longer

--- Where to run it.
---@param ask winnow.Ask
---@param call winnow.RunTest
---@return integer buf
---@return integer line
local function place(ask, call)
  if call.path == '' then
    local buf, win = editor.beside()
    if not buf or not win or vim.api.nvim_buf_get_name(buf) == '' then
      refuse('The user is in no file: give a path.')
    end
    project.path(vim.api.nvim_buf_get_name(buf --[[@as integer]]), ask.cwd)
    return buf, vim.fn.line('.', win)
  end
  local buf = project.buffer(call.path, ask.cwd)
  local line = math.max(1, call.line)
  project.line(buf, line, call.path)
  return buf, line
end

--- The name of the function around a line.
---@param ask winnow.Ask
---@param buf integer
---@param line integer
---@return string
local function name_at(ask, buf, line)
  local ready = false
  symbol.prepare(buf, function()
    ready = true
  end)
  ask:wait(3, function()
    return ready or nil
  end)
  local found = symbol.at(buf, line)
  if not found or not found.name then
    refuse('The test command needs the name of a test, and none is around line %d.', line)
  end
  return found.name
end

--- The user's command for it.
---@param ask winnow.Ask
---@param buf integer
---@param line integer
---@return string
local function command(ask, buf, line)
  local template, cwd = config.get().test_command, ask.cwd
  local path = vim.api.nvim_buf_get_name(buf)
  local name = template:find('{name}', 1, true) and name_at(ask, buf, line) or ''
  local file = vim.startswith(path, cwd .. '/') and path:sub(#cwd + 2) or path
  file = vim.startswith(file, '-') and './' .. file or file -- not an option of the program
  local values = { file = file, line = tostring(line), name = name }
  if (file .. name):find('%c') then -- of a command of Neovim's, the next line is the next one
    refuse('The test command takes no name with a line break or the like.')
  end
  local quoted = vim.startswith(template, ':') and vim.fn.fnameescape or vim.fn.shellescape
  return (
    template:gsub('{(%l+)}', function(key)
      return values[key] and quoted(values[key])
    end)
  )
end

--- The end of an output, as lines.
---@param pieces string[]
---@return string[] lines
local function ending(pieces)
  local text = table.concat(pieces):gsub('\r\n', '\n'):gsub('\27%[[%d;?]*%a', '')
  text = trim.right(text, '%s')
  local lines = text == '' and {} or vim.split(text, '\n')
  return vim.list_slice(lines, math.max(1, #lines - LINES + 1))
end

---@class winnow.Run
---@field pieces string[] of its output, the last ones
---@field cut boolean there were more
---@field pid? integer
---@field done? vim.SystemCompleted

--- Start a command in a shell, apart from Neovim's own processes.
---@param line string
---@param cwd string
---@return winnow.Run
local function start(line, cwd)
  local made, size = { pieces = {}, cut = false }, 0 ---@type winnow.Run, integer
  ---@param _ string?
  ---@param data string?
  local function hear(_, data)
    table.insert(made.pieces, data)
    size = size + #(data or '')
    while size > KEPT and #made.pieces > 1 do
      size, made.cut = size - #table.remove(made.pieces, 1), true
    end
  end
  local words = vim.list_extend(vim.split(vim.o.shell, ' '), vim.split(vim.o.shellcmdflag, ' '))
  words[1] = python.program(words[1]) or words[1]
  local options = { cwd = cwd, stdout = hear, stderr = hear, detach = true }
  options.env = { NVIM = '' } -- as for all that Claude runs
  local ok, process = pcall(vim.system, vim.list_extend(words, { line }), options, function(ended)
    made.done = ended
  end)
  if not ok then
    refuse("The test command can't be run: %s", tostring(process))
  end
  made.pid = process.pid
  return made
end

--- Run it in a shell. It ends with its children when nobody waits any more.
---@param ask winnow.Ask
---@param line string
---@return winnow.Told
local function run(ask, line)
  local made = start(line, ask.cwd)
  local leaving = vim.api.nvim_create_autocmd('VimLeavePre', {
    callback = function()
      ask:stop()
    end,
  })
  ask.ends = function()
    pcall(vim.api.nvim_del_autocmd, leaving)
    if not made.done then
      vim.uv.kill(-made.pid, 'sigkill')
    end
  end
  ask:wait(PATIENCE, function()
    return made.done
  end)
  local done = made.done
  local note = not done and 'It did not end in time, and was stopped.'
    or made.cut and 'Only its end is here.'
    or ''
  local code = done and (done.signal > 0 and 128 + done.signal or done.code) or 124
  return { lines = ending(made.pieces), title = line, code = code, note = note }
end

---@param ask winnow.Ask
---@param call winnow.RunTest
---@return winnow.Told
function M.run_test(ask, call)
  local buf, line = place(ask, call)
  local wanted = command(ask, buf, line)
  if ask.dry then
    return { title = wanted }
  elseif not vim.startswith(wanted, ':') then
    return run(ask, wanted)
  end
  ask:until_quiet()
  act.go(vim.api.nvim_buf_get_name(buf), line)
  local ok, problem = pcall(vim.cmd, wanted:sub(2))
  if not ok then
    refuse('%s failed: %s', wanted, tostring(problem):sub(1, 500))
  end
  return { title = wanted, note = 'It runs in Neovim: the user sees what comes of it.' }
end

return M
