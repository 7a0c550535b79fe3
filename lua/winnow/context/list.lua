--- The list of all that the next message and the session carry: `:Winnow context`.
local draft = require('winnow.context.draft')
local found_ = require('winnow.context.found')
local lists = require('winnow.views.list')
local marker = require('winnow.section.marker')
local mention_ = require('winnow.context.mention')
local say = require('winnow.say')
local undo = require('winnow.chat.undo')
local window = require('winnow.window')

local M = {}

--- Tell the host what the draft mentions.
---@param chat winnow.Chat
local function tell(chat)
  local mentions = vim.tbl_map(function(found)
    return {
      mention = found.mention,
      name = found.problem or found.name .. (found.note and (' (%s)'):format(found.note) or ''),
      amount = not found.problem and found_.amount(found) or '',
      problem = found.problem ~= nil,
    }
  end, draft.all(chat, chat:lines(chat:draft_row(), -1)))
  chat:tell('mentions', { mentions = mentions })
end

--- The draft has changed: tell it, if somebody looks.
---@param chat winnow.Chat
function M.follow(chat)
  local list = lists.get('context', chat.buf)
  if list and vim.fn.bufwinid(list.buf) ~= -1 then
    tell(chat)
  end
end

-- What may follow a file's name, or be a part of it.
local TAILS = { '', ' %(.-%)', ' [%d%-]+', ' [%d%-]+ %(.-%)' }

--- The file that a mention names.
---@param line string
---@param cwd string the chat's
---@return string?
local function mentioned(line, cwd)
  local name = line:match('→ (.+), .-$') or line:match('→ (.+)$') or ''
  for _, tail in ipairs(TAILS) do
    local path = name:match('^(.+)' .. tail .. '$')
    path = path and path:find('^[~/]') and path or path and vim.fs.joinpath(cwd, path)
    path = path and vim.fs.normalize(path, { expand_env = false })
    if path and vim.fn.filereadable(path) == 1 then
      return path
    end
  end
end

--- Open the file that a line is about.
---@param line string
---@param cwd string the chat's
local function pick(line, cwd)
  line = marker.strip(line)
  local path = line:match('^%s*%S+%s%s(/.*)$') or mentioned(line, cwd)
  if path and vim.fn.filereadable(path) == 1 then
    window.open_beside(path)
  else
    say('winnow: this line is about no file.', 'info')
  end
end

--- What is hidden in a line would be taken for a part of its file's name.
---@param buf integer
local function dress(buf)
  for _, key in ipairs({ 'gf', 'gF' }) do
    vim.keymap.set('n', key, '<CR>', { buffer = buf, remap = true, desc = 'Winnow: open this' })
  end
end

---@param chat winnow.Chat
---@param mods? table command modifiers
function M.open(chat, mods)
  tell(chat)
  lists.open('context', chat.buf, mods, {
    wraps = true,
    hint = 'dd takes a mention out · :w does it · <CR> opens a file',
    dress = dress,
    pick = function(line)
      pick(line, chat.cwd)
    end,
  })
end

--- Take mentions out of the draft; an edit that `u` takes back.
---@param chat winnow.Chat
---@param texts string[] as they are written
function M.remove(chat, texts)
  undo.restore(chat)
  local start = chat:draft_row()
  local mentions = mention_.all(chat:lines(start, -1))
  for i = #mentions, 1, -1 do
    local one = mentions[i]
    if vim.list_contains(texts, one.text) then
      local row = start + one.row
      local line, last = chat:lines(row, row + 1)[1], one.col + #one.text
      last = line:sub(last + 1, last + 1) == ' ' and last + 1 or last
      vim.api.nvim_buf_set_text(chat.buf, row, one.col, row, last, { '' })
    end
  end
end

return M
