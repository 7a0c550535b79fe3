--- How long the tools that run have run: said behind their lines, anew every second. Drawn only:
--- nothing is written, and the host has nothing to do with it.
local countdown = require('winnow.chat.countdown')
local grammar = require('winnow.grammar')
local transcript = require('winnow.chat.transcript')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.elapsed')

local SLOW = 2 -- seconds from which on they are said, as in `core/transcript/rendering.py`
local WORKS = { working = true, waiting = true }
local ticking = {} ---@type table<integer, true> buffers

--- Draw it behind the lines of all that run.
---@param chat winnow.Chat
---@return boolean running
local function draw(chat)
  local running, now = false, vim.uv.now()
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  local told = {} ---@type table<string, true> of which `live` says more
  for _, call in ipairs(chat.live or {}) do
    told[call.id] = true
  end
  for id, tool in pairs(chat.tools) do
    local seconds = tool.since and math.floor((now - tool.since) / 1000)
    running = running or seconds ~= nil
    local row = seconds and seconds >= SLOW and not told[id] and transcript.marked(chat, tool)
    if row then
      vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, #tool.line, {
        virt_text = { { ' ' .. countdown.words(seconds), 'WinnowHint' } },
        virt_text_pos = 'inline',
      })
    end
  end
  return running
end

---@param chat winnow.Chat
local function tick(chat)
  local loaded = vim.api.nvim_buf_is_loaded(chat.buf)
  if loaded and draw(chat) and WORKS[chat.state] then
    vim.defer_fn(function()
      tick(chat)
    end, 1000)
    return
  end
  ticking[chat.buf] = nil
  if loaded then
    vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  end
end

--- A tool's line was written: it runs from now on, or no more.
---@param chat winnow.Chat
---@param id string
---@param waits boolean something else is said behind it
function M.follow(chat, id, waits)
  local tool = chat.tools[id]
  if not tool then
    return -- its line was taken away
  end
  local runs = not waits and vim.endswith(tool.line, ' ' .. grammar.RUNNING)
  local was = tool.since
  tool.since = runs and (was or vim.uv.now()) or nil
  if was and not runs then
    draw(chat)
  elseif runs and not ticking[chat.buf] then
    ticking[chat.buf] = true
    vim.defer_fn(function()
      tick(chat)
    end, 1000)
  end
end

return M
