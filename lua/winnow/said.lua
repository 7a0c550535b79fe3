--- What of a chat's text is what Claude has said: there the signs of emphasis are hidden, in their
--- place in the text. Nowhere else: in a draft, a section, a record, an output they are meant.
local grammar = require('winnow.grammar')
local record = require('winnow.chat.record')
local registry = require('winnow.registry')

local M = {}

local CHUNK, FAR = 200, 4000 -- lines, read at a time and looked for a heading in
local SAYS = { [grammar.CLAUDE] = true, [grammar.WORKER] = true }
local TELLS = { [grammar.YOU] = true, [grammar.ORCHESTRATOR] = true }

-- How lines begin that are the host's: each of these is three bytes long.
local OURS = {} ---@type table<string, true>
for _, sign in ipairs({ 'TOOL', 'THOUGHT', 'OUTPUT', 'NOTICE', 'STOPPED', 'ENDED', 'REPLAYED' }) do
  OURS[grammar[sign]] = true
end
OURS[grammar.KEPT], OURS[grammar.REFUSED] = true, true

-- What was found out last, which holds for these rows: no heading stands between them.
local last = { buf = -1, tick = -1, first = 0, after = 0, says = false }

--- The heading in some rows that is nearest to their end.
---@param buf integer
---@param from integer
---@param after integer
---@return integer? row
---@return boolean? says whether it is Claude's
local function heading(buf, from, after)
  while after > from do
    local first = math.max(from, after - CHUNK)
    local lines = vim.api.nvim_buf_get_lines(buf, first, after, false)
    for i = #lines, 1, -1 do
      if SAYS[lines[i]] or TELLS[lines[i]] then
        return first + i - 1, SAYS[lines[i]] or false
      end
    end
    after = first
  end
end

--- Whether Claude says what stands in a row.
---@param buf integer
---@param row integer
---@return boolean
local function says(buf, row)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local known = last.buf == buf and last.tick == tick and row >= last.first
  if not known or row >= last.after then
    local from = known and last.after or math.max(0, row - FAR)
    local at, found = heading(buf, from, row)
    if at then
      last = { buf = buf, tick = tick, first = at + 1, after = row + 1, says = found or false }
    elseif known then
      last.after = row + 1
    else
      last = { buf = buf, tick = tick, first = from, after = row + 1, says = from > 0 }
    end
  end
  return last.says
end

--- Whether the text around a sign is such that it can be nothing else: not part of a pattern, of a
--- calculation or of a path.
---@param before string what stands before the emphasis, and inside at its beginning
---@param after string what stands inside at its end, and behind it
---@return boolean
local function clear(before, after)
  local outside, inside = before:match('^(.-)%*+(.*)$')
  local ends, behind = after:match('^(.-)%*+(.*)$')
  return not (outside or ''):find('[%w/_\\.*]$')
    and not (behind or ''):find('^[%w/_\\*]')
    and not (inside or ''):find('^[/.]')
    and not (ends or ''):find('/$')
end

--- The emphasis that a sign belongs to, with the characters around its ends.
---@param node TSNode
---@param buf integer
---@return boolean
local function is_clear(node, buf)
  local parent = node:parent()
  if not parent then
    return false
  end
  local row, column, end_row, end_column = parent:range()
  local first = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local final = vim.api.nvim_buf_get_lines(buf, end_row, end_row + 1, false)[1] or ''
  local signs = parent:type() == 'strong_emphasis' and 2 or 1
  local start = column + 1 + signs
  local before = first:sub(column, column) .. '*' .. first:sub(start, start)
  local stop = end_column - signs
  return clear(before, final:sub(stop, stop) .. '*' .. final:sub(end_column + 1, end_column + 1))
end

--- Whether a sign may be hidden.
---@param node TSNode
---@param buf integer
---@return boolean
local function hides(node, buf)
  local row = node:range()
  local chat = registry.get(buf)
  if not chat or row >= chat:heading_row() or chat.section and chat.section:contains(row) then
    return false
  end
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if OURS[line:sub(1, 3)] then
    return false
  end
  return says(buf, row) and is_clear(node, buf) and #record.signed(buf, row, line) == 0
end

--- Have queries ask `(#winnow-said? @sign)`, which is answered line by line while it is drawn.
function M.start()
  vim.treesitter.query.add_predicate('winnow-said?', function(match, _, source, predicate)
    local nodes = match[predicate[2]]
    nodes = type(nodes) == 'table' and nodes or { nodes } -- Neovim 0.10 gives one node
    for _, node in ipairs(nodes) do
      if type(source) ~= 'number' or not hides(node, source) then
        return false
      end
    end
    return #nodes > 0
  end, { force = true, all = true })
end

return M
