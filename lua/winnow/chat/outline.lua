--- The messages of a chat: where they begin, and what goes there.
local grammar = require('winnow.grammar')
local registry = require('winnow.registry')
local trim = require('winnow.trim')
local window = require('winnow.window')

local M = {}

local HASH = ('#'):byte()
local SPEAKERS = {} ---@type table<string, true>
for _, heading in ipairs(grammar.SPEAKERS) do
  SPEAKERS[heading] = true
end

---@class winnow.Said
---@field row integer of its heading, from 0
---@field who string
---@field text string its first line that says something
---@field begins boolean it is what a turn answers

---@param chat winnow.Chat
---@param draft integer row of its heading
---@return winnow.Said[]
local function look(chat, draft)
  local found = {} ---@type winnow.Said[]
  local first, after = -1, -1
  if chat.section then
    first, after = chat.section:rows()
  end
  local last ---@type winnow.Said? of which no text is known
  for i, line in ipairs(chat:lines(0, -1)) do
    local row = i - 1
    local heads = row == draft or line:byte() == HASH and SPEAKERS[line]
    if heads and row <= draft and not (row >= first and row < after) then
      local begins = row == draft or line == grammar.YOU or line == grammar.ORCHESTRATOR
      local who = row == draft and 'You' or line:match('%w+') or ''
      last = { row = row, who = who, text = '', begins = begins }
      table.insert(found, last)
    elseif last and line:find('%S') then
      last.text, last = trim.both(line), nil
    end
  end
  return found
end

--- What was said, and the draft; an open section is part of no message. Looked for once as long as
--- the text is the same.
---@param chat winnow.Chat
---@return winnow.Said[]
function M.all(chat)
  local tick, draft = vim.api.nvim_buf_get_changedtick(chat.buf), chat:heading_row()
  local section = chat.section and chat.section.id
  local seen = chat.outline
  if not seen or seen.tick ~= tick or seen.draft ~= draft or seen.section ~= section then
    seen = { tick = tick, draft = draft, section = section, found = look(chat, draft) }
    chat.outline = seen
  end
  return seen.found
end

--- Go to the next message's heading, or to one before; without one, stay.
---@param step 1|-1
function M.jump(step)
  local chat = registry.current()
  if not chat then
    return
  end
  local here, count = vim.api.nvim_win_get_cursor(0)[1] - 1, vim.v.count1
  local rows = vim.tbl_map(function(message)
    return message.row
  end, M.all(chat))
  local beyond = vim.tbl_filter(function(row)
    return (row - here) * step > 0
  end, step > 0 and rows or vim.fn.reverse(rows))
  local target = beyond[math.min(count, #beyond)]
  if target then
    window.jump(target + 1)
  end
end

--- List the messages beside the chat: `<CR>` there goes to one.
function M.list()
  local chat = registry.current()
  if not chat then
    return
  end
  local items, here, at = {}, vim.api.nvim_win_get_cursor(0)[1] - 1, 1
  for i, message in ipairs(M.all(chat)) do
    local text = ('%-6s %s'):format(message.who, message.text)
    table.insert(items, { bufnr = chat.buf, lnum = message.row + 1, text = text })
    at = message.row <= here and i or at
  end
  vim.fn.setloclist(0, {}, ' ', {
    title = 'Messages',
    items = items,
    idx = at,
    quickfixtextfunc = window.entries,
  })
  vim.cmd.lopen()
end

return M
