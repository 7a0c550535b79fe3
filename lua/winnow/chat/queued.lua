--- The grammar of the queue: messages that wait, as lines of the draft's buffer. Each line of one
--- begins with its number and a bar, so that no edit can glue two together.
local grammar = require('winnow.grammar')
local trim = require('winnow.trim')

local M = {}

local BAR = grammar.QUEUED

---@class winnow.Queued a message that waits
---@field number integer
---@field rows integer[] of its lines, from 0: below the draft's heading
---@field lines string[] its text

--- What stands behind the bar of a queued line.
---@param line string
---@return integer? number
---@return string text the whole line, if it is none
function M.read(line)
  local number, text = line:match('^%s?(%d%d?%d?)' .. BAR .. '(.*)$')
  return tonumber(number), text or line
end

--- A line of a message's.
---@param number integer
---@param text string
---@return string
function M.line(number, text)
  return number .. BAR .. text
end

--- What waits in a draft, in the order in which it is to be sent. A message that another one was
--- moved into stays whole.
---@param lines string[] below the draft's heading
---@return winnow.Queued[] messages
---@return string[] rest lines of none: the draft's own
function M.parse(lines)
  local messages, rest = {}, {}
  local known = {} ---@type table<integer, winnow.Queued>
  for i, line in ipairs(lines) do
    local number, text = M.read(line)
    if number then
      local message = known[number]
      if not message then
        message = { number = number, rows = {}, lines = {} }
        known[number] = message
        table.insert(messages, message)
      end
      table.insert(message.rows, i - 1)
      table.insert(message.lines, text)
    else
      table.insert(rest, line)
    end
  end
  messages = vim.tbl_filter(function(message)
    return table.concat(message.lines):find('%S') ~= nil
  end, messages)
  return messages, rest
end

--- The number of the next message.
---@param lines string[]
---@return integer
function M.free(lines)
  local last = 0
  for _, line in ipairs(lines) do
    last = math.max(last, (M.read(line)) or 0)
  end
  return last + 1
end

--- Lines without blank ones at both ends.
---@param lines string[]
---@return string[]
local function trimmed(lines)
  local first, last = 1, #lines
  while first <= last and not lines[first]:find('%S') do
    first = first + 1
  end
  while last >= first and not lines[last]:find('%S') do
    last = last - 1
  end
  return vim.list_slice(lines, first, last)
end

--- The lines of the block, where it stands or was torn apart.
---@param lines string[]
---@return string[]
local function block_of(lines)
  return vim.tbl_filter(function(line)
    return (M.read(line)) ~= nil
  end, lines)
end

--- What waits, and the draft's own lines below it.
---@param block string[] or more, of which that is taken
---@param rest string[]
---@return string[]
function M.joined(block, rest)
  local text = trimmed(rest)
  local all = vim.list_extend({ '' }, block_of(block))
  if #all > 1 then
    table.insert(all, '')
  end
  return vim.list_extend(all, #text > 0 and text or { '' })
end

--- Add a message to the block, which stands above the draft's own lines.
---@param lines string[] below the draft's heading
---@param text string
---@param rest string[] the draft's own lines from now on
---@param first? boolean before all others
---@return string[] lines
---@return integer number
function M.add(lines, text, rest, first)
  local number, block = M.free(lines), block_of(lines)
  local own = vim.tbl_map(function(line)
    return M.line(number, line)
  end, vim.split(text, '\n', { plain = true }))
  local all = first and vim.list_extend(own, block) or vim.list_extend(block, own)
  return M.joined(all, rest), number
end

--- Take a message away; what is no part of it stays.
---@param lines string[]
---@param number integer
---@return string[]
function M.without(lines, number)
  local left, rest = {}, {}
  local block, had = {}, false
  for _, line in ipairs(lines) do
    local of = (M.read(line))
    if of == number then
      had = true
    else
      table.insert(left, line)
      table.insert(of and block or rest, line)
    end
  end
  if had and #block == 0 then
    return M.joined({}, rest)
  end
  return left
end

-- Edits ----------------------------------------------------------------------------------------

--- Lines that hold more than one bar, as after `J` or a formatter, are as many again. Those of one
--- message that were joined are one.
---@param line string
---@return string[]
local function split(line)
  local number, text = M.read(line)
  if not number or not text:find(BAR, 1, true) then
    return { line }
  end
  local found, pieces, from = {}, {}, 1 ---@type string[], string[], integer
  for at, other, behind in text:gmatch('()%f[%d](%d%d?%d?)' .. BAR .. '()') do
    table.insert(pieces, trim.right(text:sub(from, at - 1), '%s'))
    from = behind
    if tonumber(other) ~= number then
      table.insert(found, M.line(number, table.concat(pieces, ' ')))
      number, pieces =
        tonumber(other), --[[@as integer]]
        {}
    end
  end
  table.insert(pieces, text:sub(from))
  table.insert(found, M.line(number, table.concat(pieces, ' ')))
  return found
end

--- Give pasted lines from elsewhere numbers of their own, where theirs are taken.
---@param change { row: integer, old: string[], new: string[] }
---@param lines string[] as they are now
---@param seen table<string, true> lines that have stood here
---@return string[] new in the place of the change's
local function own_numbers(change, lines, seen)
  local taken, numbers = {}, {} ---@type table<integer, true>, table<integer, integer>
  for i, line in ipairs(lines) do
    if i <= change.row or i > change.row + #change.new then
      taken[(M.read(line)) or 0] = true
    end
  end
  local free = M.free(lines)
  return vim.tbl_map(function(line)
    local number, text = M.read(line)
    if not (number and taken[number]) or #change.old > 0 or seen[line] then
      return line
    elseif not numbers[number] then
      numbers[number], free = free, free + 1
    end
    return M.line(numbers[number], text)
  end, change.new)
end

--- What an edit means that has left lines without a bar among those with one: they are part of the
--- message in which they were written. A blank one ends it, and what follows is the draft's.
---@param change { row: integer, old: string[], new: string[] }
---@param lines string[] as they are now
---@param seen table<string, true> lines that have stood here
---@return string[] new in the place of the change's
local function mended(change, lines, seen)
  local replaced = change.old[1] and (M.read(change.old[1]))
  local number = replaced or lines[change.row] and (M.read(lines[change.row])) or nil
  local after = lines[change.row + #change.new + 1]
  local inside = #change.old == 0 or replaced or after and M.read(after)
  local result = {} ---@type string[]
  for _, line in ipairs(own_numbers(change, lines, seen)) do
    local own = (M.read(line))
    if own then
      number, inside = own, true
    elseif number and inside and (line:find('%S') or replaced and #change.new == 1) then
      line = M.line(number, (line:gsub('^%d*' .. BAR, '')))
    else
      inside = false
    end
    vim.list_extend(result, split(line))
  end
  return result
end

--- The lines of a draft after an edit, as they are to be read.
---@param change { row: integer, old: string[], new: string[] } the edit
---@param lines string[] what it has led to
---@param seen table<string, true>
---@return string[]
function M.heal(change, lines, seen)
  local new = mended(change, lines, seen)
  local result = vim.list_slice(lines, 1, change.row)
  vim.list_extend(result, new)
  return vim.list_extend(result, vim.list_slice(lines, change.row + #change.new + 1))
end

return M
