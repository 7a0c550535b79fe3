--- The files of a project, and the buffers that hold them: of others nothing is told.
local files = require('winnow.chat.files')
local registry = require('winnow.registry')

local M = {}

local LARGEST = 2 * 1000 * 1000 -- bytes of a file that is loaded for this
local LINE = 100 * 1000 -- bytes of a line that is looked at
local START = 8192 -- bytes in which a file shows that it is binary

local refuse = require('winnow.editor.ask').refuse

--- Whether a file is in the project, wherever links lead.
---@param path string absolute
---@param cwd string
---@return boolean
function M.holds(path, cwd)
  local root = files.real(cwd):gsub('/$', '')
  local real = files.real(path)
  return real == root or vim.startswith(real, root .. '/')
end

---@param buf integer
---@return string name
function M.name(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name == '' and ('[No Name %d]'):format(buf) or name
end

--- Whether a buffer is one of the user's files, or of their notes without a name.
---@param buf integer
---@return boolean
function M.is_text(buf)
  return vim.api.nvim_buf_is_valid(buf) and vim.bo[buf].buftype == '' and not registry.get(buf)
end

--- The file that a call names.
---@param name string
---@param cwd string
---@return string path absolute
function M.path(name, cwd)
  local absolute = name:match('^[/~]') or name:match('^%a:[/\\]')
  local path = vim.fs.normalize(absolute and name or vim.fs.joinpath(cwd, name), {
    expand_env = false,
  })
  if not M.holds(path, cwd) then
    refuse('%s is outside of the project %s: of that nothing is told here.', name, cwd)
  end
  return path
end

--- The loaded buffer of a file.
---@param path string
---@return integer? buf
function M.loaded(path)
  local real = files.real(path)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    local name = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) or ''
    return name ~= '' and M.is_text(buf) and (name == path or files.real(name) == real)
  end)
end

--- Refuse a file that can't be loaded without harm.
---@param name string
---@param path string
local function check(name, path)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    refuse('%s is not there.', name)
  elseif stat.type ~= 'file' then
    refuse('%s is a %s, not a file.', name, stat.type == 'directory' and 'folder' or stat.type)
  elseif stat.size > LARGEST then
    refuse('%s is too large to be loaded for this: %.1f MB.', name, stat.size / 1e6)
  end
  local file = vim.uv.fs_open(path, 'r', 0)
  local start = file and vim.uv.fs_read(file, START, 0)
  if file then
    vim.uv.fs_close(file)
  end
  if not start then
    refuse("%s can't be read.", name)
  elseif start:find('\0', 1, true) then
    refuse('%s is binary.', name)
  end
end

--- Load a file, out of sight. Where Neovim would ask about a swap file, it is only for reading.
---@param path string
---@return integer buf
local function load(path)
  local buf = vim.fn.bufadd(path)
  local hook = vim.api.nvim_create_autocmd('SwapExists', {
    callback = function()
      vim.v.swapchoice = 'o'
    end,
  })
  pcall(vim.fn.bufload, buf) -- autocommands of others may fail
  vim.api.nvim_del_autocmd(hook)
  return buf
end

--- The buffer of a file, loaded if it was not.
---@param name string as it was named
---@param cwd string
---@return integer buf
---@return boolean fresh it is loaded only now
function M.buffer(name, cwd)
  local path = M.path(name, cwd)
  local buf = M.loaded(path)
  if buf then
    return buf, false
  end
  check(name, path)
  buf = load(path)
  if not vim.api.nvim_buf_is_loaded(buf) then
    refuse("%s can't be loaded now.", name)
  end
  return buf, true
end

--- A line of a buffer, unless there is none, or it is endless.
---@param buf integer
---@param line integer from 1
---@param name string
---@return string
function M.line(buf, line, name)
  local count = vim.api.nvim_buf_line_count(buf)
  if line > count then
    refuse('%s has %d lines: there is no line %d.', name, count, line)
  end
  local size = vim.api.nvim_buf_get_offset(buf, line) - vim.api.nvim_buf_get_offset(buf, line - 1)
  if size > LINE then
    refuse('Line %d of %s is too long: %.1f MB.', line, name, size / 1e6)
  end
  return vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1]
end

return M
