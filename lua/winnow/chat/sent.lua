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

--- A message is on its way.
---@param path string a chat's
---@param message winnow.Sent
function M.add(path, message)
  keep(path, vim.list_extend(M.of(path), { message }))
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
