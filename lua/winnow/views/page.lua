--- A buffer whose lines the host gives, to be read; and how the host is asked for them.
local host = require('winnow.host')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

--- The buffer of this name, made when it is missing.
---@param name string
---@param filetype? string
---@return integer buf
function M.buffer(name, filetype)
  local buf = vim.fn.bufadd(name)
  vim.fn.bufload(buf)
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  if filetype then
    vim.bo[buf].filetype = filetype
  end
  return buf
end

--- Show it in a window in which its lines can be read whole.
---@param buf integer
---@param mods? table command modifiers
function M.show(buf, mods)
  window.show(buf, mods)
  for name, value in pairs(window.WRAPPED) do
    vim.wo[0][0][name] = value
  end
end

--- Put these lines there.
---@param buf integer
---@param lines string[]
---@param from? integer the row from which on they do; those above stay
function M.write(buf, lines, from)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, from or 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Write what is nothing to undo or, where what the user has had done can be undone, part of that.
---@param buf integer
---@param undoes? boolean it can
---@param write fun()
function M.write_beside(buf, undoes, write)
  local options = vim.bo[buf]
  local levels, any = options.undolevels, #vim.fn.undotree(buf).entries > 0
  if not (undoes and any and pcall(vim.api.nvim_buf_call, buf, vim.cmd.undojoin)) then
    options.undolevels = -1 -- which ends all undo
  end
  write()
  options.undolevels = levels
  options.modified = false
end

--- Tell the host something; a problem is said.
---@param kind winnow.EventType
---@param event table its fields
function M.tell(kind, event)
  local ok, problem = host.notify(kind, event)
  if not ok then
    say(problem or '', 'error')
  end
end

return M
