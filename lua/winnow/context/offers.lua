--- The commands and skills of the chats' agents, as the host knows them.
local M = {}

local known = {} ---@type table<integer, winnow.Command[]> by the chats' buffers
local latest = {} ---@type winnow.Command[]

---@param buf integer
---@param commands winnow.Command[]
function M.know(buf, commands)
  known[buf], latest = commands, commands
end

--- Of a chat whose agent has not started yet: what the last one had.
---@param buf integer
---@return winnow.Command[]
function M.of(buf)
  return known[buf] or latest
end

return M
