--- What the host writes into a chat: streamed text, tool lines, frontmatter values.
local fold = require('winnow.fold')
local frontmatter = require('winnow.frontmatter')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.transcript')

--- Append to the transcript.
---@param chat winnow.Chat
---@param text string
---@param fresh boolean whether it starts a paragraph
function M.write(chat, text, fresh)
  chat:edit(function()
    chat:ensure_heading()
    text = fresh and text or chat.carry .. text
    fresh = fresh or chat.fresh
    text = fresh and text:gsub('^%s*\n', '') or text
    local body = text:sub(1, (text:reverse():find('%S') or #text + 1) * -1)
    chat.carry = text:sub(#body + 1)
    chat.fresh = fresh and body == '' -- white space alone starts nothing
    if body == '' then
      return
    end
    local row = chat:tail_row()
    local lines = vim.split(body, '\n', { plain = true })
    if fresh then
      M.insert(chat, row, lines)
    else
      local length = #chat:lines(row, row + 1)[1]
      vim.api.nvim_buf_set_text(chat.buf, row, length, row, length, lines)
    end
  end)
end

--- Insert lines after the transcript's last one, as a block of their own.
---@param chat winnow.Chat
---@param row integer
---@param lines string[]
---@param close? boolean without a blank line before
function M.insert(chat, row, lines, close)
  local block = close and vim.list_extend({}, lines) or vim.list_extend({ '' }, lines)
  if chat:lines(row + 1, row + 2)[1] ~= '' then
    table.insert(block, '')
  end
  vim.api.nvim_buf_set_lines(chat.buf, row + 1, row + 1, false, block)
  fold.at(chat.buf, row) -- what stood there is complete now
end

--- Take a tool's lines away, as if they had never stood there: what they were set apart from by
--- two blank lines is now by one.
---@param chat winnow.Chat
---@param row integer
local function remove(chat, row)
  local near = chat:lines(math.max(row - 1, 0), -1)
  local above = row > 0 and table.remove(near, 1)
  if not vim.startswith(near[1], '▸') then
    return -- the user has deleted it
  end
  local last = 1
  while near[last + 1] and vim.startswith(near[last + 1], '│') do
    last = last + 1
  end
  local first = above == '' and near[last + 1] == '' and row - 1 or row
  vim.api.nvim_buf_set_lines(chat.buf, first, row + last, false, {})
end

--- Show a tool call, or its new state.
---@param chat winnow.Chat
---@param id string
---@param line string empty: no more
---@param output string[] folded lines
function M.tool(chat, id, line, output)
  local lines = vim.list_extend({ line }, output)
  chat.carry = ''
  chat:edit(function()
    chat:ensure_heading()
    local mark = chat.tools[id]
    if line == '' then
      if mark then
        remove(chat, vim.api.nvim_buf_get_extmark_by_id(chat.buf, namespace, mark, {})[1])
        vim.api.nvim_buf_del_extmark(chat.buf, namespace, mark)
        chat.tools[id] = nil
      end
    elseif mark then
      local row = vim.api.nvim_buf_get_extmark_by_id(chat.buf, namespace, mark, {})[1]
      local length = #chat:lines(row, row + 1)[1]
      vim.api.nvim_buf_set_text(chat.buf, row, 0, row, length, lines)
      fold.at(chat.buf, row)
    else
      local row = chat:tail_row()
      local last = chat:lines(row, row + 1)[1]
      local after_tool = vim.startswith(last, '▸') or vim.startswith(last, '│')
      M.insert(chat, row, lines, after_tool)
      -- Left gravity: it stays at the line's start when the line is replaced.
      chat.tools[id] = vim.api.nvim_buf_set_extmark(
        chat.buf,
        namespace,
        row + (after_tool and 1 or 2),
        0,
        { right_gravity = false }
      )
    end
  end)
end

--- Set frontmatter values.
---@param chat winnow.Chat
---@param values table<string, string>
function M.meta(chat, values)
  chat:edit(function()
    local lines, last = frontmatter.merged(chat.buf, values)
    if last then
      vim.api.nvim_buf_set_lines(chat.buf, 1, last, false, lines)
    end
  end)
end

return M
