--- The operator that hands text over: into the draft of the project's chat, which it does not show.
local begin = require('winnow.begin')
local chats = require('winnow.chats')
local found_ = require('winnow.context.found')
local registry = require('winnow.registry')
local say = require('winnow.say')

local M = {}

--- Add what a motion went over; 'operatorfunc' calls it, and `.` again.
---@param how 'line'|'char'|'block'
function M.operate(how)
  local source = vim.api.nvim_get_current_buf()
  local from, to = vim.fn.getpos("'["), vim.fn.getpos("']")
  local first, last = from[2], to[2]
  local type = ({ line = 'V', char = 'v', block = '\22' })[how]
  local lines = vim.fn.getregion(from, to, { type = type })
  local chat = registry.get(source) or registry.get(chats.of_directory(begin.place()))
  if not chat or not chat:mine_or_say() then
    return
  end
  begin.quote(chat, source, first, last, how ~= 'line' and lines or nil)
  local name = vim.api.nvim_buf_get_name(source)
  name = name == '' and 'the buffer' or found_.name(name, chat.cwd)
  local size = found_.tokens(#table.concat(lines, '\n'))
  say(('Added to the draft: %s, %s.'):format(found_.range(name, first, last), size))
end

--- What the operator's key becomes.
---@return string
function M.start()
  vim.o.operatorfunc = "v:lua.require'winnow.context.add'.operate"
  return 'g@'
end

return M
