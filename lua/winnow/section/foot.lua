--- The foot of an open section: what <CR> would do, as the host has it.
local grammar = require('winnow.grammar')
local hints = require('winnow.hints')
require('winnow.interpreted')()

local M = {}

local RULE = 120 -- columns of a rule, where the window has them

---@alias winnow.Wanted { [1]: integer, [2]: vim.api.keyset.set_extmark } row and look

---@param chunks winnow.Chunk[]
---@return integer columns
local function display_width(chunks)
  local width = 0
  for _, chunk in ipairs(chunks) do
    width = width + vim.fn.strdisplaywidth(chunk[1])
  end
  return width
end

--- The rest of a rule.
---@param used integer columns that it has already
---@param width integer columns of the window
---@return string
function M.rule(used, width)
  return grammar.RULE:rep(math.min(RULE, width) - used)
end

---@param part winnow.Part
---@return string
local function part_group(part)
  return part.decided and 'WinnowDecided' or 'WinnowUndecided'
end

---@param part winnow.Part
---@return string
local function dot_of(part)
  return part.decided and grammar.DECIDED or grammar.UNDECIDED
end

---@class winnow.Shown what the foot says
---@field parts winnow.Part[]
---@field offer string
---@field waiting integer

--- The verdict; in its place, what a second press would do.
---@param section winnow.Section
---@return winnow.Shown
local function shown_of(section)
  if section.pending then
    return { parts = { { text = section.pending, decided = false } }, offer = '', waiting = 0 }
  end
  return section
end

--- The verdict on the foot's own line, or nil when it is too wide for that.
---@param shown winnow.Shown
---@param width integer columns
---@return winnow.Chunk[]?
local function foot_line(shown, width)
  local chunks = { { grammar.RULE:rep(2) .. ' ', 'WinnowFoot' } }
  if #shown.parts > 1 then
    local dots = vim.iter(shown.parts):map(dot_of)
    table.insert(chunks, { dots:join('') .. ' ', 'WinnowFoot' })
  end
  for i, part in ipairs(shown.parts) do
    table.insert(chunks, { (i > 1 and ' · ' or '') .. part.text, part_group(part) })
  end
  if shown.offer ~= '' then
    table.insert(chunks, { ' · ' .. shown.offer, 'WinnowHint' })
  end
  if shown.waiting > 0 then
    table.insert(chunks, { (' · %d more waiting'):format(shown.waiting), 'WinnowHint' })
  end
  local used = display_width(chunks)
  if used > width then
    return nil
  end
  table.insert(chunks, { ' ' .. M.rule(used + 1, width), 'WinnowFoot' })
  return chunks
end

--- The verdict as lines of its own, one or more for each question.
---@param shown winnow.Shown
---@param width integer columns
---@return winnow.Chunk[][]
local function foot_lines(shown, width)
  local lines = {}
  for _, part in ipairs(shown.parts) do
    local dot = dot_of(part) .. ' '
    for _, piece in ipairs(hints.wrapped(part.text, width - 3)) do
      table.insert(lines, { { dot .. piece, part_group(part) } })
      dot = '  '
    end
  end
  for _, piece in ipairs(shown.offer ~= '' and hints.wrapped(shown.offer, width - 3) or {}) do
    table.insert(lines, { { '  ' .. piece, 'WinnowHint' } })
  end
  if shown.waiting > 0 then
    table.insert(lines, { { ('%d more waiting'):format(shown.waiting), 'WinnowHint' } })
  end
  return lines
end

--- All that the look of the verdict depends on.
---@param shown winnow.Shown
---@param width integer columns
---@param has_foot boolean
---@return string
local function key_of(shown, width, has_foot)
  local key = { width, tostring(has_foot), shown.waiting, shown.offer }
  for _, part in ipairs(shown.parts) do
    table.insert(key, dot_of(part) .. part.text)
  end
  return table.concat(key, '\n')
end

---@class winnow.Verdict the marks of a verdict
---@field key string
---@field on? vim.api.keyset.set_extmark on the foot
---@field below? vim.api.keyset.set_extmark below the foot, or what is left of the section

---@param shown winnow.Shown
---@param width integer columns of the window
---@param has_foot boolean it is still there
---@return winnow.Verdict
local function verdict_of(shown, width, has_foot)
  local verdict = { key = key_of(shown, width, has_foot) } ---@type winnow.Verdict
  local line = foot_line(shown, width)
  if has_foot then
    local chunks = line or { { M.rule(0, width), 'WinnowFoot' } }
    verdict.on = { virt_text = chunks, virt_text_pos = 'overlay' }
  end
  if not (has_foot and line) then
    verdict.below = { virt_lines = foot_lines(shown, width) }
  end
  return verdict
end

--- What the verdict looks like: the same tables as long as it says the same.
---@param section winnow.Section
---@param row? integer of the foot, if it is still there
---@param last integer the section's last row
---@param width integer columns
---@return winnow.Wanted[]
function M.looks(section, row, last, width)
  local shown, has_foot = shown_of(section), row ~= nil
  if not section.verdict or section.verdict.key ~= key_of(shown, width, has_foot) then
    section.verdict = verdict_of(shown, width, has_foot)
  end
  local verdict, wanted = section.verdict, {} ---@type winnow.Verdict, winnow.Wanted[]
  if verdict.on then
    table.insert(wanted, { row, verdict.on })
  end
  if verdict.below then
    table.insert(wanted, { row or last, verdict.below })
  end
  return wanted
end

return M
