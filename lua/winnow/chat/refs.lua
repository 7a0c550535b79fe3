--- The places in files that an answer names, as the quickfix list; what a review has found, too.
local grammar = require('winnow.grammar')
local outline = require('winnow.chat.outline')
local say = require('winnow.say')
local trim = require('winnow.trim')

local M = {}

local FINDINGS = ('%s ReportFindings '):format(grammar.TOOL)

-- What may stand around a path in a sentence and is none of it.
local BEFORE, AFTER = '^[%(%[{<"\'*_“‘«]+', '[%)%]}>"\'*_”’»,;:.!?]'

-- How a line, and a column, follow a path.
local PLACES = { '^(.-):(%d+):(%d+)', '^(.-):(%d+)', '^(.-)#L(%d+)' }

---@class winnow.Reference
---@field name string
---@field line integer 0: no line is named
---@field column integer
---@field at? integer where in its line it stands

--- What a piece of text names, if that is a file.
---@param text string
---@return winnow.Reference
local function read(text)
  for _, place in ipairs(PLACES) do
    local name, line, column = text:match(place)
    if name and name ~= '' then
      return { name = name, line = tonumber(line), column = tonumber(column) or 0 }
    end
  end
  return { name = text, line = 0, column = 0 }
end

--- What may name a file in a line: code, the target of a link, a word with a dot or a slash.
---@param line string
---@return winnow.Reference[] in the order in which they are read
local function candidates(line)
  local found = {} ---@type winnow.Reference[]
  ---@param at integer
  ---@param text string
  ---@param sure boolean
  local function add(at, text, sure)
    local one = read(text)
    if sure or one.line > 0 or one.name:find('[./]') then
      one.at = at
      table.insert(found, one)
    end
  end
  for _, pattern in ipairs({ '()%f[`]`+([^`]+)`', '()%]%(([^()]+)%)' }) do
    for at, text in line:gmatch(pattern) do
      add(at, text, true)
    end
  end
  for at, word in line:gmatch('()(%S+)') do
    add(at, trim.right(word:gsub(BEFORE, ''), AFTER), false)
  end
  table.sort(found, function(a, b)
    return a.at < b.at
  end)
  return found
end

--- The lines of the answer under the cursor, else of the last one.
---@param chat winnow.Chat
---@return string[]
local function answer(chat)
  local here = vim.api.nvim_win_get_cursor(0)[1] - 1
  local first, after ---@type integer?, integer?
  local said = outline.all(chat)
  for i = #said - 1, 1, -1 do -- the last one is the draft
    local at, stop = said[i].row, said[i + 1].row
    if not said[i].begins and (not first or at <= here and here < stop) then
      first, after = at, stop
    end
  end
  return first and chat:lines(first + 1, after or -1) or {}
end

--- Its lines that may name files: of the output of tools only what a review reports.
---@param lines string[]
---@return string[]
local function telling(lines)
  local found, reports = {}, false
  for _, line in ipairs(lines) do
    if not vim.startswith(line, grammar.OUTPUT) then
      reports = vim.startswith(line, FINDINGS)
    end
    local ours = vim.startswith(line, grammar.TOOL) or vim.startswith(line, grammar.THOUGHT)
    local output = vim.startswith(line, grammar.OUTPUT)
    if reports and output or not (output or ours) then
      table.insert(found, trim.both(output and line:sub(#grammar.OUTPUT + 1) or line))
    end
  end
  return found
end

---@param chat winnow.Chat
---@return table[] items
local function items_of(chat)
  local items, known = {}, {} ---@type table[], table<string, boolean|string>
  ---@param name string
  ---@return string|false
  local function file(name)
    if known[name] == nil then
      local path = vim.fs.normalize(name)
      path = vim.startswith(path, '/') and path or vim.fs.joinpath(chat.cwd, path)
      known[name] = vim.fn.filereadable(path) == 1 and path
    end
    return known[name] --[[@as string|false]]
  end
  local listed = {} ---@type table<string, true>
  for _, line in ipairs(telling(answer(chat))) do
    for _, one in ipairs(candidates(line)) do
      local path = file(one.name)
      local key = ('%s:%d:%d'):format(path, one.line, one.column)
      if path and not listed[key] then
        listed[key] = true
        local at = { lnum = math.max(one.line, 1), col = one.column }
        table.insert(items, { filename = path, lnum = at.lnum, col = at.col, text = line })
      end
    end
  end
  return items
end

--- List them.
---@param chat winnow.Chat
function M.list(chat)
  local items = items_of(chat)
  if #items == 0 then
    say('winnow: this answer names no file that exists.', 'info')
    return
  end
  vim.fn.setqflist({}, ' ', { title = 'References', items = items })
  vim.cmd.copen({ mods = { split = 'botright' } })
end

return M
