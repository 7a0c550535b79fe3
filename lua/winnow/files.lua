--- Chat files: where they are, what a new one holds, and which is a directory's own.

local frontmatter = require('winnow.frontmatter')
local python = require('winnow.python')

local M = {}

---@return string
function M.dir()
  return vim.fn.stdpath('data') .. '/winnow/chats'
end

--- Let only the user read a file or folder of ours. What a link points to is not ours.
---@param path string
function M.seal(path)
  local stat = vim.uv.fs_lstat(path)
  local mode = stat and ({ file = '600', directory = '700' })[stat.type]
  if mode and bit.band(stat.mode, tonumber('77', 8)) ~= 0 then
    vim.uv.fs_chmod(path, tonumber(mode, 8))
  end
end

--- A small file of ours about a chat.
---@param kind string
---@param path string the chat's
---@return string
function M.record(kind, path)
  return ('%s/%s/%s'):format(python.state, kind, vim.fn.sha256(M.real(path)))
end

-- What is beside a file while it is written: in its folder, since only there it can take its place.
local NEW = '%s/.%s.%d'

--- Write a file whole or not at all: a reader, a crash or a full disk never finds half of it.
---@param path string no link
---@param lines string[]
---@param mode integer its permissions
---@param old? table as fs_stat() has the file now
---@return boolean done false: nothing like it can be put into its folder; what else fails is raised
local function replace(path, lines, mode, old)
  local new = NEW:format(vim.fs.dirname(path), vim.fs.basename(path), vim.fn.getpid())
  os.remove(new)
  local file = vim.uv.fs_open(new, 'wx', tonumber('600', 8)) -- `x`: no link that others put there
  if not file then
    return false
  end
  local made = assert(vim.uv.fs_fstat(file))
  vim.uv.fs_close(file)
  local like = not old or made.uid == old.uid and made.gid == old.gid
  local ok, problem = pcall(function()
    if like then
      vim.uv.fs_chmod(new, mode)
      vim.fn.writefile(lines, new)
      assert(vim.uv.fs_rename(new, path))
    end
  end)
  if not (ok and like) then
    os.remove(new)
  end
  return like and (ok or error(problem, 0))
end

--- Write a file that only the user can read, whole or not at all.
---@param path string
---@param text string
---@return boolean done
function M.write_private(path, text)
  local ok, done = pcall(function()
    vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8))
    return replace(path, { text }, tonumber('600', 8))
  end)
  return ok and done
end

--- Write a chat's file whole or not at all, if that can be: not one that has more names, which
--- would then be of another file.
---@param path string
---@param lines string[]
---@return boolean done false: it has to be written where it is; what else fails is raised
function M.replace(path, lines)
  pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p', tonumber('700', 8))
  local real = M.real(path)
  local own, stat = M.own(real), vim.uv.fs_stat(real)
  if stat and stat.nlink > 1 or not (stat or own) then
    return false
  end
  local mode = own and tonumber('600', 8) or bit.band(stat.mode, tonumber('777', 8))
  return replace(real, lines, mode, stat)
end

--- Let only the user read the chats, also those of earlier versions, and remove what is left of a
--- write that was ended.
function M.seal_all()
  M.seal(vim.fs.dirname(M.dir()))
  M.seal(M.dir())
  for file in vim.fs.dir(M.dir()) do
    local writer = tonumber(file:match('^%..*%.md%.(%d+)$'))
    if writer and vim.uv.kill(writer, 0) ~= 0 then
      os.remove(M.dir() .. '/' .. file)
    else
      M.seal(M.dir() .. '/' .. file)
    end
  end
end

--- Make the folder of a file that is to be written, and for one of ours the file, which Neovim
--- would make readable for others.
---@param path string
function M.prepare(path)
  pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p', tonumber('700', 8))
  local file = M.own(path) and vim.uv.fs_open(path, 'a', tonumber('600', 8))
  if file then
    vim.uv.fs_close(file)
    M.seal(path)
  end
end

--- A directory by its one name. A `$` in it is no variable: routers have folders such as `$id`.
---@param path string
---@return string
function M.place(path)
  return vim.fs.normalize(path, { expand_env = false })
end

--- A file by its one name, whether it is there or not.
---@param path string
---@return string
function M.real(path)
  local folder = vim.fs.dirname(path)
  return vim.uv.fs_realpath(path)
    or vim.fs.joinpath(vim.uv.fs_realpath(folder) or folder, vim.fs.basename(path))
end

local function same_place(a, b)
  return M.place(a) == M.place(b)
end

