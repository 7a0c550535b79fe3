--- Files that the agent has written, in buffers that show them. What is unsaved is never touched;
--- Vim asks nothing.
local files = require('winnow.chat.files')
local quiet = require('winnow.quiet')
local registry = require('winnow.registry')
local say = require('winnow.say')
local uninterrupted = require('winnow.uninterrupted')
local window = require('winnow.window')

local M = {}

-- By buffer: the time and size of its file when we looked last. Each change is spoken of once, and
-- a file without one costs no more than this look.
local seen = {} ---@type table<integer, string>

--- Whether a buffer was made for a file that did not exist. Neovim tells it only in words.
---@param buf integer
---@return boolean
local function is_new(buf)
  local said = vim.api.nvim_buf_call(buf, function()
    return vim.api.nvim_exec2('file', { output = true }).output
  end)
  return said:match('[^"]*$'):find(vim.fn.gettext('[New]'), 1, true) ~= nil
end

--- Say that there are two versions.
---@param path string
local function warn(path)
  local name = vim.fn.fnamemodify(path, ':~:.')
  say(("Claude changed %s: :w! keeps your edits, :e! takes Claude's."):format(name), 'warn')
end

--- Have Neovim look at the file. Where it would ask, we decide: read what is new, unless there is
--- something unsaved.
---@param buf integer
---@param path string
local function check(buf, path)
  local conflict = false
  local hook = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      local reason = vim.v.fcs_reason
      conflict = reason == 'conflict'
      if reason == 'changed' then
        vim.v.fcs_choice = 'reload'
      end
    end,
  })
  local most = vim.o.undoreload
  vim.o.undoreload = -1 -- else a long file would lose all its undo
  local ok, problem = pcall(vim.cmd.checktime, { buf, mods = { silent = true } })
  vim.o.undoreload = most
  vim.api.nvim_del_autocmd(hook)
  assert(ok, problem)
  if conflict then
    warn(path) -- not above, where all is silent
  end
end

--- Show the file as it is now, in windows that stay where they are.
---@param buf integer
---@param path string
local function show(buf, path)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local restore = window.views(buf)
  if not is_new(buf) then
    check(buf, path)
  elseif vim.bo[buf].modified then
    warn(path)
  else
    vim.api.nvim_buf_call(buf, function()
      vim.cmd.edit({ bang = true, mods = { silent = true, keepalt = true, keepjumps = true } })
    end)
  end
  if vim.api.nvim_buf_get_changedtick(buf) ~= tick then
    restore()
  end
end

--- The same, unless it was looked at as it is now.
---@param buf integer
---@param path string
local function refresh(buf, path)
  local now = files.stamp(path)
  if seen[buf] ~= now then
    seen[buf] = now
    uninterrupted(function()
      show(buf, path)
    end)
  end
end

--- Refresh a buffer, but not before a command that counts its lines is over.
---@param buf integer
---@param path string
local function refresh_soon(buf, path)
  if not quiet.counts_lines(buf) then
    refresh(buf, path)
    return
  end
  quiet.after_command(buf, function()
    if vim.api.nvim_buf_is_loaded(buf) then
      refresh(buf, path)
    end
  end)
end

--- The agent has written a file: show what it holds now.
---@param path string empty: maybe any file
function M.reload(path)
  local place = path ~= '' and files.real(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if
      vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ''
      and name ~= ''
      and not registry.get(buf)
      and (not place or files.real(name) == place)
      and vim.fn.filereadable(name) == 1
    then
      refresh_soon(buf, name)
    end
  end
end

return M
