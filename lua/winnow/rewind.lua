--- Back to before a message: which one is meant, and which files must not be touched.
local branches = require('winnow.chat.branches')
local context = require('winnow.context.draft')
local files = require('winnow.chat.files')
local grammar = require('winnow.grammar')
local outline = require('winnow.chat.outline')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')

local M = {}

--- The files that are changed in a buffer, and not written.
---@return string[] paths
function M.unsaved()
  local paths = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    local is_file = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and name ~= ''
    if is_file and vim.bo[buf].modified and not registry.get(buf) then
      table.insert(paths, files.real(name))
    end
  end
  return paths
end

--- The message of the user's under the cursor, or the one that is answered there; in the draft the
--- last one.
---@param chat winnow.Chat
---@return integer? row of its heading
---@return integer after the row of what follows it
---@return integer nth which of the user's it is, from 0
local function message_here(chat)
  local here, draft = vim.api.nvim_win_get_cursor(0)[1] - 1, chat:heading_row()
  local all, nth, row, after = outline.all(chat), -1, nil, draft
  for i, message in ipairs(all) do
    if message.row < draft and message.row <= here and message.who == 'You' then
      nth, row = nth + 1, message.row
      after = all[i + 1] and all[i + 1].row or draft
    end
  end
  return row, after, nth
end

--- Ask what is to be as it was before the message under the cursor.
---@param chat winnow.Chat
function M.ask(chat)
  if chat.section then
    say('winnow: something waits in this chat: answer that first, or cancel it.', 'warn')
    return
  end
  local row, after, nth = message_here(chat)
  local draft = chat:heading_row()
  local first = 0
  for i, line in ipairs(chat:lines(0, draft)) do
    if vim.list_contains(grammar.SPEAKERS, line) then
      first = i - 1
      break
    end
  end
  local said = row and chat:lines(row + 1, after) or {}
  local cwd, values = branches.values(chat)
  chat:tell('rewind', {
    cwd = cwd,
    values = values,
    text = context.words(trim.both(table.concat(said, '\n'))),
    nth = math.max(nth, 0),
    lines = row and chat:lines(first, draft) or {},
    row = row and row - first or 0,
    unsaved = M.unsaved(),
  })
end

return M
