--- Which Neovim has a chat, and so writes its file: a small file for each chat names it. Where none
--- that still runs is named, whoever comes is next; so a crash leaves nothing to clean up, and a
--- Neovim that was stopped with CTRL-Z keeps its chats. Swap files can't tell: users turn them off
--- or move them, and they can't be handed over.
local files = require('winnow.chat.files')

local M = {}

---@class winnow.Owner
---@field pid integer
---@field began string when that process began: its number may be another's by now
---@field host string
---@field server string where it listens

local held = {} ---@type table<string, { lock: string, text: string }> ours, by chat's path

---@param path string a chat's
---@return string
local function lock_of(path)
  return files.record('open', path)
end

--- When a process began, by the kernel's clock; nil: it does not run. Without /proc, that it runs
--- must do.
---@param pid integer
---@return string?
local function began(pid)
  local stat = io.open(('/proc/%d/stat'):format(pid))
  if stat then
    local state, start = stat:read('*a'):match('^.*%) (%a)' .. (' %S+'):rep(18) .. ' (%d+)')
    stat:close()
    return state ~= 'Z' and start or nil -- a zombie only waits for its parent to look
  elseif not vim.uv.fs_stat('/proc/self/stat') then
    return vim.uv.kill(pid, 0) == 0 and '' or nil
  end
end

local me ---@type winnow.Owner?

--- This Neovim.
---@return winnow.Owner
function M.me()
  local pid = vim.fn.getpid()
  me = me or { pid = pid, began = began(pid) or '', host = vim.uv.os_gethostname(), server = '' }
  me.server = vim.v.servername -- there may be one only later
  return me
end

---@param path string a chat's
---@return winnow.Owner?
local function read(path)
  local ok, owner = pcall(vim.json.decode, files.read(lock_of(path)))
  return ok and type(owner) == 'table' and type(owner.pid) == 'number' and owner or nil
end

---@param owner winnow.Owner?
---@return boolean
local function is_me(owner)
  local this = M.me()
  return owner ~= nil
    and owner.pid == this.pid
    and owner.began == this.began
    and owner.host == this.host
end

--- The other Neovim that has a chat, if it still runs. Of another machine's, nobody here can tell.
---@param path string a chat's
---@return winnow.Owner?
function M.owner(path)
  local owner = read(path)
  if owner and not is_me(owner) then
    local foreign = type(owner.host) == 'string' and owner.host ~= vim.uv.os_gethostname()
    return (foreign or began(owner.pid) == owner.began) and owner or nil
  end
end

--- Whether this Neovim still has a chat that it took. Where no lock can be written, there is none.
---@param path string a chat's
---@return boolean
function M.mine(path)
  local own = held[path]
  return not own or files.read(own.lock) == own.text
end

--- Name a Neovim as the one that has a chat. Two that do so at once both succeed; the last one has
--- it, and the other one finds out before it writes.
---@param path string a chat's
---@param owner? winnow.Owner this Neovim
function M.give(path, owner)
  local lock = lock_of(path)
  local text = vim.json.encode(owner or M.me())
  local ok = files.write_private(lock, text)
  held[path] = ok and not owner and { lock = lock, text = text .. '\n' } or nil
end

--- Take a chat, unless another Neovim has it.
---@param path string a chat's
---@return winnow.Owner? owner the other one
function M.claim(path)
  local owner = M.owner(path)
  if not owner then
    M.give(path)
  end
  return owner
end

--- This Neovim has no more to do with a chat.
---@param path string a chat's
function M.release(path)
  if held[path] and M.mine(path) then
    os.remove(held[path].lock)
  end
  held[path] = nil
end

return M
