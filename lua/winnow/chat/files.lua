--- Chat files: where they are, who may read them, and what else is written about them.

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

local ESCAPED = { ['='] = '==', ['/'] = '=+', ['\\'] = '=-', [':'] = '=.' }
local LONGEST = 200 -- bytes of a name; file systems have room for some 250

--- A small file of ours about a chat.
---@param kind string
---@param path string the chat's
---@return string
function M.record(kind, path)
  local name = M.real(path):gsub('[=/\\:]', ESCAPED)
  -- Neovim tests its sha256() when it is first used, which would be a third of the first `:Winnow`.
  name = #name <= LONGEST and name or vim.fn.sha256(name)
  return ('%s/%s/%s'):format(python.state(), kind, name)
end

-- What is beside a file while it is written: in its folder, since only there it can take its place.
local NEW = '%s/.%s.%d'

---@alias winnow.Fill fun(write: fun(text: string)) writes what a file is to hold, bit by bit

---@param file integer
---@param text string
local function write(file, text)
  while text ~= '' do
    local count, problem = vim.uv.fs_write(file, text)
    text = text:sub(assert(count, problem) + 1) -- a disk that is full takes a part
  end
end

--- Write a file whole or not at all: a reader, a crash or a full disk never finds half of it.
---@param path string no link
---@param fill winnow.Fill
---@param mode integer its permissions
---@param old? table as fs_stat() has the file now
---@param lasts boolean it must outlive the machine's end, if the user wants that of files
---@return boolean done false: nothing like it can be put into its folder; what else fails is raised
local function replace(path, fill, mode, old, lasts)
  local new = NEW:format(vim.fs.dirname(path), vim.fs.basename(path), vim.fn.getpid())
  os.remove(new)
  -- `x`: no link that others put there
  local file, problem, name = vim.uv.fs_open(new, 'wx', tonumber('600', 8))
  if not file then
    assert(name ~= 'ENOSPC' and name ~= 'EDQUOT', problem) -- written there, the old text would go
    return false
  end
  local ok, like = pcall(function()
    local made = assert(vim.uv.fs_fstat(file))
    if old and (made.uid ~= old.uid or made.gid ~= old.gid) then
      return false
    end
    vim.uv.fs_fchmod(file, mode)
    fill(function(text)
      write(file, text)
    end)
    assert(not (lasts and vim.go.fsync) or vim.uv.fs_fsync(file))
    return true
  end)
  local done, failure = vim.uv.fs_close(file)
  if ok and like and done then
    done, failure = vim.uv.fs_rename(new, path)
  end
  if not (ok and like and done) then
    os.remove(new)
  end
  if not ok then
    error(like, 0) -- what went wrong
  end
  return like and (done or error(failure, 0))
end

--- Write a file that only the user can read, whole or not at all. It is about programs that run, so
--- it need not outlive the machine: to wait for the disk is what takes the time.
---@param path string
---@param text string
---@return boolean done
function M.write_private(path, text)
  local ok, done = pcall(function()
    vim.fn.mkdir(vim.fs.dirname(path), 'p', tonumber('700', 8))
    return replace(path, function(put)
      put(text .. '\n')
    end, tonumber('600', 8), nil, false)
  end)
  return ok and done
end

--- Write a chat's file whole or not at all, if that can be: not one that has more names, which
--- would then be of another file.
---@param path string
---@param fill winnow.Fill
---@return boolean done false: it has to be written where it is; what else fails is raised
function M.replace(path, fill)
  pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p', tonumber('700', 8))
  local real = M.real(path)
  local own, stat = M.own(real), vim.uv.fs_stat(real)
  if stat and stat.nlink > 1 or not (stat or own) then
    return false
  end
  local mode = own and tonumber('600', 8) or bit.band(stat.mode, tonumber('777', 8))
  return replace(real, fill, mode, stat, true)
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

--- A file by its whole path. What Claude names may be no more than that: an address would be one
--- to Neovim, which fetches it as soon as it is a buffer's name.
---@param path string
---@param cwd string the chat's
---@return string
function M.whole(path, cwd)
  return python.is_absolute(path) and path or vim.fs.joinpath(cwd, path)
end

---@return string folder of the worktrees
function M.trees()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'winnow', 'worktrees')
end

--- Whether a directory is one of the worktrees that Winnow makes, or in one.
---@param path string
---@return boolean
function M.is_tree(path)
  local place = M.place(path)
  return vim.startswith(place, M.place(M.trees()) .. '/') and not place:find('/..', 1, true)
end

--- A file by its one name, whether it is there or not.
---@param path string
---@return string
function M.real(path)
  local folder = vim.fs.dirname(path)
  return vim.uv.fs_realpath(path)
    or vim.fs.joinpath(vim.uv.fs_realpath(folder) or folder, vim.fs.basename(path))
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

local SHORT = 64 * 1024 -- bytes

---@param block string
---@return string
local function hash(block)
  return vim.fn.sha256((block:gsub('%z', '\n'))) -- it takes no NUL
end

--- What tells the texts of files apart: a short one itself, for Neovim tests its sha256() when it
--- is first used. Of a long one the hashes of its blocks: all of it would be in memory at once.
---@param path string
---@return string
function M.digest(path)
  local file = io.open(path, 'rb')
  local text = file and file:read(SHORT) or ''
  local block = file and file:read(SHORT)
  local hashes = block and { hash(text) }
  while file and block do
    table.insert(hashes, hash(block))
    block = file:read(SHORT)
  end
  if file then
    file:close()
  end
  return hashes and table.concat(hashes) or text
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
