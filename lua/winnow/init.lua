--- Winnow: chat with Claude in a buffer, and answer its questions by deleting lines.
--- Nothing has to be called: `setup` only changes defaults.
local M = {}

--- Change defaults; optional. `vim.g.winnow = {…}` does the same without a call.
---@param options? table see |winnow-configuration|
function M.setup(options)
  require('winnow.config').set(options)
end

--- Columns for what we say in the statusline that is drawn now: it has others in it, too.
---@return integer
local function room()
  local whole = vim.o.laststatus == 3
  local width = whole and vim.o.columns or vim.fn.winwidth(vim.g.statusline_winid or 0)
  return math.floor(width / 2)
end

--- Parts in their order, without those for which there is no room.
---@param parts { text: string?, last: integer }[] the higher `last` is, the sooner one is left out
---@return string
local function fitted(parts)
  local shown = vim.tbl_filter(function(part)
    return part.text ~= nil
  end, parts)
  local text
  repeat
    local least = 1
    for i, part in ipairs(shown) do
      least = part.last > shown[least].last and i or least
    end
    local texts = vim.tbl_map(function(part)
      return part.text
    end, shown)
    text = table.concat(texts, ' ')
    local fits = #shown < 2 or vim.fn.strdisplaywidth((text:gsub('%%%%', '%%'))) <= room()
    table.remove(shown, least)
  until fits
  return text
end

--- For a statusline: what the chat of this window does, or else all chats: the branch of a single
--- one that has a worktree, the state, the number of tasks in the background, the permission mode
--- of a single chat unless it is the usual one, how many things wait for you, how full the context
--- of a single chat is, what the session has cost; in half of its width as much of that as there is
--- room for. A percent sign is doubled, as a statusline wants it. Empty without a chat.
---@return string
function M.statusline()
  local registry = package.loaded['winnow.registry']
  local chats = registry and (registry.current() and { registry.current() } or registry.all()) or {}
  local waiting, cost, background, state = 0, 0, 0, nil
  local rank = { idle = 1, failed = 2, connecting = 3, working = 4, waiting = 5 }
  for _, chat in ipairs(chats) do
    waiting, cost = waiting + #chat.pending, cost + chat.cost
    background = background + chat.background
    local this = rank[chat.state] and chat.state or 'idle'
    state = rank[this] > (rank[state] or 0) and this or state
  end
  local one = #chats == 1 and chats[1] or {}
  local context, mode = one.context or 0, one.mode or ''
  return fitted({
    { text = one.branch and one.branch:gsub('%%', '%%%%') or nil, last = 6 },
    { text = state, last = 0 },
    { text = background > 0 and ('· %d in background'):format(background) or nil, last = 4 },
    { text = mode ~= '' and mode ~= 'default' and mode or nil, last = 3 },
    { text = waiting > 0 and tostring(waiting) or nil, last = 1 },
    { text = context > 0 and ('%d %%%%'):format(context) or nil, last = 2 },
    { text = cost > 0 and ('%s$%.2f'):format(context > 0 and '· ' or '', cost) or nil, last = 5 },
  })
end

return M
