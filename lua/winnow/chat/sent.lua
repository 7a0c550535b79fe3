--- Messages that no host has said it keeps, on disk: whatever ends before, they come back when
--- their chat is opened.
local files = require('winnow.chat.files')

local M = {}

local unwritten = {} ---@type table<string, winnow.Sent[]> where no file can be made, by chat

---@param path string a chat's
---@return winnow.Sent[]
function M.of(path)
  local ok, messages = pcall(vim.json.decode, files.read(files.record('sent', path)))
  return unwritten[path] or ok and vim.islist(messages) and messages or {}
end

---@param path string a chat's
---@param messages winnow.Sent[]
local function keep(path, messages)
  local file = files.record('sent', path)
  local ok = #messages > 0 and files.write_private(file, vim.json.encode(messages))
  if not ok then
    os.remove(file)
  end
  unwritten[path] = not ok and #messages > 0 and messages or nil
end

--- A random UUID.
---@return string
local function uuid()
  local hex = vim.uv.random(16):gsub('.', function(byte)
    return ('%02x'):format(byte:byte())
  end)
  local a, b, c, d, e = hex:sub(1, 8), hex:sub(9, 12), hex:sub(14, 16), hex:sub(18, 20), hex:sub(21)
  return ('%s-%s-4%s-8%s-%s'):format(a, b, c, d, e)
end

--- A message is on its way.
---@param path string a chat's
---@param text string
---@return string id
function M.add(path, text)
  local message = { id = uuid(), text = text }
  keep(path, vim.list_extend(M.of(path), { message }))
  return message.id
end

--- The host keeps these.
---@param path string a chat's
---@param ids string[]
function M.forget(path, ids)
  local left = vim.tbl_filter(function(message)
    return not vim.list_contains(ids, message.id)
  end, M.of(path))
  keep(path, left)
end

return M
