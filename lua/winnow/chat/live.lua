--- What is drawn behind the lines of calls that go on: subagents, and commands in the background.
--- Nothing of it is text, so it costs the user's undo nothing.
local grammar = require('winnow.grammar')
local transcript = require('winnow.chat.transcript')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.live')
local ENOUGH = 30 -- that are drawn anew in each second; the others are when they are told anew

---@param seconds integer
---@return string
local function clock(seconds)
  local minutes, hours = math.floor(seconds / 60), math.floor(seconds / 3600)
  if hours > 0 then
    return ('%d:%02d:%02d'):format(hours, minutes % 60, seconds % 60)
  end
  return ('%d:%02d'):format(minutes, seconds % 60)
end

--- Draw those whose lines are there.
---@param chat winnow.Chat
---@param anew? boolean look for them, should somebody have written the text anew
local function draw(chat, anew)
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  local now = os.time()
  for _, call in ipairs(vim.list_slice(chat.live, 1, ENOUGH)) do
    local tool = chat.tools[call.id]
    local row = tool and (anew and transcript.row(chat, call.id) or transcript.marked(chat, tool))
    if row then
      local passed = clock(math.max(0, math.floor(now - call.since)))
      local text = call.text == '' and passed or ('%s · %s'):format(passed, call.text)
      vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, 0, {
        virt_text = { { text, 'WinnowStatus' } },
        virt_text_pos = 'eol',
        hl_mode = 'combine',
      })
    end
  end
end

--- Draw them now, and every second as long as there are some.
---@param chat winnow.Chat
---@param calls winnow.LiveCall[]
function M.show(chat, calls)
  chat.live = calls
  draw(chat, true)
  if #calls > 0 and not chat.live_timer then
    local timer = assert(vim.uv.new_timer())
    chat.live_timer = timer
    timer:start(
      1000,
      1000,
      vim.schedule_wrap(function()
        local there = vim.api.nvim_buf_is_loaded(chat.buf)
        if there and #vim.fn.win_findbuf(chat.buf) > 0 then
          draw(chat)
        end
        if (not there or #chat.live == 0) and chat.live_timer == timer then
          timer:close()
          chat.live_timer = nil
        end
      end)
    )
  end
end

--- The call whose line the cursor is on.
---@param chat winnow.Chat
---@return string? id
function M.call_here(chat)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  if not vim.startswith(chat:lines(row, row + 1)[1] or '', grammar.TOOL) then
    return nil
  end
  for id in pairs(chat.tools) do
    if transcript.row(chat, id) == row then
      return id
    end
  end
end

return M
