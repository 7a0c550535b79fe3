--- The line of a tool call: the file that it is about, and how it fits into one row.
local grammar = require('winnow.grammar')

local M = {}

local NAMED = ('^(%s %%S+ )(.+)$'):format(grammar.TOOL)
local COMMANDS = ('%s Bash '):format(grammar.TOOL)
local STATES = { grammar.RUNNING, grammar.KEPT, grammar.REFUSED }

---@class winnow.ToolLine
---@field call string the sign, the name, what the call is about
---@field state string its sign
---@field came string the blank and the words behind that, if there are any

--- The parts of a tool's line: the last sign of a state is its state.
---@param line string
---@return winnow.ToolLine?
function M.parse(line)
  local found ---@type winnow.ToolLine?
  for _, state in ipairs(vim.startswith(line, grammar.TOOL) and STATES or {}) do
    local call, came = line:match(('^(.*) %s(.*)$'):format(state))
    local whole = came == '' or came and vim.startswith(came, ' ')
    if whole and (not found or #call > #found.call) then
      found = { call = call, state = state, came = came }
    end
  end
  return found
end

--- Whether a line is that of a call that has failed.
---@param line string
---@return boolean
function M.failed(line)
  local parts = line:find(grammar.REFUSED, 1, true) and M.parse(line)
  return parts and parts.state == grammar.REFUSED or false
end

--- The file that a line is about: there is no more to it than the line, once the host has ended.
---@param line string
---@param cwd string the chat's directory, from which files in it are named
---@return string? path
function M.file(line, cwd)
  local parts = M.parse(line)
  local head, name = (parts and parts.call or ''):match(NAMED)
  if not name then
    return nil
  elseif vim.endswith(head, ': ') then -- of an MCP server: its tool comes first
    name = name:match('^%S+ (.+)$') or ''
  end
  local home = name:match('^~(/.*)')
  local path = home and vim.uv.os_homedir() .. home
    or vim.fs.joinpath(vim.startswith(name, '/') and '' or cwd, name)
  for _, file in ipairs({ path, path:match('^(.-):%d+') }) do -- with its line, and more
    if vim.fn.filereadable(file) == 1 then
      return file
    end
  end
end

local width_of = vim.fn.strdisplaywidth

--- The beginning of a text, as wide as there is room.
---@param text string
---@param columns integer
---@return string
function M.beginning(text, columns)
  if width_of(text) <= columns then
    return text
  end
  local fits = 0
  for _, first in ipairs(vim.str_utf_pos(text)) do
    if width_of(text:sub(1, first - 1)) >= columns then
      break
    end
    fits = first - 1
  end
  return text:sub(1, fits) .. '…'
end

--- Whole folders are left out, those next to the file's name first; its name is there.
---@param path string
---@param columns integer
---@return string
local function without_folders(path, columns)
  local slash = path:match('^.*()/')
  local name, kept = path:sub(slash), slash - 1
  while kept > 0 do
    kept = path:sub(1, kept):match('^.*()/') or 0
    local shorter = path:sub(1, kept) .. '…' .. name
    if width_of(shorter) <= columns then
      return shorter
    end
    kept = kept - 1
  end
  while width_of(name) >= columns and name ~= '' do
    name = vim.fn.strcharpart(name, 1)
  end
  return '…' .. name
end

local LEAST = 3 -- the part of a row that what a call is about has, however much came of it

--- A line with what one row has no room for left out, in favour of one `…`: of a path folders from
--- its middle, of anything else the end. Its state is always there, and what came of it as far as
--- that leaves room for what it is about.
---@param line string
---@param width integer columns of the row
---@return string? line nil: it has room, or is none
function M.fitted(line, width)
  local parts = width_of(line) > width and M.parse(line)
  local head, about = (parts and parts.call or ''):match(NAMED)
  if not parts or not head then
    return nil
  end
  local state = (' %s%s'):format(parts.state, parts.came)
  local columns = width - width_of(head .. state)
  local least = math.min(width_of(about), math.floor(width / LEAST))
  if columns < least then
    columns = least
    state = M.beginning(state, width - width_of(head) - columns)
  end
  local path = about:find('/', 1, true) and not vim.startswith(line, COMMANDS)
  if width_of(about) > columns then
    about = (path and without_folders or M.beginning)(about, columns)
  end
  return head .. about .. state
end

return M
