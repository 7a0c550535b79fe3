--- What moves something before the user's eyes: a quickfix list, the cursor.
local files = require('winnow.chat.files')
local project = require('winnow.editor.project')
local registry = require('winnow.registry')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

---@param ask winnow.Ask
---@param call winnow.FillQuickfix
---@return winnow.Told
function M.fill_quickfix(ask, call)
  local items = vim.tbl_map(function(entry)
    local path = project.path(entry.path, ask.cwd)
    return { filename = path, lnum = entry.line, text = (entry.text:gsub('%s+', ' ')) }
  end, call.entries)
  ask:until_quiet() -- also for who counts lines in its window
  vim.fn.setqflist({}, ' ', { title = call.title, items = items })
  local many = #items == 1 and '1 place' or ('%d places'):format(#items)
  say(('winnow: Claude has made a quickfix list of %s: :copen.'):format(many))
  return { note = '' } -- not empty: that would be a list
end

--- Show a file in the current window, or beside a chat.
---@param path string
---@param line integer
function M.go(path, line)
  local shown = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
    return name ~= '' and files.real(name) == files.real(path)
  end)
  if shown then
    vim.api.nvim_set_current_win(shown)
  elseif registry.current() or vim.bo.buftype ~= '' then
    window.open_beside(path, line)
    return
  else
    local stays = vim.wo.winfixbuf or vim.bo.modified and not vim.o.hidden
    local magic = { file = false }
    if stays then
      vim.cmd.split({ path, magic = magic })
    else
      vim.cmd.edit({ path, magic = magic })
    end
  end
  window.jump(math.min(line, vim.api.nvim_buf_line_count(0)))
end

---@param ask winnow.Ask
---@param call winnow.Jump
---@return winnow.Told
function M.jump(ask, call)
  ask:until_quiet()
  local buf = project.buffer(call.path, ask.cwd) -- its file can be shown, then
  project.line(buf, call.line, call.path)
  M.go(vim.api.nvim_buf_get_name(buf), call.line)
  return { note = '' } -- not empty: that would be a list
end

return M
