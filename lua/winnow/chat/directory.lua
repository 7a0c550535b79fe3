--- The chats of a directory: the newest one, and new ones.
local config = require('winnow.config')
local files = require('winnow.chat.files')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local lock = require('winnow.chat.lock')

local M = {}

---@param a string
---@param b string
---@return boolean
local function same_place(a, b)
  return files.place(a) == files.place(b)
end

--- The directory that a chat in this one is of: the project's, if it is in one. A home directory
--- that is under version control is none.
---@param cwd string
---@return string
function M.project(cwd)
  local place = files.place(cwd)
  local root = vim.fs.root(place, config.get().root_markers)
  return root and not same_place(root, '~') and files.place(root) or place
end

--- A directory's name as part of a file's, which has room for some 250 bytes.
---@param cwd string
---@return string
local function slug(cwd)
  return (vim.fs.basename(files.place(cwd)):gsub('[^%w._-]', '_'):sub(1, 80))
end

--- An option's value as the frontmatter has it.
---@param value string
---@return string
local function shown(value)
  return value ~= '' and value or 'default'
end

--- Load a chat file.
---@param path string
---@return integer buf
function M.load(path)
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].swapfile = false -- else a warning about an old one would be an error
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  return buf
end

--- The newest chat of a directory in which something was said, from its file.
---@param cwd string
---@return integer? buf
function M.newest(cwd)
  local name = slug(cwd)
  local paths = {}
  for file, kind in vim.fs.dir(files.dir()) do
    if kind == 'file' and vim.endswith(file, '-' .. name .. '.md') then
      table.insert(paths, files.dir() .. '/' .. file)
    end
  end
  table.sort(paths, function(a, b)
    return a > b -- names start with the time
  end)
  for _, path in ipairs(paths) do
    local lines = vim.fn.readfile(path, '', 2 * frontmatter.MAX_LINES)
    local head = frontmatter.parse(lines)
    local place = head.worktree or head.cwd
    if place and same_place(place, cwd) and not M.is_blank(lines) then
      if not lock.owner(path) then -- else another Neovim has it
        return M.load(path)
      end
    end
  end
end

local given = {} ---@type table<string, true> names of chats, which may have no file

--- A name for a new chat of a directory, which no other Neovim has thought of either.
---@param cwd string
---@return string path
local function new_path(cwd)
  local name = slug(cwd)
  local stamp, count = os.date('%Y%m%d-%H%M%S'), 0
  local path
  repeat
    path = ('%s/%s%s-%s.md'):format(files.dir(), stamp, count > 0 and '.' .. count or '', name)
    count = count + 1
  until not (given[path] or vim.uv.fs_stat(path) or lock.owner(path))
  given[path] = true
  return path
end

--- What a new chat holds.
---@param cwd string
---@param draft string
---@param values? table<string, string> more frontmatter
---@return string[] lines
local function new_text(cwd, draft, values)
  local options = config.get()
  values = values and vim.deepcopy(values) or {}
  local model = values.model or shown(options.model)
  values.model = nil
  local lines = {
    '---',
    'winnow: 1',
    'cwd: ' .. vim.fn.fnamemodify(cwd, ':~'):gsub('\n', '␤'), -- more lines would be more values
    'model: ' .. model,
    'mode: ' .. shown(options.mode),
  }
  for key, value in vim.spairs(values) do
    table.insert(lines, ('%s: %s'):format(key, value))
  end
  vim.list_extend(lines, { '---', '', grammar.YOU, '' })
  return vim.list_extend(lines, vim.split(draft, '\n', { plain = true }))
end

--- Whether a chat with these lines has neither a message nor a draft, and nothing above them that
--- the user has chosen for it.
---@param lines string[]
---@return boolean
function M.is_blank(lines)
  local head, last = frontmatter.parse(lines)
  if not last or head.questions or head.model and head.model ~= shown(config.get().model) then
    return false
  end
  for i = last + 2, #lines do
    if lines[i]:find('%S') and lines[i] ~= grammar.YOU then
      return false
    end
  end
  return true
end

--- Make an empty buffer a new chat's.
---@param buf integer
---@param cwd string
---@param values? table<string, string> more frontmatter
function M.fill(buf, cwd, values)
  vim.bo[buf].modifiable = true -- whatever was said with :set elsewhere
  vim.bo[buf].readonly = false
  vim.bo[buf].swapfile = false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, new_text(cwd, '', values))
  vim.bo[buf].modified = false
end

--- Make a new chat's buffer.
---@param cwd string
---@param values? table<string, string> more frontmatter
---@param path? string of its file
---@return integer buf
function M.create(cwd, values, path)
  local buf = vim.fn.bufadd(path or new_path(values and values.worktree or cwd))
  vim.bo[buf].swapfile = false -- else there would be one until it is filled
  vim.cmd.call({ ('bufload(%d)'):format(buf), mods = { noautocmd = true } }) -- no Markdown file
  vim.bo[buf].buflisted = true
  M.fill(buf, cwd, values)
  return buf
end

--- Put a draft that has no place any more into the file of a new chat, which nothing opens.
---@param cwd string
---@param draft string
---@return string name
function M.keep_draft(cwd, draft)
  local path = new_path(cwd)
  files.prepare(path)
  vim.fn.writefile(new_text(cwd, draft), path)
  return vim.fs.basename(path)
end

return M
