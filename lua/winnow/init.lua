--- Winnow: chat with Claude in a buffer, and answer its questions by deleting lines.
--- Nothing has to be called: `setup` only changes defaults.
local M = {}

---@class winnow.Config
---@field agent 'claude'|'scripted'|'auto' who answers; `auto`: Claude if it has credentials
---@field cli_path string the Claude Code executable; empty: the one that comes with the SDK
---@field model string model of new chats; empty: Claude Code's default
---@field mode string permission mode of new chats; empty: Claude Code's default
---@field scenario string scenario file of the scripted agent; empty: the tour
local defaults = {
  agent = 'claude',
  cli_path = '',
  model = '',
  mode = '',
  scenario = '',
}

local AGENTS = { claude = true, scripted = true, auto = true }

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
    elseif key == 'agent' and not AGENTS[value] then
      table.insert(found, ('agent must be "claude", "scripted" or "auto", not %q'):format(value))
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

return M
