--- Which lines of what a section asks for were on the screen: the rest can't be granted in passing.
--- A line is known by its text, so it may move. One that is wider than the window is seen piece by
--- piece, from its start.
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local marker = require('winnow.section.marker')
local trim = require('winnow.trim')
local view = require('winnow.section.view')
require('winnow.interpreted')()

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

--- Lines came into a section, and the user has not typed them.
---@param section winnow.Section
---@param lines string[]
function M.written(section, lines)
  for _, line in ipairs(lines) do
    section.seen[line] = section.seen[line] or 0
  end
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

--- The rows that count, from 0: what stands above a body, and what is in it; where there is none,
--- as for a tool that takes nothing, what is asked.
---@param section winnow.Section
---@param top integer of those that are wanted
---@param bottom integer
---@return integer[]
local function rows(section, top, bottom)
  local found, from = {}, section:rows() + 1
  local bodies = view.bodies(section)
  for _, body in ipairs(bodies) do
    for row = math.max(from, top), math.min(body.last - 2, bottom) do
      if row ~= body.first then -- the fence
        table.insert(found, row)
      end
    end
    from = body.last + 1
  end
  local _, marked = section:lines()
  for _, line in ipairs(#bodies == 0 and marked or {}) do
    local row = from + line.at - 2
    if line.marker.slot == grammar.ASKED and row >= top and row <= bottom then
      table.insert(found, row)
    end
  end
  return found
end

--- The line of a row, and how many bytes of it there are to see: up to a marker at its end.
---@param section winnow.Section
---@param row integer
---@return string line
---@return integer size
local function line_at(section, row)
  local line = section:lines()[row - section:rows() + 1] or ''
  return line, #trim.right(marker.told(line), '%s')
end

---@class winnow.Float a window that lies over others
---@field top integer its rows and columns on the screen, from 1, its border included
---@field bottom integer
---@field left integer
---@field right integer

--- The floats that may hide a part of a window.
---@param win integer
---@return winnow.Float[]
local function floats_over(win)
  local height = vim.api.nvim_win_get_config(win).zindex or 0
  local found = {}
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local config = vim.api.nvim_win_get_config(other)
    if other ~= win and config.relative ~= '' and not config.hide and config.zindex >= height then
      local top, left = unpack(vim.fn.win_screenpos(other))
      local edges = config.border and 2 or 0
      table.insert(found, {
        top = top,
        bottom = top + config.height - 1 + edges,
        left = left,
        right = left + config.width - 1 + edges,
      })
    end
  end
  return found
end

--- How far a line is visible in a window, from the byte `at` on.
---@param win integer
---@param floats winnow.Float[]
---@param row integer
---@param at integer
---@param size integer
---@return integer bytes
local function visible_to(win, floats, row, at, size)
  local info = vim.fn.getwininfo(win)[1]
  -- The first row of a line whose start was scrolled away begins with `<<<`.
  local cut = vim.fn.winsaveview().skipcol > 0
  local top = info.winrow + info.winbar
  local piece = math.max(1, math.floor((info.width - info.textoff) / 2))
  ---@param byte integer from 1
  ---@return table? place as screenpos() has it
  local function place(byte)
    local pos = vim.fn.screenpos(win, row + 1, byte)
    local under_mark = cut and pos.row == top and pos.col < info.wincol + info.textoff + 3
    return pos.row > 0 and not under_mark and pos or nil
  end
  ---@param from table
  ---@param to table
  ---@return boolean
  local function is_free(from, to)
    return not vim.iter(floats):any(function(float)
      local one_row = from.row == to.row
      return float.top <= to.row
        and float.bottom >= from.row
        and (not one_row or float.left <= to.endcol and float.right >= from.col)
    end)
  end
  while at < size do
    -- Three more: the last row may end in `@@@`.
    local from, to = place(at + 1), place(math.min(size, at + piece + 3))
    if not (from and to and is_free(from, to)) then
      break
    end
    at = math.min(size, at + piece)
  end
  return at
end

--- Look at what a window shows now.
---@param section winnow.Section
---@param win integer
---@return boolean more than was seen before
local function look(section, win)
  local shown = vim.fn.getwininfo(win)[1]
  if not section:is_open() or not shown or shown.bufnr ~= section.chat.buf then
    return false
  end
  local floats, more = floats_over(win), false
  vim.api.nvim_win_call(win, function()
    -- One more than the last that is whole.
    for _, row in ipairs(rows(section, shown.topline - 1, shown.botline)) do
      if vim.fn.foldclosed(row + 1) == -1 then
        local line, size = line_at(section, row)
        local before = seen_of(section, line, size)
        section.seen[line] = visible_to(win, floats, row, before, size)
        more = more or section.seen[line] > before
      end
    end
  end)
  if #floats > 0 then -- what is below one that closes is not drawn anew
    vim.api.nvim_create_autocmd('WinClosed', {
      group = vim.api.nvim_create_augroup('winnow.seen.' .. win, {}), -- one is enough
      once = true,
      callback = function()
        M.drawn(section, win)
      end,
    })
  end
  return more
end

--- A window that shows a part of a section is drawn, or nothing lies over it any more.
---@param section winnow.Section
---@param win integer
function M.drawn(section, win)
  guard.drawn(section.sight, function()
    return look(section, win)
  end)
end

--- Where what was not on the screen yet begins, line by line.
---@param section winnow.Section
---@return { [1]: integer, [2]: integer }[] row and byte, both from 0
function M.missing(section)
  local found = {}
  for _, row in ipairs(rows(section, 0, math.huge)) do
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
  local width = info.width - info.textoff
  local skip = math.max(0, before - before % width - width) -- one row more, for its `<<<`
  vim.fn.winrestview(vim.wo.wrap and { topline = line, skipcol = skip } or {
    topline = line,
    leftcol = before,
  })
end

return M
