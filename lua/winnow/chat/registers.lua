--- What is yanked in a chat has no markers where it goes elsewhere: to other programs at once, to
--- other buffers when the user leaves the chat. In the chat they say which options a paste has.
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')

local M = {}

local OWN = '0123456789-' -- what `yy` and `dd` write into, when no register was named
local marked = false -- some of these may have markers

---@param lines string[]
---@return boolean
local function has_marker(lines)
  return vim.iter(lines):any(function(line)
    return line:find(grammar.MARKER, 1, true) ~= nil
  end)
end

---@param register string
local function strip(register)
  local info = vim.fn.getreginfo(register)
  if has_marker(info.regcontents or {}) then
    info.regcontents = vim.tbl_map(marker.strip, info.regcontents)
    vim.fn.setreg(register, info)
  end
end

--- Something was yanked or deleted: the clipboard has it, if that was named, or is what 'clipboard'
--- puts in the place of the unnamed register.
function M.yanked()
  local event = vim.v.event
  marked = marked or has_marker(event.regcontents)
  local clipboard = (',%s,'):format(event.regname == '' and vim.o.clipboard or '')
  for register, option in pairs({ ['+'] = ',unnamedplus,', ['*'] = ',unnamed,' }) do
    if event.regname == register or clipboard:find(option, 1, true) then
      strip(register)
    end
  end
end

--- The user leaves the chat.
function M.leave()
  for register in (marked and OWN or ''):gmatch('.') do
    strip(register)
  end
  marked = false
end

return M
