--- What a mention turns out to be, and how large that is in words.
local M = {}

---@class winnow.Found
---@field mention string as it is written
---@field name string what it is: `src/cart.py 1-80`
---@field bytes? integer of its text, where that is known
---@field size? string in place of them
---@field problem? string why it can't be sent, as it goes on after its name
---@field large? boolean that is only how much it is
---@field own? boolean its text goes along; else Claude Code reads it
---@field lines? fun(): string[] its text
---@field language? string
---@field note? string
---@field media? string it is an image of this kind
---@field image? string the path of that
---@field path? boolean it is a file

M.LARGE = 200 * 1000 -- bytes from which on it is asked whether that is meant
M.LARGEST = 10 * 1000 * 1000 -- bytes that are never sent

--- About how many tokens: four bytes each.
---@param bytes integer
---@return string
function M.tokens(bytes)
  local count = math.ceil(bytes / 4)
  if count == 1 then
    return '~1 token'
  elseif count < 100 then
    return ('~%d tokens'):format(count)
  elseif count < 1000 then
    return ('~%d tokens'):format(math.floor(count / 10 + 0.5) * 10)
  elseif count < 100000 then
    return ('~%.1fk tokens'):format(count / 1000)
  end
  return ('~%dk tokens'):format(math.floor(count / 1000 + 0.5))
end

---@param bytes integer
---@return string
function M.size(bytes)
  if bytes < 1000 then
    return ('%d bytes'):format(bytes)
  elseif bytes < 1000 * 1000 then
    return ('%d kB'):format(math.floor(bytes / 1000 + 0.5))
  elseif bytes < 1000 * 1000 * 1000 then
    return ('%.1f MB'):format(bytes / 1000 / 1000)
  end
  return ('%.1f GB'):format(bytes / 1000 / 1000 / 1000)
end

--- How large it is, for people.
---@param found winnow.Found
---@return string? none: nobody knows
function M.amount(found)
  return found.size or found.bytes and M.tokens(found.bytes) or nil
end

--- Say of one that is large that it is.
---@param found winnow.Found
---@return winnow.Found
function M.measured(found)
  local bytes = not found.problem and found.bytes or 0
  if bytes > M.LARGEST and found.own then
    found.problem = ('is too large to be sent: %s'):format(M.size(bytes))
  elseif bytes > M.LARGE then
    found.problem, found.large = ('is large: %s'):format(M.size(bytes)), true
  end
  return found
end

--- How a file is named in a chat: from its directory, from `~`, or as it is.
---@param path string
---@param cwd string the chat's
---@return string
function M.name(path, cwd)
  local inside = cwd == '/' and cwd or cwd .. '/'
  if vim.startswith(path, inside) then
    return path:sub(#inside + 1)
  end
  return vim.fn.fnamemodify(path, ':~')
end

--- Lines of a file, for people.
---@param name string
---@param first? integer
---@param last? integer
---@return string
function M.range(name, first, last)
  if not first then
    return name
  end
  return first == last and ('%s %d'):format(name, first) or ('%s %d-%d'):format(name, first, last)
end

return M
