--- Mentions: the words of a draft that stand for something, such as `@buffer` or `@src/cart.py`.
local trim = require('winnow.trim')

local M = {}

---@class winnow.Mention
---@field text string as it is written, with its `@`
---@field row integer from 0, in the lines that were read
---@field col integer byte, from 0
---@field word string what is mentioned: a name of `WORDS`, or a path
---@field path boolean it is a path
---@field whole string that with its lines, which may be a name of its own
---@field first? integer line, from 1
---@field last? integer
---@field plain boolean Claude Code reads it, too: nothing but a blank is before it

--- What the words mean, for completion.
M.WORDS = {
  selection = 'what was selected last in the window beside',
  buffer = 'the buffer in the window beside, unsaved text included',
  buffers = 'all listed buffers, or their names where that is much',
  visible = 'the lines in sight in the windows beside',
  diagnostics = 'the diagnostics of all buffers',
  quickfix = 'the quickfix list',
  diff = 'what git says has changed since the last commit',
  symbol = 'the function around the cursor in the window beside',
}

-- What may stand behind a mention that is none of it.
local TRAILING = '[%.,;:!%?%)%]}\'"]'
-- What may stand before it; anything else, and it is an address, or a part of a word.
local BEFORE = '[%s%(%[{"\']'
-- Columns that a fence may stand further in than the one that it closes.
local DEEPER = 3

-- Lines of a path, as people write them.
local LINES = { '^(.+):(%d+)%-(%d+)$', '^(.+):(%d+)$', '^(.+)#L(%d+)%-L?(%d+)$', '^(.+)#L(%d+)$' }

--- A file's name where it is no more than that: one line, which mentions no other file.
---@param name string
---@return string
function M.plain(name)
  name = name:gsub('%c', '␤'):gsub('^@', './@')
  return (name:gsub('([%s%(%[{"\'])@', '%1‹@›'))
end

--- Whether a path is a mention only in quotes.
---@param path string
---@return boolean
function M.is_quoted(path)
  return path:find('[%s`]') ~= nil or path:find(TRAILING, #path) ~= nil
end

--- A path without its lines.
---@param word string
---@return string path
---@return integer? first
---@return integer? last
function M.split(word)
  for _, pattern in ipairs(LINES) do
    local path, first, last = word:match(pattern)
    if path then
      local from, to = tonumber(first), tonumber(last or first)
      return path, math.min(from, to), math.max(from, to)
    end
  end
  return word
end

--- The mention that begins at a column.
---@param line string
---@param at integer byte of its `@`, from 1
---@param before string the character before it
---@return winnow.Mention? row is that of the caller
---@return integer next byte behind it
local function read(line, at, before)
  local quoted = line:match('^"([^"]+)"', at + 1)
  local tail = quoted and line:match('^[:#][L%d%-]+', at + #quoted + 3) or ''
  local word = quoted and quoted .. tail or line:match('^[^%s`]+', at + 1)
  if not word then
    return nil, at + 1
  end
  local text = quoted and ('@"%s"%s'):format(quoted, tail) or '@' .. trim.right(word, TRAILING)
  word = quoted and word or text:sub(2)
  if word == '' or word:find('://', 1, true) then
    return nil, at + #text
  end
  local path, first, last = M.split(word)
  local known = M.WORDS[word] ~= nil and not quoted
  local found = { text = text, col = at - 1, row = 0, word = known and word or path }
  found.path, found.whole, found.first, found.last = not known, word, first, last
  found.plain = before == '' or before:find('%s') ~= nil
  return found, at + #text
end

---@class winnow.Fence
---@field mark string its characters
---@field column integer where they stand
---@field quoted boolean it is in a quote, which ends the block

--- What may be a fence in a line, as `core/text/fences.py` reads it.
---@param line string
---@return winnow.Fence?
---@return string rest of the line
local function fence_in(line)
  local at = line:match('^[%s>]*()')
  local quoted, item = line:find('>', 1, true) ~= nil and line:find('>', 1, true) < at, at
  while item do -- a block may begin beside the mark of a list
    at, item = item, line:match('^[-*+]%s+()', item) or line:match('^%d+[.)]%s+()', item)
  end
  local mark = line:match('^```+', at) or line:match('^~~~+', at)
  if not mark then
    return nil, ''
  end
  local column = 0
  for char in line:sub(1, at - 1):gmatch('.') do
    column = char == '\t' and column + 4 - column % 4 or column + 1
  end
  return { mark = mark, column = column, quoted = quoted }, line:sub(at + #mark)
end

--- The block of code that is open after a line.
---@param open winnow.Fence? before it
---@param line string
---@return winnow.Fence? open
---@return boolean code the line is one of a block
local function past(open, line)
  if open and open.quoted and not line:find('^%s*>') then
    open = nil
  end
  local found, rest = fence_in(line)
  if not found then
    return open, open ~= nil
  end
  if not open then
    local opens = vim.startswith(found.mark, '~') or not rest:find('`', 1, true)
    return opens and found or nil, opens
  end
  local closes = vim.startswith(found.mark, open.mark)
    and not rest:find('%S')
    and found.column <= open.column + DEEPER
  return not closes and open or nil, true
end

--- The mentions of lines, but for those in code.
---@param lines string[]
---@return winnow.Mention[]
function M.all(lines)
  local found = {} ---@type winnow.Mention[]
  local fence, inside ---@type winnow.Fence?, boolean
  for row, line in ipairs(lines) do
    fence, inside = past(fence, line)
    if not inside and line:find('@', 1, true) then
      local at, code, counted = line:find('@', 1, true), 0, 1
      while at do
        local before = line:sub(at - 1, at - 1)
        code = code + select(2, line:sub(counted, at - 1):gsub('`', ''))
        counted = at
        local mention, next_at = nil, at + 1 ---@type winnow.Mention?, integer
        if code % 2 == 0 and (at == 1 or before:find(BEFORE)) then
          mention, next_at = read(line, at, at == 1 and '' or before)
        end
        if mention then
          mention.row = row - 1
          table.insert(found, mention)
        end
        at = line:find('@', next_at, true)
      end
    end
  end
  return found
end

return M
