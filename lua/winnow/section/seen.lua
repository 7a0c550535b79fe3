--- Which lines of what a section asks for were on the screen: the rest can't be granted in passing.
--- A line is known by its text, so it may move. One that is wider than the window is seen piece by
--- piece, from its start.
local guard = require('winnow.guard')
local marker = require('winnow.section.marker')
local view = require('winnow.section.view')

local M = {}

--- Of these lines, nothing.
---@param lines string[]
---@return table<string, integer> bytes that were on the screen, by line
function M.none(lines)
  local seen = {}
  for _, line in ipairs(lines) do
    seen[line] = 0
  end
  return seen
end

--- How much of a line was seen. Any other than those proposed the user wrote, unless it is so long
--- that an edit may have changed a word of it only.
---@param section winnow.Section
---@param line string
---@param size integer bytes
---@return integer bytes
local function seen_of(section, line, size)
  return section.seen[line] or size <= vim.o.columns and size or 0
end

--- The rows that count, from 0: what stands above a body, and what is in it. Only permissions,
--- patches and plans have bodies.
---@param section winnow.Section
---@return integer[]
local function rows(section)
  local found, from = {}, section:rows() + 1
  for _, body in ipairs(view.bodies(section)) do
    for row = from, body.last - 2 do
      if row ~= body.first then -- the fence
        table.insert(found, row)
      end
    end
    from = body.last + 1
  end
  return found
end

--- The line of a row, and how many bytes of it there are to see: a marker can't be seen.
---@param section winnow.Section
---@param row integer
---@return string line
---@return integer size
local function line_at(section, row)
  local line = section.chat:lines(row, row + 1)[1] or ''
  return line, #marker.strip(line):gsub('%s+$', '')
end

--- How far a line is visible in a window, from the byte `at` on.
---@param win integer
---@param row integer
---@param at integer
---@param size integer
---@return integer bytes
local function visible_to(win, row, at, size)
  local info = vim.fn.getwininfo(win)[1]
  local piece = math.max(1, math.floor((info.width - info.textoff) / 2))
  ---@param byte integer from 1
  ---@return boolean
  local function is_visible(byte)
    return vim.fn.screenpos(win, row + 1, byte).row > 0
  end
  -- Three more: the last row may end in `@@@`.
  while at < size and is_visible(at + 1) and is_visible(math.min(size, at + piece + 3)) do
    at = math.min(size, at + piece)
  end
  return at
end

--- Look at what a window shows now.
---@param section winnow.Section
---@param win integer
local function look(section, win)
  local shown = vim.fn.getwininfo(win)[1]
  if not section:is_open() or not shown or shown.bufnr ~= section.chat.buf then
    return
  end
  vim.api.nvim_win_call(win, function()
    for _, row in ipairs(rows(section)) do
      local at_bottom = row <= shown.botline -- one more than the last that is whole
      if row >= shown.topline - 1 and at_bottom and vim.fn.foldclosed(row + 1) == -1 then
        local line, size = line_at(section, row)
        section.seen[line] = visible_to(win, row, seen_of(section, line, size), size)
      end
    end
  end)
end

--- A window that shows the chat is drawn; these are its first row and its last.
---@param section winnow.Section
---@param win integer
---@param top integer
---@param bottom integer
function M.drawn(section, win, top, bottom)
  local first, after = section:rows()
  if top < after and bottom >= first then
    guard.drawn(section.sight, function()
      look(section, win)
    end)
  end
end

--- Where what was not on the screen yet begins, line by line.
---@param section winnow.Section
---@return { [1]: integer, [2]: integer }[] row and byte, both from 0
function M.missing(section)
  local found = {}
  for _, row in ipairs(rows(section)) do
    local line, size = line_at(section, row)
    local at = seen_of(section, line, size)
    if at < size then
      table.insert(found, { row, at })
    end
  end
  return found
end

--- Go to where that begins, at the top of the window.
---@param section winnow.Section
function M.reveal(section)
  local first = M.missing(section)[1]
  if not first or vim.api.nvim_get_current_buf() ~= section.chat.buf then
    return
  end
  local line, at = first[1] + 1, first[2]
  vim.api.nvim_win_set_cursor(0, { line, at })
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  local before = vim.fn.virtcol({ line, at + 1 }) - 1 -- columns that were seen
  local skip = before - before % (info.width - info.textoff)
  vim.fn.winrestview(vim.wo.wrap and { topline = line, skipcol = skip } or {
    topline = line,
    leftcol = before,
  })
end

return M
