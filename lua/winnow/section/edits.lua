--- Edits of the open section: the host is told how its lines differ from those that it has.
local guard = require('winnow.guard')
local seen = require('winnow.section.seen')
local steps = require('winnow.chat.steps')
local view = require('winnow.section.view')
require('winnow.interpreted')()

local M = {}

---@class (partial) winnow.Section
local Section = {}
M.Section = Section

--- Tell the host of edits that it does not know.
---@return boolean told
function Section:tell_edits()
  local lines = self:lines()
  local change = steps.difference(self.told, lines)
  if not change then
    return false
  end
  local edit = { section = self.id, lines = lines }
  if self.shared then
    edit.lines, edit.size = change.new, #self.told
    edit.first, edit.after = change.row, change.row + #change.old
  end
  self.told, self.pristine = lines, false
  self.shared = self.chat:tell('edit', edit)
  return true
end

--- Its lines, which the host is told now if it does not know them.
---@return string[]
function Section:told_lines()
  self:tell_edits()
  return self.told
end

--- Hear of what is written, as long as this is the open section.
---@param self winnow.Section
---@param heard fun(first: integer) gets the first row that has changed
local function listen(self, heard)
  vim.api.nvim_buf_attach(self.chat.buf, false, {
    on_lines = function(_, _, tick, first, before, after)
      if self.chat.section ~= self then
        return true -- closed: stop watching
      end
      self:note(tick, first, before, after)
      if after < before then
        view.deleted(self.chat.buf, after)
      end
      if not guard.by_key() then
        seen.written(self, self.chat:lines(first, after))
      end
      heard(first)
    end,
    on_detach = function() -- as when `u` takes `:e!` back
      self.unchanged, self.tick = nil, nil
      vim.schedule(function()
        if self:is_open() and vim.api.nvim_buf_is_loaded(self.chat.buf) then
          self.unchanged, self.tick = nil, nil
          listen(self, heard)
          heard(0)
        end
      end)
    end,
  })
end

--- Tell the host of edits, once for all that one command does.
---@param self winnow.Section
function M.watch(self)
  local changed_row ---@type integer? the first, since the host was told
  local function changed()
    local row = changed_row
    changed_row = nil
    if not self:is_open() or not vim.api.nvim_buf_is_loaded(self.chat.buf) then
      return
    end
    local told = self:tell_edits()
    -- The same lines written anew have lost what was drawn on them.
    if told or row < select(2, self:rows()) then
      self:decorate()
    end
    if told then
      self.chat:follow() -- another option may be under the cursor
    end
  end
  listen(self, function(first)
    if not changed_row then
      vim.schedule(changed)
    end
    changed_row = math.min(changed_row or first, first)
  end)
end

return M
