--- The files of a project, searched beside what the user types: never longer than a few
--- milliseconds at a time.
local files = require('winnow.lsp.files')
local trim = require('winnow.trim')

local M = {}

local SLICE = 3 * 1000 * 1000 -- nanoseconds of work between two keys
local SHOWN = 100 -- of those that match
local ENOUGH = 500 -- of one kind, of which the best are shown
local FEW = 10 -- that hold the query, below which others are looked for

---@param paths string[]
---@return string[]
local function shortest_first(paths)
  table.sort(paths, function(a, b)
    if #a ~= #b then
      return #a < #b
    end
    return a < b
  end)
  return paths
end

---@class winnow.Match
---@field add fun(self: winnow.Match, path: string)
---@field found string[]
---@field seen table<string, true>
local Match = {}
Match.__index = Match

---@param path string
function Match:add(path)
  if not self.seen[path] then
    self.seen[path] = true
    table.insert(self.found, path)
  end
end

--- The paths of a chunk that hold a text.
---@param chunk { text: string, lower: string }
---@param text string
---@param match winnow.Match
local function hold(chunk, text, match)
  local lower, whole = chunk.lower, chunk.text
  local line, at = 1, lower:find(text, 1, true) -- the line break before a path that may hold it
  while at and #match.found < ENOUGH do
    local stop = lower:find('\n', line + 1, true)
    while stop and stop <= at do
      line, stop = stop, lower:find('\n', stop + 1, true)
    end
    if not stop then
      return
    end
    match:add(whole:sub(line + 1, stop - 1))
    line, at = stop, lower:find(text, stop, true)
  end
end

local OFTEN = 'etaoinrsclpdmuhgbfy_-./wvk1203456789jxqz' -- characters in paths, the commonest first

--- Of these characters the one that the fewest paths have.
---@param characters string[]
---@return string
local function rarest(characters)
  local found, place = characters[1], 0
  for _, character in ipairs(characters) do
    local at = OFTEN:find(character, 1, true) or #OFTEN + 1
    if at > place then
      found, place = character, at
    end
  end
  return found
end

--- The paths of a chunk that have these characters in this order.
---@param chunk { text: string, lower: string }
---@param characters string[]
---@param rare string the rarest of them: most paths are none for the lack of it
---@param match winnow.Match
local function follow(chunk, characters, rare, match)
  local lower, whole = chunk.lower, chunk.text
  local line, holds = 1, 0 ---@type integer, integer?
  while #match.found < ENOUGH do
    local stop = lower:find('\n', line + 1, true)
    holds = holds > line and holds or lower:find(rare, line + 1, true)
    while stop and holds and stop <= holds do
      line, stop = stop, lower:find('\n', stop + 1, true)
    end
    if not (stop and holds) then
      return
    end
    local at, i = line, 1 ---@type integer?, integer
    while at and i <= #characters do
      at = lower:find(characters[i], at + 1, true)
      i = at and at < stop and i + 1 or math.huge
    end
    if not at then
      return -- nor do any that follow
    elseif i <= #characters + 1 then
      match:add(whole:sub(line + 1, stop - 1))
    end
    line = stop
  end
end

local running = 0 -- the search that is wanted; older ones end

--- Do something for each chunk of a list, a little at a time.
---@param list winnow.Paths
---@param act fun(chunk: { text: string, lower: string })
---@param wanted fun(): boolean
---@param done fun()
local function each(list, act, wanted, done)
  local i = 0
  local function step()
    local till = vim.uv.hrtime() + SLICE
    while i < #list.chunks and wanted() do
      i = i + 1
      act(list.chunks[i])
      if vim.uv.hrtime() > till then
        vim.defer_fn(step, 0)
        return
      end
    end
    done()
  end
  step()
end

--- Ways to match, the best first: the name begins so, the path holds it, or has its characters in
--- their order.
---@param lower string the query in lower case
---@return (fun(chunk: { text: string, lower: string }, match: winnow.Match))[]
local function ways(lower)
  local characters = vim.fn.split(lower, '\\zs')
  local rare = rarest(characters)
  return {
    function(chunk, match)
      hold(chunk, '/' .. lower, match)
      hold(chunk, '\n' .. lower, match)
    end,
    function(chunk, match)
      hold(chunk, lower, match)
    end,
    function(chunk, match)
      follow(chunk, characters, rare, match)
    end,
  }
end

--- Those that match best.
---@param list winnow.Paths
---@param query string
---@param done fun(found: string[]) nothing, once another search has begun
local function search(list, query, done)
  running = running + 1
  local this, all, try =
    running, setmetatable({ found = {}, seen = {} }, Match), ways(query:lower())
  ---@param way integer
  local function take(way)
    if this ~= running then
      done({})
      return
    elseif #all.found >= SHOWN or not try[way] or way == 3 and #all.found >= FEW then
      done(vim.list_slice(all.found, 1, SHOWN))
      return
    end
    local match = setmetatable({ found = {}, seen = all.seen }, Match)
    ---@return boolean
    local wanted = function()
      return this == running and #match.found < ENOUGH
    end
    each(
      list,
      function(chunk)
        try[way](chunk, match)
      end,
      wanted,
      function()
        local found = match.found
        found = way == 3 and vim.fn.matchfuzzy(found, query) or shortest_first(found)
        vim.list_extend(all.found, found)
        take(way + 1)
      end
    )
  end
  take(1)
end

--- Names in a folder that is not below the project, or that is named as if it weren't.
---@param query string it begins with `/`, `~/` or `../`
---@param cwd string
---@param done fun(found: string[])
local function outside(query, cwd, done)
  local folder, name = query:match('^(.*/)([^/]*)$')
  local path = folder:gsub('^~/', vim.uv.os_homedir() .. '/')
  path = vim.startswith(path, '/') and path or cwd .. '/' .. path
  local lower = name:lower()
  vim.uv.fs_scandir(
    path,
    vim.schedule_wrap(function(_, found)
      local all = {}
      while found and #all < SHOWN do
        local entry, kind = vim.uv.fs_scandir_next(found)
        if not entry then
          break
        elseif vim.startswith(entry:lower(), lower) and (lower ~= '' or entry:sub(1, 1) ~= '.') then
          table.insert(all, folder .. entry .. (kind == 'directory' and '/' or ''))
        end
      end
      done(shortest_first(all))
    end)
  )
end

--- The paths that may be meant, the likeliest first.
---@param cwd string
---@param query string
---@param done fun(found: string[])
function M.find(cwd, query, done)
  if query:find('^~?/') or query:find('^%.%./') then
    outside(query, cwd, done)
    return
  end
  files.of(cwd, function(list)
    if query == '' then
      local first = list.chunks[1]
      local top = first and vim.split(trim.both(first.text), '\n', { plain = true }) or {}
      done(vim.list_slice(shortest_first(top), 1, SHOWN))
    else
      search(list, (query:gsub('^%./', '')), done)
    end
  end)
end

return M
