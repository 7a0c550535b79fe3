--- Markers say which option a line is, and are concealed everywhere: see `winnow.grammar`.
local grammar = require('winnow.grammar')

local M = {}

--- A pattern that finds a text in any case.
---@param text string
---@return string
local function any_case(text)
  local found = vim.pesc(text):gsub('%l', function(letter)
    return ('[%s%s]'):format(letter, letter:upper())
  end)
  return found
end

local WHOLE = any_case(grammar.MARKER) .. '(%w+)%.(%d+)%.(%w+)' .. any_case(grammar.MARKER_END)
-- What an edit leaves of a marker should not peek through either. Only in an open section, whose
-- text is ours; elsewhere it is what somebody wrote.
local WORD = '[wW]?[iI]?[nN]?[nN]?[oO]?[wW]?'
local DAMAGED = { -- ID stands for the section's: “postgres:16.2.1” in an option is no scrap
  '<?!?%-+[wW][iI][nN][nN][oO][wW]:[%w%.]*%-*>?', -- its head, and what is left behind that
  '[<!%-]+%a*:?%w*%.%d+%.%d*%a?%-%->', -- its tail, and what is left before that
  WORD .. ':ID%.%d+%.%w+%-*>?', -- its middle
  '%.%d+%.%d*%a?%-%->',
  '<!%-%-[wW][iI][nN]' .. WORD:sub(#'[wW]?[iI]?[nN]?' + 1) .. '%-*>', -- its two ends
  '<!%-%-' .. WORD .. '$',
}

---@class winnow.Marker
---@field id string
---@field question integer from 1; 0 for the foot and for records; of a fence: the body's number
---@field slot string

--- The first marker of a line.
---@param line string
---@param id? string only a marker of this section
---@return winnow.Marker?
function M.of(line, id)
  if not line:find('<!--', 1, true) then -- quick: a body may have thousands of lines
    return nil
  end
  for found, question, slot in line:gmatch(WHOLE) do
    found = found:lower()
    if not id or id == found then
      return { id = found, question = tonumber(question), slot = slot:lower() }
    end
  end
end

--- A text without its markers.
---@param text string
---@return string
function M.strip(text)
  return (text:gsub(WHOLE, ''))
end

--- Where markers stand in a line.
---@param line string
---@param id? string of the open section: also what edits left of its markers
---@return { [1]: integer, [2]: integer }[] spans bytes from 0, the end exclusive
function M.spans(line, id)
  local spans = {}
  ---@param from integer
  ---@param to integer
  ---@return boolean
  local function is_new(from, to)
    return vim.iter(spans):all(function(span)
      return to <= span[1] or from > span[2]
    end)
  end
  for _, pattern in ipairs(id and DAMAGED or { WHOLE }) do
    pattern = pattern:gsub('ID', id or '')
    local from, to = line:find(pattern)
    while from do
      -- The agent's text, which stays visible.
      local bent = line:sub(from - #grammar.BENT, from - 1) == grammar.BENT
      if not bent and is_new(from, to) then
        table.insert(spans, { from - 1, to })
      end
      from, to = line:find(pattern, to + 1)
    end
  end
  return spans
end

return M
