--- Beside each mention in a draft: what it will send, or why it can't be sent.
local diff = require('winnow.context.diff')
local draft = require('winnow.lazy')('winnow.context.draft')
local found_ = require('winnow.context.found')
local hints = require('winnow.hints')
local list = require('winnow.lazy')('winnow.context.list')
local mention_ = require('winnow.context.mention')
local window = require('winnow.window')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.context')
local PAUSE = 120 -- milliseconds without a key until it is looked for
local AGE = 5000 -- milliseconds after which a diff that is mentioned is made anew

--- What one mention sends, in a few words.
---@param found winnow.Found[]
---@return winnow.Chunk[]?
local function words_of(found)
  local first = found[1]
  if not first then
    return nil
  elseif first.problem then
    return { ('→ %s %s'):format(first.mention, first.problem), 'WinnowNotice' }
  end
  local bytes = 0 ---@type integer?
  for _, one in ipairs(found) do
    bytes = bytes and one.bytes and bytes + one.bytes or nil
  end
  local amount = found_.amount(first)
  local text = first.name .. (first.note and (' (%s)'):format(first.note) or '')
  if #found > 1 then
    text, amount = ('%d files'):format(#found), bytes and found_.tokens(bytes)
  end
  return { ('→ %s%s'):format(text, amount and ', ' .. amount or ''), 'WinnowHint' }
end

--- The rows of the draft that some window shows.
---@param chat winnow.Chat
---@return integer first
---@return integer last the row after the last one
local function rows_in_sight(chat)
  local start = chat:draft_row()
  local first, last = math.huge, start
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    first = math.min(first, vim.fn.line('w0', win) - 1)
    last = math.max(last, vim.fn.line('w$', win))
  end
  return math.max(start, math.min(first, last)), last
end

--- Draw it: behind the line, or below where that has no room.
---@param chat winnow.Chat
---@param row integer
---@param chunks winnow.Chunk[] one for each mention
---@param width integer columns
---@return integer rows below the line
local function draw(chat, row, chunks, width)
  local behind, below = {}, {} ---@type winnow.Chunk[], winnow.Chunk[][]
  local columns = vim.fn.strdisplaywidth(chat:lines(row, row + 1)[1])
  for _, chunk in ipairs(chunks) do
    columns = columns + 2 + vim.fn.strdisplaywidth(chunk[1])
    table.insert(behind, { '  ' .. chunk[1], chunk[2] })
    for i, piece in ipairs(hints.wrapped(chunk[1], width - 4)) do
      table.insert(below, { { (i == 1 and '  ' or '    ') .. piece, chunk[2] } })
    end
  end
  vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, 0, {
    virt_text = columns <= width and behind or nil,
    virt_lines = columns > width and below or nil,
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
  return columns > width and #below or 0
end

--- Show it now.
---@param chat winnow.Chat
function M.now(chat)
  if not vim.api.nvim_buf_is_loaded(chat.buf) or chat.owner then
    return
  end
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  local start = chat:draft_row()
  for _, win in ipairs(chat:in_draft()) do
    window.whole(win, 0) -- of what came in one go, the end may be out of sight, and the cursor
  end
  local first, last = rows_in_sight(chat)
  local mentions = mention_.all(chat:lines(start, -1))
  chat.mentions = #mentions > 0
  local rows, stale = {}, false ---@type table<integer, winnow.Chunk[]>, boolean
  for _, mention in ipairs(mentions) do
    local row = mention.row + start
    if row >= first and row < last then
      local shown = words_of(draft.of(chat, mention))
      rows[row] = rows[row] or {}
      table.insert(rows[row], shown)
      local known = mention.word == 'diff' and diff.of(chat.cwd)
      stale = stale or mention.word == 'diff' and not (known and vim.uv.now() - known.at < AGE)
    end
  end
  local width = next(rows) and window.text_width(chat.buf) or 0
  for row, chunks in pairs(rows) do
    local below = draw(chat, row, chunks, width)
    for _, win in ipairs(below > 0 and vim.fn.win_findbuf(chat.buf) or {}) do
      if vim.api.nvim_win_get_cursor(win)[1] == row + 1 then
        window.whole(win, below)
      end
    end
  end
  list.follow(chat)
  if stale then
    draft.prepare(chat, { '@diff' }, function()
      M.now(chat)
    end)
  end
end

--- Show it as soon as the user pauses.
---@param chat winnow.Chat
function M.soon(chat)
  local timer = chat.mentioning or assert(vim.uv.new_timer())
  chat.mentioning = timer
  timer:start(
    PAUSE,
    0,
    vim.schedule_wrap(function()
      M.now(chat)
    end)
  )
end

--- Whether a change of the text can be about mentions: there are some, or somebody writes where
--- they would be.
---@param chat winnow.Chat
---@return boolean
local function may_mention(chat)
  return chat.mentions
    or #chat:in_draft() > 0
    or vim.iter(chat:lines(chat:draft_row(), -1)):any(function(line)
      return line:find('@', 1, true) ~= nil
    end)
end

--- Follow what the user writes in a chat.
---@param on fun(events: string|string[], act: fun(event: table))
---@param chat winnow.Chat
function M.watch(on, chat)
  on({ 'TextChanged', 'TextChangedI' }, function()
    if may_mention(chat) then
      M.soon(chat)
    end
  end)
  on({ 'BufWinEnter', 'BufEnter', 'InsertLeave', 'WinScrolled' }, function()
    M.soon(chat)
  end)
  on('BufUnload', function()
    if chat.mentioning then
      chat.mentioning:stop()
    end
  end)
end

return M
