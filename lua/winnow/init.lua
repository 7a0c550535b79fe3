--- Winnow: chat with Claude in a buffer, and answer its questions by deleting lines.
--- Nothing has to be called: `setup` only changes defaults.
local M = {}

---@class winnow.Config
---@field agent 'claude'|'scripted'|'auto' who answers; `auto`: Claude if it has credentials
---@field cli_path string the Claude Code executable; empty: the one that comes with the SDK
---@field model string model of new chats; empty: Claude Code's default
---@field mode string permission mode of new chats; empty: Claude Code's default
---@field scenario string scenario file of the scripted agent; empty: the tour
---@field replay string file with answers to give instead of you; empty: you are asked
---@field keep_hours number hours until a question without an answer is forgotten; 0: never
---@field alert ''|'bell'|'osc9'|'osc777' how the terminal calls when something waits out of sight
local defaults = {
  agent = 'claude',
  cli_path = '',
  model = '',
  mode = '',
  scenario = '',
  replay = '',
  keep_hours = 0,
  alert = '',
}

-- Options that are one of a few words.
local CHOICES = {
  agent = { 'claude', 'scripted', 'auto' },
  alert = { '', 'bell', 'osc9', 'osc777' },
}

--- Check options and name what is wrong with them.
---@param options table
---@return string[] problems one sentence each
function M.problems(options)
  local found = {}
  for key, value in pairs(options) do
    if defaults[key] == nil then
      table.insert(found, ('unknown option %q'):format(tostring(key)))
    elseif type(value) ~= type(defaults[key]) then
      table.insert(
        found,
        ('%s must be a %s, not a %s'):format(key, type(defaults[key]), type(value))
      )
    elseif CHOICES[key] and not vim.list_contains(CHOICES[key], value) then
      local choices = table.concat(vim.tbl_map(vim.inspect, CHOICES[key]), ', ')
      table.insert(found, ('%s must be one of %s, not %q'):format(key, choices, value))
    end
  end
  table.sort(found)
  return found
end

--- Change defaults; optional. `vim.g.winnow = {…}` does the same without a call.
---@param options? table see |winnow-configuration|
function M.setup(options)
  options = options or {}
  local problems = M.problems(options)
  if #problems > 0 then
    vim.notify('winnow: ' .. table.concat(problems, '; '), vim.log.levels.ERROR)
    return
  end
  vim.g.winnow = vim.tbl_extend('force', vim.g.winnow or {}, options)
end

--- The options in force.
---@return winnow.Config
function M.config()
  return vim.tbl_extend('force', defaults, vim.g.winnow or {})
end

--- For a statusline: what the chat of this window does, or else all chats: the state, how many
--- things wait for you, what the session has cost. Empty without a chat.
---@return string
function M.statusline()
  local chats = package.loaded['winnow.chats']
  local shown = chats and (chats.current() and { chats.current() } or chats.all()) or {}
  local waiting, cost, state = 0, 0, nil
  local rank = { idle = 1, working = 2, waiting = 3 }
  for _, chat in ipairs(shown) do
    waiting, cost = waiting + #chat.pending, cost + chat.cost
    local this = rank[chat.state] and chat.state or 'idle'
    state = rank[this] > (rank[state] or 0) and this or state
  end
  local parts = { state }
  if waiting > 0 then
    table.insert(parts, tostring(waiting))
  end
  if cost > 0 then
    table.insert(parts, ('$%.2f'):format(cost))
  end
  return table.concat(parts, ' ')
end

return M
