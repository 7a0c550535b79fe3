--- The preview of the option under the cursor.
local marker = require('winnow.section.marker')
local view = require('winnow.section.view')
local window = require('winnow.window')

---@class (partial) winnow.Section
local Section = {}

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
    view.peek(self, self:under_cursor())
  else
    view.peek(self)
  end
end

return Section
