--- What the host writes into a chat: streamed text, tool lines, frontmatter values.
local duration = require('winnow.chat.duration')
local fold = require('winnow.chat.fold')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local growth = require('winnow.chat.growth')
local steps = require('winnow.chat.steps')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.transcript')

--- Append to the transcript.
---@param chat winnow.Chat
---@param text string
---@param fresh boolean whether it starts a paragraph
function M.write(chat, text, fresh)
  chat:as_host(function()
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
    local asked = fresh and vim.startswith(body, grammar.YOU .. '\n')
    if asked and row > 0 and chat:lines(row, row + 1)[1] == grammar.CLAUDE then
      vim.api.nvim_buf_set_lines(chat.buf, row - 1, row + 1, false, {}) -- nothing was said yet
      row = chat:tail_row()
    end
    if not fresh then
      return growth.append(chat.buf, row, body)
    end
    M.insert(chat, row, vim.split(body, '\n', { plain = true }))
    if vim.startswith(body, '## ') then -- an answer that came late, as a message
      chat:count_above()
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

---@class winnow.ToolMark
---@field mark integer extmark on the line
---@field line string as it was written
---@field due? number when what it awaits is to come, in milliseconds
---@field left? integer extmark that says how soon that is
---@field since? number when it began to run, in milliseconds

---@param chat winnow.Chat
---@param row integer
---@param line string
---@param id? integer
---@return integer mark
local function set_mark(chat, row, line, id)
  return vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, 0, {
    id = id,
    end_col = #line,
    right_gravity = false, -- it stays at the line's start when the line is replaced
    invalidate = true,
  })
end

--- Where a tool's mark is, if its line still stands there: for what is drawn again and again.
---@param chat winnow.Chat
---@param tool winnow.ToolMark
---@return integer? row
function M.marked(chat, tool)
  local mark =
    vim.api.nvim_buf_get_extmark_by_id(chat.buf, namespace, tool.mark, { details = true })
  local row = mark[1]
  return row and not mark[3].invalid and chat:lines(row, row + 1)[1] == tool.line and row or nil
end

--- Where a tool's line is now: where its mark is, or, when it was written anew, where it reads the
--- same. Nil: the user has deleted or changed it, and it is theirs.
---@param chat winnow.Chat
---@param tool winnow.ToolMark
---@return integer? row
local function row_of(chat, tool)
  local row = M.marked(chat, tool)
  if row then
    return row
  end
  local lines = chat:lines(0, (chat:heading_row()))
  for i = #lines, 1, -1 do
    if lines[i] == tool.line then
      set_mark(chat, i - 1, tool.line, tool.mark)
      return i - 1
    end
  end
end

--- Where a call's line is; nil: it has none here.
---@param chat winnow.Chat
---@param id string
---@return integer? row
function M.row(chat, id)
  local tool = chat.tools[id]
  return tool and row_of(chat, tool)
end

--- Take a tool's lines away, as if they had never stood there: what they were set apart from by
--- two blank lines is now by one.
---@param chat winnow.Chat
---@param row integer
local function remove(chat, row)
  local near = chat:lines(math.max(row - 1, 0), -1)
  local above = row > 0 and table.remove(near, 1)
  local last = 1
  while near[last + 1] and vim.startswith(near[last + 1], grammar.OUTPUT) do
    last = last + 1
  end
  local first = above == '' and near[last + 1] == '' and row - 1 or row
  vim.api.nvim_buf_set_lines(chat.buf, first, row + last, false, {})
  fold.moved(chat)
end

--- Say behind a line how soon what it awaits comes, anew every second until it says something else.
--- Drawn only: nothing is written.
---@param chat winnow.Chat
---@param tool winnow.ToolMark
---@param due number
local function count_down(chat, tool, due)
  if tool.due ~= due or not vim.api.nvim_buf_is_loaded(chat.buf) then
    return
  end
  local seconds, row = math.ceil((due - vim.uv.now()) / 1000), row_of(chat, tool)
  if not row then
    return
  end
  tool.left = vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, #tool.line, {
    id = tool.left,
    virt_text = seconds > 0 and { { ' ' .. duration.words(seconds), 'WinnowNotice' } } or nil,
    virt_text_pos = 'inline',
  })
  if seconds > 0 then
    vim.defer_fn(function()
      count_down(chat, tool, due)
    end, 1000)
  end
end

--- Begin to count down, or end it.
---@param chat winnow.Chat
---@param tool winnow.ToolMark
---@param seconds number 0: nothing is awaited
local function await(chat, tool, seconds)
  if tool.left then
    vim.api.nvim_buf_del_extmark(chat.buf, namespace, tool.left)
    tool.left = nil
  end
  tool.due = seconds > 0 and vim.uv.now() + seconds * 1000 or nil
  if tool.due then
    count_down(chat, tool, tool.due)
  end
end

--- Write a tool's line for the first time.
---@param chat winnow.Chat
---@param id string
---@param lines string[]
local function add(chat, id, lines)
  local row = chat:tail_row()
  local last = chat:lines(row, row + 1)[1]
  local after_tool = fold.is_output(chat.buf, row) or vim.startswith(last, grammar.TOOL)
  M.insert(chat, row, lines, after_tool)
  local at = row + (after_tool and 1 or 2)
  chat.tools[id] = { mark = set_mark(chat, at, lines[1]), line = lines[1] }
  fold.at(chat.buf, at)
