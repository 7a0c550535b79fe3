--- How much of a chat treesitter parses: what its windows show, and some lines more.
---
--- Each time that text has come, Neovim looks for what changed in all that is parsed, which takes
--- longer the longer a chat gets. So what streams costs the same at any length.
local grammar = require('winnow.grammar')
local pace = require('winnow.pace')
local trim = require('winnow.trim')

local M = {}

local MARGIN, SLACK = 5, 15 -- lines beyond the windows, and how far these go before it is redone
local PARAGRAPH = 200 -- lines; a longer one may be cut in two
local GROWING = 40 -- the same while it grows: of 200 lines, parsing takes 25 milliseconds
local SOON = 1000 -- lines that are parsed in milliseconds; more, Neovim parses bit by bit
local CHUNK = 4000 -- lines, read at a time
-- Bytes; a longer line has no colours: Neovim's parser takes minutes for one of 200,000 backticks.
local LONG = 4000
local FENCE = [[^ \{,3}\(`\{3,}\|\~\{3,}\)]]
local HEADINGS = {} ---@type table<string, true>
for _, heading in ipairs(grammar.SPEAKERS) do
  HEADINGS[heading] = true
end

--- The row of the heading that a row is below, or the first one.
---@param buf integer
---@param row integer
---@return integer
local function heading(buf, row)
  for after = row + 1, 1, -CHUNK do
    local first = math.max(0, after - CHUNK)
    local lines = vim.api.nvim_buf_get_lines(buf, first, after, false)
    for i = #lines, 1, -1 do
      if HEADINGS[lines[i]] then
        return first + i - 1
      end
    end
  end
  return 0
end

---@class winnow.Fence
---@field row integer
---@field sign string

---@param buf integer
---@param from integer
---@param after integer
---@return table[] found as `matchbufline()` has it
local function fences(buf, from, after)
  return after > from and vim.fn.matchbufline(buf, FENCE, from + 1, after) or {}
end

--- Whether a fence ends a block, and begins none.
---@param buf integer
---@param found table
---@param begin winnow.Fence
---@return boolean
local function ends(buf, found, begin)
  local sign = trim.both(found.text)
  local line = vim.api.nvim_buf_get_lines(buf, found.lnum - 1, found.lnum, false)[1]
  return vim.startswith(sign, begin.sign) and trim.both(line) == sign
end

--- Where the block of code begins that a row is in.
---@param buf integer
---@param from integer a row that is in none
---@param row integer
---@return winnow.Fence?
local function block(buf, from, row)
  local begin ---@type winnow.Fence?
  for _, found in ipairs(fences(buf, from, row)) do
    if not begin then
      begin = { row = found.lnum - 1, sign = trim.both(found.text) }
    elseif ends(buf, found, begin) then
      begin = nil
    end
  end
  return begin
end

--- The row at or above another from which Markdown reads as it does from the top.
---@param buf integer
---@param row integer
---@param reach integer lines above it; a paragraph that begins further up is cut in two
---@param known? integer a row from which it does
---@return integer
local function beginning(buf, row, reach, known)
  local head = known and known <= row and known or heading(buf, row)
  local inside = block(buf, head, row)
  if inside then
    return inside.row
  end
  local first = math.max(head, row - reach)
  local lines = vim.api.nvim_buf_get_lines(buf, first, row + 1, false)
  for i = #lines, 1, -1 do
    if lines[i] == '' then -- between two paragraphs, if not between two lines of code
      local around = block(buf, head, first + i - 1)
      return around and around.row or first + i - 1
    end
  end
  return (first > head or head == known) and row or head
end

--- The row at or below another where no block of code is cut in two.
---@param buf integer
---@param from integer where Markdown can be read from
---@param row integer
---@param count integer of lines
---@return integer
local function ending(buf, from, row, count)
  local begin = row < count and block(buf, from, row)
  if not begin then
    return row
  end
  for _, found in ipairs(fences(buf, row, count)) do
    if ends(buf, found, begin) then
      return found.lnum
    end
  end
  return count
end

--- What windows show of a buffer, and what is asked for.
---@param buf integer
---@param top integer
---@param bottom integer
---@return integer top
---@return integer bottom
local function shown(buf, top, bottom)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    top, bottom = math.min(top, info.topline - 1), math.max(bottom, info.botline)
  end
  return top, math.min(bottom, vim.api.nvim_buf_line_count(buf))
end

--- Have a tree hold a region, which may be torn, or none: all. It is parsed anew: to go on from the
--- tree of another region ends Neovim 0.11 with a segmentation fault.
---@param parser vim.treesitter.LanguageTree
---@param region integer[][]
local function choose(parser, region)
  parser:set_included_regions({ region })
  parser:invalidate(true)
end

--- Rows without those that are left out.
---@param first integer
---@param last integer the row after them
---@param without winnow.Rows[]
---@return integer[][] region
---@return integer count
local function torn(first, last, without)
  local region, count = {}, 0
  for _, left in ipairs(without) do
    if left.after > first and left.first < last then
      if left.first > first then
        table.insert(region, { first, 0, left.first, 0 })
        count = count + left.first - first
      end
      first = math.min(left.after, last)
    end
  end
  if first < last or #region == 0 then
    table.insert(region, { first, 0, last, 0 })
  end
  return region, count + last - first
end

--- What is left out of rows, with the lines that are too long.
---@param buf integer
---@param first integer
---@param after integer
---@param others winnow.Rows[] in their order
---@return winnow.Rows[] without none touches another
local function with_long(buf, first, after, others)
  local all = {} ---@type winnow.Rows[]
  for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, math.max(0, first), after, false)) do
    if #line > LONG then
      table.insert(all, { first = math.max(0, first) + i - 1, after = math.max(0, first) + i })
    end
  end
  if #all == 0 then
    return others
  end
  vim.list_extend(all, others)
  table.sort(all, function(a, b)
    return a.first < b.first
  end)
  local without = {} ---@type winnow.Rows[]
  for _, rows in ipairs(all) do
    local last = without[#without]
    if last and rows.first <= last.after then
      last.after = math.max(last.after, rows.after)
    else
      table.insert(without, { first = rows.first, after = rows.after })
    end
  end
  return without
end

--- Whether a region is what is left of its rows.
---@param region integer[][]
---@param without winnow.Rows[]
---@return boolean
local function is_torn(region, without)
  local wanted = torn(region[1][1], region[#region][4], without)
  for i = 1, math.max(#region, #wanted) do
    local is, to_be = region[i], wanted[i]
    if not (is and to_be and is[1] == to_be[1] and is[4] == to_be[3]) then
      return false
    end
  end
  return true
end

--- Windows that end within what is left out show no more than its edge.
---@param top integer
---@param bottom integer
---@param without winnow.Rows[]
---@param count integer of lines
---@return integer top
---@return integer bottom
local function outside(top, bottom, without, count)
  for _, left in ipairs(without) do
    top = top >= left.first and top <= left.after and left.first - 1 or top
    bottom = bottom >= left.first and bottom <= left.after and left.after + 1 or bottom
  end
  return math.max(0, top), math.min(count, bottom)
end

--- Have a tree hold what is shown, and little more than that; one that would be large stays.
---@param buf integer
---@param parser vim.treesitter.LanguageTree
---@param was integer[] the rows that were shown when its region was chosen
---@param top integer of what is shown now
---@param bottom integer
---@param others winnow.Rows[] that are left out, whatever stands there
---@return boolean anew whether it has to be parsed anew
local function fit(buf, parser, was, top, bottom, others)
  local region = parser:included_regions()[1] -- none if it was edited before it was parsed
  local now = region and region[1] -- none if it is all
  local count = vim.api.nvim_buf_line_count(buf)
  local low, high = math.min(top, now and now[1] or top), bottom
  high = now and math.max(high, region[#region][4]) or high
  local without = with_long(buf, low - MARGIN, high + MARGIN, others)
  top, bottom = outside(top, bottom, without, count)
  local holds = region ~= nil
    and (not now or now[1] <= top and region[#region][4] >= bottom)
    and (now and is_torn(region, without) or not now and #without == 0)
  local grew = pace.grew(buf)
  local near = math.abs(top - was[1]) <= SLACK and math.abs(bottom - was[2]) <= SLACK
  if not grew and holds and near then -- to go on from the tree of what grew takes longer
    return false
  end
  was[1], was[2] = top, bottom
  local from, to = outside(top - MARGIN, bottom + MARGIN, without, count)
  local first = beginning(buf, from, grew and GROWING or PARAGRAPH, now and now[1])
  local last = ending(buf, first, to, count)
  local wanted, size = torn(first, last, with_long(buf, first, last, others))
  if holds and size > SOON then
    return false
  end
  choose(parser, wanted)
  return true
end

---@class winnow.Rows
---@field first integer
---@field after integer

--- From now on, parse no more of a buffer than this. Who asks for all of it gets it, for good.
---@param buf integer
---@param parser vim.treesitter.LanguageTree
---@param left_out fun(): winnow.Rows[] code that others colour; its fences are no part of it
function M.keep(buf, parser, left_out)
  local can = parser.set_included_regions and parser.included_regions -- these are undocumented
  if not can or rawget(parser, 'parse') then -- a buffer that is read again keeps its parser
    return
  end
  local parse = parser.parse
  local whole, was = false, { 0, math.huge }

  ---@param self vim.treesitter.LanguageTree
  ---@param range boolean|integer[]|nil
  ---@param on_parse function?
  ---@return table<integer, TSTree>?
  parser.parse = function(self, range, on_parse)
    if range == true and not whole then
      whole = true
      choose(parser, {})
    end
    if type(range) ~= 'table' then
      return parse(self, range, on_parse)
    end
    local top, bottom = range[1], range[4] and range[3] or range[2]
    return pace.parse(self, buf, top, bottom, function()
      local low, high = shown(buf, top, bottom)
      if not whole and fit(buf, parser, was, low, high, left_out()) then
        parse(self, range) -- at once, so that no frame is without colours
      end
      return parse(self, range, on_parse)
    end)
  end
  vim.api.nvim_buf_attach(buf, false, {
    on_reload = function()
      was = { 0, math.huge }
      choose(parser, {})
    end,
  })
end

return M