--- A directory's name as part of a file's, which has room for some 250 bytes.
local function slug(cwd)
  return (vim.fs.basename(M.place(cwd)):gsub('[^%w._-]', '_'):sub(1, 80))
end

--- The time and size of a file, which tell whether it has changed; empty: there is none.
---@param path string
---@return string
function M.stamp(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ('%d.%d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or ''
end

--- What a file holds; empty: there is none.
---@param path string
---@return string
function M.read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  return text
end

--- Load a chat file, unless another Neovim has it.
---@param path string
---@return integer? buf
local function load(path)
  if require('winnow.lock').owner(path) then
    return nil
  end
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].swapfile = false -- else a warning about an old one would be an error
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  return buf
end

--- The newest chat of a directory: one that is open here, or one from its file.
---@param cwd string
---@return integer? buf
function M.of_directory(cwd)
  local name = slug(cwd)
  local paths = {}
  for file, kind in vim.fs.dir(M.dir()) do
    if kind == 'file' and vim.endswith(file, '-' .. name .. '.md') then
      table.insert(paths, M.dir() .. '/' .. file)
    end
  end
  table.sort(paths, function(a, b)
    return a > b -- names start with the time
  end)
  for _, path in ipairs(paths) do
    local head = frontmatter.parse(vim.fn.readfile(path, '', frontmatter.MAX_LINES))
    if head.cwd and same_place(head.cwd, cwd) then
      local buf = load(path)
      if buf then
        return buf
      end
    end
  end
end

--- A name for a new chat of a directory, which no other Neovim has thought of either.
---@param cwd string
---@return string path
local function new_path(cwd)
  local name = slug(cwd)
  local stamp, count = os.date('%Y%m%d-%H%M%S'), 0
  local path
  repeat
    path = ('%s/%s%s-%s.md'):format(M.dir(), stamp, count > 0 and '.' .. count or '', name)
    count = count + 1
  until not vim.uv.fs_stat(path)
    and vim.fn.bufexists(path) == 0
    and not require('winnow.lock').owner(path)
  return path
end

--- What a new chat holds.
---@param cwd string
---@param draft string
---@param values? table<string, string> more frontmatter
---@return string[] lines
local function new_text(cwd, draft, values)
  local config = require('winnow').config()
  local shown = function(value)
    return value ~= '' and value or 'default'
  end
  local lines = {
    '---',
    'winnow: 1',
    'cwd: ' .. vim.fn.fnamemodify(cwd, ':~'):gsub('\n', '␤'), -- more lines would be more values
    'model: ' .. shown(config.model),
    'mode: ' .. shown(config.mode),
  }
  for key, value in vim.spairs(values or {}) do
    table.insert(lines, ('%s: %s'):format(key, value))
  end
  vim.list_extend(lines, { '---', '', '## You', '' })
  return vim.list_extend(lines, vim.split(draft, '\n', { plain = true }))
end

--- Make a new chat.
---@param cwd string
---@param values? table<string, string> more frontmatter
---@return integer buf
function M.create(cwd, values)
  local buf = vim.fn.bufadd(new_path(cwd))
  vim.bo[buf].swapfile = false
  vim.cmd.call({ ('bufload(%d)'):format(buf), mods = { noautocmd = true } }) -- no Markdown file
  vim.bo[buf].buflisted = true
  vim.bo[buf].modifiable = true -- whatever was said with :set elsewhere
  vim.bo[buf].readonly = false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, new_text(cwd, '', values))
  require('winnow.chats').attach(buf)
  return buf
end

--- Put a draft that has no place any more into the file of a new chat, which nothing opens.
---@param cwd string
---@param draft string
---@return string name
function M.keep_draft(cwd, draft)
  local path = new_path(cwd)
  M.prepare(path)
  vim.fn.writefile(new_text(cwd, draft), path)
  return vim.fs.basename(path)
end

--- Keep what another program has written into a chat's file, before that is written over.
---@param path string
---@return string? name of that copy, which is beside it; nil: it could not be made
function M.set_aside(path)
  local copy, count = path .. '.orig', 0
  while vim.uv.fs_stat(copy) do
    count = count + 1
    copy = ('%s.orig%d'):format(path, count)
  end
  return vim.uv.fs_copyfile(path, copy) and vim.fs.basename(copy) or nil
end

--- Whether a path is in the chats folder, where this user's own chats are.
---@param path string
---@return boolean
function M.own(path)
  local folder = vim.fs.dirname(path) -- the file itself may not be there yet
  return (vim.uv.fs_realpath(folder) or folder) == (vim.uv.fs_realpath(M.dir()) or M.dir())
end

return M
