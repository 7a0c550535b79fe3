--- The preview of the option under the cursor.
local code = require('winnow.chat.code')
local hints = require('winnow.hints')
local marker = require('winnow.section.marker')
local trim = require('winnow.trim')
local window = require('winnow.window')
require('winnow.interpreted')()

local PEEK = 6 -- lines of a preview that are shown below its option
local peeks = vim.api.nvim_create_namespace('winnow.section_view.preview')

---@class (partial) winnow.Section
local Section = {}

--- The start of a preview; the whole is a float away, with K.
---@param preview string Markdown
---@return string[] lines
local function start_of(preview)
  local lines = code.unfenced(vim.split(trim.both(preview), '\n', { plain = true }))
  local shown = vim.list_slice(lines, 1, PEEK)
  if #lines > PEEK then
    table.insert(shown, ('… K shows all %d lines'):format(#lines))
  end
  return shown
end

---@class winnow.Previews of one question, of the options that are left
---@field row integer the question's last one
---@field height integer lines of the longest one
---@field of table<integer, string[]> by option
---@field option? integer the first that has one

---@param section winnow.Section
---@return table<integer, winnow.Previews> found by question
local function previews_of(section)
  local found = {} ---@type table<integer, winnow.Previews>
  if not next(section.previews) then
    return found
  end
  local first, marked = section:rows(), select(2, section:lines())
  for _, line in ipairs(marked) do
    local at = line.marker
    local one = found[at.question] or { height = 0, of = {} }
    local option, text = tonumber(at.slot), section.previews[at.question .. '.' .. at.slot]
    one.row = first + line.at - 1
    if option and text then
      one.of[option] = start_of(text)
      one.option = one.option or option
      one.height = math.max(one.height, #one.of[option])
    end
    found[at.question] = one
  end
  return found
end

--- Show the start of an option's preview below its question: of the one under the cursor; while
--- that is elsewhere, of the one where it was last, or of the first. There is room for the longest
--- one all the time: nothing moves when the cursor does.
---@param section winnow.Section
---@param question? integer nil: no option is under the cursor
---@param option? integer
local function peek(section, question, option)
  vim.api.nvim_buf_clear_namespace(section.chat.buf, peeks, 0, -1)
  if question then
    section.peeked[question] = option
  end
  for of, one in pairs(previews_of(section)) do
    local preview = one.of[section.peeked[of]] or of ~= question and one.of[one.option]
    local lines = preview and hints.in_lines(preview, '  ┊ ') or {}
    while #lines < one.height do
      table.insert(lines, { { '', 'WinnowHint' } })
    end
    vim.api.nvim_buf_set_extmark(section.chat.buf, peeks, one.row, 0, { virt_lines = lines })
  end
end

--- The option under the cursor, as the host would number it.
---@return integer? question
---@return integer? option
function Section:under_cursor()
  local found = marker.of(vim.api.nvim_get_current_line(), self.id)
  local option = found and tonumber(found.slot)
  if option then
    return found.question, option
  end
end

--- The preview of the option under the cursor.
---@return string? Markdown
function Section:preview_here()
  local question, option = self:under_cursor()
  return question and self.previews[question .. '.' .. option]
end

--- Show it in a float.
---@return boolean shown
function Section:preview()
  local text = self:preview_here()
  if not text then
    return false
  end
  window.float(vim.split(text, '\n', { plain = true }), 'winnow.preview')
  return true
end

--- The cursor is in this section, or has left it: show the start of the preview of the option that
--- it is on.
---@param inside boolean
function Section:peek(inside)
  if inside then
    peek(self, self:under_cursor())
  else
    peek(self)
  end
end

return Section
