--- Winnow: chat with Claude in a buffer, and answer its questions by deleting lines.
--- Nothing has to be called: `setup` only changes defaults.
local M = {}

--- Change defaults; optional. `vim.g.winnow = {…}` does the same without a call.
---@param options? table see |winnow-configuration|
function M.setup(options)
  require('winnow.config').set(options)
end

--- For a statusline: what the chat of this window does, or else all chats: the branch of a single
--- one that has a worktree, the state, the number of tasks in the background, the permission mode
--- of a single chat unless it is the usual one, how many things wait for you, how full the context
--- of a single chat is, what the session has cost. A percent sign is doubled, as a statusline wants
--- it. Empty without a chat.
---@return string
function M.statusline()
  local registry = package.loaded['winnow.registry']
  local shown = registry and (registry.current() and { registry.current() } or registry.all()) or {}
  local waiting, cost, background, state = 0, 0, 0, nil
  local rank = { idle = 1, failed = 2, connecting = 3, working = 4, waiting = 5 }
  for _, chat in ipairs(shown) do
    waiting, cost = waiting + #chat.pending, cost + chat.cost
    background = background + chat.background
    local this = rank[chat.state] and chat.state or 'idle'
    state = rank[this] > (rank[state] or 0) and this or state
  end
  local branch = #shown == 1 and shown[1].branch
  local parts = { branch and branch:gsub('%%', '%%%%') or nil }
  table.insert(parts, state)
  if background > 0 then
    table.insert(parts, ('· %d in background'):format(background))
  end
  local mode = #shown == 1 and shown[1].mode or ''
  if mode ~= '' and mode ~= 'default' then
    table.insert(parts, mode)
  end
  if waiting > 0 then
    table.insert(parts, tostring(waiting))
  end
  local used = { cost > 0 and ('$%.2f'):format(cost) or nil }
  if #shown == 1 and (shown[1].context or 0) > 0 then
    table.insert(used, 1, ('%d %%%%'):format(shown[1].context))
  end
  table.insert(parts, #used > 0 and table.concat(used, ' · ') or nil)
  return table.concat(parts, ' ')
end

return M