end

--- Write what has become of a tool; an output takes the place of the one that is there.
---@param chat winnow.Chat
---@param tool winnow.ToolMark
---@param row integer
---@param lines string[]
local function update(chat, tool, row, lines)
  local last = row + 1
  while #lines > 1 and fold.is_output(chat.buf, last) do
    last = last + 1
  end
  vim.api.nvim_buf_set_lines(chat.buf, row + 1, last, false, {})
  vim.api.nvim_buf_set_text(chat.buf, row, 0, row, #tool.line, lines)
  tool.line = lines[1]
  if last - row ~= #lines then
    fold.moved(chat)
  end
  set_mark(chat, row, tool.line, tool.mark)
  fold.at(chat.buf, row)
end

local LEFT = (' %s'):format(grammar.RUNNING)
local FAR = 5000 -- lines: a turn may be so long
M.TODO = ('%s Todo '):format(grammar.TOOL) -- goes on for as long as there is something to do

--- Nothing runs any more, since its host is gone: lines of calls say so, and count on no longer,
--- also of what went on in the background when its turn was over.
---@param chat winnow.Chat
function M.settle(chat)
  local heading = chat:heading_row()
  local first = math.max(0, heading - FAR)
  local lines = chat:lines(first, heading)
  local said, maybe = {}, {} ---@type integer[], integer[]
  for i = #lines, 1, -1 do
    local line = lines[i]
    if vim.endswith(line, LEFT) and vim.startswith(line, grammar.TOOL .. ' ') then
      maybe[#maybe + 1] = not vim.startswith(line, M.TODO) and i or nil
    elseif line == grammar.CLAUDE then
      said, maybe = vim.list_extend(said, maybe), {}
    elseif line == grammar.YOU then
      maybe = {} -- these are the user's own words
    end
  end
  if #said == 0 then
    return
  end
  chat:as_host(function()
    for _, i in ipairs(said) do
      local row, line = first + i - 1, lines[i]:sub(1, -#grammar.RUNNING - 1)
      vim.api.nvim_buf_set_lines(chat.buf, row, row + 1, false, { line .. grammar.REFUSED })
    end
  end)
end

--- Show a tool call, or its new state.
---@param chat winnow.Chat
---@param id string
---@param line string empty: no more
---@param output string[] folded lines
---@param seconds? number until what it awaits comes
function M.tool(chat, id, line, output, seconds)
  local tool = chat.tools[id]
  if tool then
    await(chat, tool, 0)
  end
  chat:as_host(function()
    chat:ensure_heading()
    local row = tool and row_of(chat, tool)
    local lines = vim.list_extend({ line }, output)
    if not tool and line ~= '' then
      add(chat, id, lines)
    elseif tool and row and line ~= '' then
      update(chat, tool, row, lines)
    elseif row then
      remove(chat, row)
    end
    if tool and line == '' then
      vim.api.nvim_buf_del_extmark(chat.buf, namespace, tool.mark)
      chat.tools[id] = nil
    end
  end)
  if chat.tools[id] then
    await(chat, chat.tools[id], seconds or 0)
  end
end

--- See `frontmatter.keep`; it is folded as ever.
---@param chat winnow.Chat
function M.keep_frontmatter(chat)
  if frontmatter.keep(chat) then
    fold.frontmatter(chat.buf)
  end
end

--- Put a task's transcript in the place of what stands there of it.
---@param chat winnow.Chat
---@param lines string[]
---@param earlier? boolean above all that stands there, which stays
function M.whole(chat, lines, earlier)
  if not earlier then
    chat.carry, chat.fresh, chat.tools = '', false, {}
  end
  chat:as_host(function()
    chat:ensure_heading()
    local _, last = frontmatter.read(chat.buf)
    local first = (last or -1) + 1
    if chat.section then
      first = select(2, chat.section:rows()) - 1 -- the blank line below it
    end
    local block = vim.list_extend({ '' }, lines)
    if #lines > 0 then
      table.insert(block, '')
    end
    local last_row = earlier and first + 1 or (chat:heading_row())
    local change = steps.difference(chat:lines(first, last_row), block)
    if change then
      local row = first + change.row
      vim.api.nvim_buf_set_lines(chat.buf, row, row + #change.old, false, change.new)
      fold.moved(chat)
    end
    chat:count_above()
  end)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    fold.all(win)
  end
end

--- Set frontmatter values.
---@param chat winnow.Chat
---@param values table<string, string>
function M.meta(chat, values)
  M.keep_frontmatter(chat)
  chat:as_host(function()
    local _, last = frontmatter.read(chat.buf)
    if last then
      local before = chat:lines(1, last)
      local block = frontmatter.merged(before, values)
      if not vim.deep_equal(block, before) then -- else the file would be written for nothing
        vim.api.nvim_buf_set_lines(chat.buf, 1, last, false, block)
        fold.moved(chat)
      end
    end
  end)
  frontmatter.keep(chat)
end

return M
