--- One call of Claude's: a coroutine that waits without keeping Neovim from anything, and tells
--- what came of it once. Only timers go on with it, so what calls back is looked at, not called.
local log = require('winnow.log')
local registry = require('winnow.registry')

---@class winnow.Ask
---@field id string
---@field chat winnow.Chat
---@field cwd string
---@field deadline number seconds since the epoch
---@field dry boolean
---@field files string[]
---@field over boolean nobody waits any more
---@field ends? fun() to be called then
---@field private step fun()
local Ask = {}
Ask.__index = Ask

local BEAT = 15 -- milliseconds between two looks
local FAILED = 'Neovim failed at this; its user finds out more with :Winnow log. Go on without it.'

---@return number seconds since the epoch
function Ask.now()
  local seconds, micros = vim.uv.gettimeofday()
  return seconds + micros / 1e6
end

--- End a call: it can't be done.
---@param sentence string why, for Claude
function Ask.refuse(sentence, ...)
  error({ sentence = select('#', ...) > 0 and sentence:format(...) or sentence }, 0)
end

---@param e winnow.effect.EditorCall
---@return winnow.Ask? nil: its chat is gone, or it came too late
function Ask.new(e)
  local chat = registry.get(e.of)
  if not chat or chat.owner or Ask.now() > e.deadline then
    return nil
  end
  return setmetatable({
    id = e.id,
    chat = chat,
    cwd = e.cwd,
    deadline = e.deadline,
    dry = e.dry,
    files = e.files,
    over = false,
  }, Ask)
end

--- Nobody waits any more.
function Ask:stop()
  self.over = true
  local ends = self.ends
  self.ends = nil
  if ends then
    ends()
  end
end

--- Say what came of it.
---@param told table fields of `Told`
function Ask:tell(told)
  if not self.over then
    self:stop()
    self.chat:tell('editoranswer', { id = self.id, told = told })
  end
end

--- Do what was asked for: `act` gives what is told.
---@param act fun(ask: winnow.Ask, call: table): table
---@param call table
function Ask:run(act, call)
  local thread = coroutine.create(function()
    self:tell(act(self, call))
  end)
  self.step = function()
    local ok, problem = true, nil ---@type boolean, any
    if not self.over then
      ok, problem = coroutine.resume(thread)
    end
    if not ok and type(problem) == 'table' then
      self:tell({ problem = problem.sentence })
    elseif not ok then
      log.write(('%s failed: %s'):format(call.tool, debug.traceback(thread, tostring(problem))))
      self:tell({ problem = FAILED })
    end
  end
  self.step()
end

--- Wait until something is so, looking again and again.
---@generic T
---@param seconds number
---@param look fun(): T?
---@return T? found nil: it was not in time
function Ask:wait(seconds, look)
  local ends = math.min(self.now() + seconds, self.deadline - 0.5)
  while true do
    local found = look()
    if found or self.now() >= ends then
      return found
    end
    vim.defer_fn(self.step, BEAT)
    coroutine.yield()
  end
end

--- Wait until what is done now disturbs nobody: the user is in Normal mode, and not in the middle
--- of a command.
function Ask:until_quiet()
  local quiet = self:wait(8, function()
    local now = vim.api.nvim_get_mode()
    return now.mode == 'n' and not now.blocking and vim.fn.getcmdwintype() == ''
  end)
  if not quiet then
    self.refuse('The user is typing, and was not disturbed: nothing was done. Say it in words.')
  end
end

return Ask
