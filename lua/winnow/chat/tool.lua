--- The line of a tool call: the file that it is about, and how it fits into one row.
local grammar = require('winnow.grammar')

local M = {}

local LINE = ('^(%s %%S+ )(.+)( %%S+)$'):format(grammar.TOOL)
local COMMANDS = ('%s Bash '):format(grammar.TOOL)

--- The file that a line is about: there is no more to it than the line, once the host has ended.
---@param line string
---@param cwd string the chat's directory, from which files in it are named
---@return string? path
function M.file(line, cwd)
  local _, name = line:match(LINE)
  if not name then
    return nil
  end
  local home = name:match('^~(/.*)')
  local path = home and vim.uv.os_homedir() .. home
    or vim.fs.joinpath(vim.startswith(name, '/') and '' or cwd, name)
  return vim.fn.filereadable(path) == 1 and path or nil
end

local width_of = vim.fn.strdisplaywidth

--- The end of a text is left out.
---@param text string
---@param columns integer
---@return string
local function without_end(text, columns)
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

--- A line with what one row has no room for left out, in favour of one `…`: of a path folders from
--- its middle, of anything else the end. Its state is always there.
---@param line string
---@param width integer columns of the row
---@return string? line nil: it has room, or is none
function M.fitted(line, width)
  local head, about, state = line:match(LINE)
  if not head or width_of(line) <= width then
    return nil
  end
  local columns = width - width_of(head .. state)
  local path = about:find('/', 1, true) and not vim.startswith(line, COMMANDS)
  return head .. (path and without_folders or without_end)(about, columns) .. state
end

return M
