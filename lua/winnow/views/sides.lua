--- The open patch beside the file, as a diff of two buffers in a tab of their own.
local scratch = require('winnow.scratch')
local window = require('winnow.window')

local M = {}

local count = 0 -- a buffer's name is its alone

---@param side string
---@param path string
---@param lines string[]
---@return integer buf
local function fill(side, path, lines)
  local buf = scratch()
  local name = ('winnow://%s/%d/%s'):format(side, count, (path:gsub('^/+', '')))
  vim.api.nvim_buf_set_name(buf, name)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = -1 -- there is nothing to undo
  vim.bo[buf].modified = false
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = 'wipe'
  return buf
end

--- Open the tab, with the cursor on the first change; `:tabclose` is the end of all this.
---@param path string
---@param old string[]
---@param new string[]
function M.open(path, old, new)
  count = count + 1
  local left, right = fill('old', path, old), fill('new', path, new)
  vim.cmd.sbuffer({ left, mods = { tab = vim.fn.tabpagenr() } })
  vim.cmd.diffthis()
  vim.cmd.sbuffer({ right, mods = window.beside('belowright') })
  vim.cmd.diffthis()
  for _, buf in ipairs({ left, right }) do
    vim.bo[buf].filetype = vim.filetype.match({ filename = path, buf = buf }) or ''
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  if vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
    vim.cmd.normal({ ']c', bang = true })
  end
end

return M
