--- Markers say which option a line is, and are concealed everywhere: see `winnow.grammar`.
local grammar = require('winnow.grammar')
require('winnow.interpreted')()

local M = {}

local OPEN, CLOSE = grammar.MARKER, grammar.MARKER_END
local WHOLE = OPEN .. '(%w+)=(%d+)=(%w+)' .. CLOSE
-- What an edit leaves of a marker should not peek through either. Only in an open section, whose
-- text is ours; elsewhere it is what somebody wrote.
local DAMAGED = { -- ID stands for the section's: “a=1” in an option is no scrap
  OPEN .. '[%w=]*' .. CLOSE,
  OPEN .. '%w*=%d*=%d+', -- its head, and what is left behind that
  OPEN .. '%w*=%d*=?%l?',
  OPEN .. 'ID',
  OPEN,
  'ID=%d+=%w+' .. CLOSE, -- its tail, and what is left before that
  '=%d+=%w+' .. CLOSE,
  '=%w*' .. CLOSE,
  CLOSE,
  'ID=%d+=%w+', -- its middle
}
-- As an older version wrote it; no section and no host knows these.
local OLD = '<!%-%-winnow:(%w+)%.(%d+)%.(%w+)%-%->'

---@class winnow.Marker
---@field id string
---@field question integer from 1; 0 for the foot and for records; of a fence: the body's number
---@field slot string

--- The first marker of a line.
---@param line string
---@param id? string only a marker of this section
---@return winnow.Marker?
function M.of(line, id)
  if not line:find(OPEN, 1, true) then -- quick: a body may have thousands of lines
    return nil
  end
  for found, question, slot in line:gmatch(WHOLE) do
    found = found:lower()
    if not id or id == found then
      return { id = found, question = tonumber(question), slot = slot:lower() }
    end
  end
end

--- Whether a text may have markers of an older version's.
---@param text string
---@return boolean
function M.is_old(text)
  return text:find('<!--winnow:', 1, true) ~= nil
end

--- Make the markers of an older version's text those of this one, outside of undo.
---@param buf integer that was just read, before anything is told from its text
function M.renew(buf)
  local options = vim.bo[buf]
  local levels, modifiable = options.undolevels, options.modifiable
  options.undolevels, options.modifiable = -1, true
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local renewed = line:find('<!--', 1, true) and line:gsub(OLD, OPEN .. '%1=%2=%3' .. CLOSE)
    if renewed and renewed ~= line then
      vim.api.nvim_buf_set_lines(buf, row - 1, row, false, { renewed })
    end
  end
  options.undolevels, options.modifiable = levels, modifiable
end

--- A text without its markers.
---@param text string
---@return string
function M.strip(text)
  return (text:gsub(WHOLE, ''))
end

--- Where the end of a sentence ends that follows a marker.
---@param line string
---@param at integer bytes up to it
---@return integer bytes
local function past_ends(line, at)
  for char in line:sub(at + 1):gmatch('[%z\1-\127\194-\244][\128-\191]*') do
    if char == ' ' or not grammar.ENDS:find(char, 1, true) then
      break
    end
    at = at + #char
  end
  return at
end

--- What a line says: up to a marker at its end, be that within the end of a sentence.
---@param line string
---@return string
function M.told(line)
  local from, to = line:find(WHOLE)
  return from and past_ends(line, to) == #line and line:sub(1, from - 1) or line
end

--- Whether a marker stands inside of what it marks, before it, or beside a blank: nothing shows in
--- its place.
---@param line string
---@param span { [1]: integer, [2]: integer }
---@return boolean
function M.is_within(line, span)
  local blank = line:sub(span[1], span[1]) == ' ' or line:sub(span[2] + 1, span[2] + 1) == ' '
  return blank or span[1] == 0 or past_ends(line, span[2]) > span[2]
end

--- Where the label of an option ends, and where all that was shown of it does.
---@param line string
---@param id string of the section
---@return integer? label bytes; nil: it is no option
---@return integer stop
function M.option(line, id)
  local found = M.of(line, id)
  local from, to = line:find(WHOLE)
  if not (found and from and tonumber(found.slot)) then
    return nil, 0
  end
  local split = from == 1 or line:sub(from - 1, from - 1) == ' ' -- before a long word
  local stop = split and #line or past_ends(line, to)
  return math.min((line:find(' — ', 1, true) or #line + 1) - 1, stop), stop
end

---@param spans { [1]: integer, [2]: integer }[]
---@param from integer
---@param to integer
---@return boolean
local function is_new(spans, from, to)
  for _, span in ipairs(spans) do
    if to > span[1] and from <= span[2] then
      return false
    end
  end
  return true
end

--- What to look for in the lines of a section, or of none.
---@param id? string
---@return string[]
local function patterns_of(id)
  return not id and { WHOLE }
    or vim.tbl_map(function(pattern)
      return (pattern:gsub('ID', id))
    end, DAMAGED)
end

local KEPT = 1000 -- lines; they are drawn again and again

---@class winnow.KnownLines
---@field patterns string[]
---@field count integer
---@field of table<string, { [1]: integer, [2]: integer }[]> the spans of each line

local known = {} ---@type table<string, winnow.KnownLines> by the section that they are of

--- Where markers stand in a line.
---@param line string
---@param id? string of the open section: also what edits left of its markers
---@return { [1]: integer, [2]: integer }[] spans bytes from 0, the end exclusive
function M.spans(line, id)
  local lines = known[id or '']
  if not lines or lines.count == KEPT then
    lines = { patterns = patterns_of(id), count = 0, of = {} }
    known = { [''] = known[''], [id or ''] = lines }
  end
  local spans = lines.of[line]
  if not spans then
    spans = {}
    for _, pattern in ipairs(lines.patterns) do
      local from, to = line:find(pattern)
      while from do
        if is_new(spans, from, to) then
          table.insert(spans, { from - 1, to })
        end
        from, to = line:find(pattern, to + 1)
      end
    end
    lines.of[line], lines.count = spans, lines.count + 1
  end
  return spans
end

return M
