--- The files of a project, listed beside what the user types.
local git = require('winnow.context.git')
local python = require('winnow.python')

local M = {}

local FRESH = 20 * 1000 -- milliseconds for which a list is as good as new
local MOST = 300 * 1000 -- files that are listed
local SLICE = 3 * 1000 * 1000 -- nanoseconds of work between two keys
local CHUNK = 1000 -- paths that are searched at once

local LIST = { 'ls-files', '-z', '--cached', '--others', '--exclude-standard' }
local RG = { '--no-config', '--files', '--hidden', '--null', '--no-messages' }
vim.list_extend(RG, { '--glob', '!.git' })

---@class winnow.Paths
---@field at integer when the list was begun, in milliseconds
---@field count integer
---@field chunks { text: string, lower: string }[] some paths each, between line breaks
---@field open string[] those that are not in a chunk yet
---@field known table<string, true> the folders in it
---@field folder string that of the path before
---@field rest string what has come of the next one
---@field loading? fun()[] who waits for it
local Paths = {}
Paths.__index = Paths

local lists = {} ---@type table<string, winnow.Paths> by directory

---@return winnow.Paths
local function new()
  local list = { at = vim.uv.now(), count = 0, chunks = {}, open = {}, known = {}, rest = '' }
  list.folder, list.loading = '', {}
  return setmetatable(list, Paths) --[[@as winnow.Paths]]
end

--- Make a chunk of those that are in none.
function Paths:close()
  local text = '\n' .. table.concat(self.open, '\n') .. '\n'
  if #self.open > 0 then
    table.insert(self.chunks, { text = text, lower = text:lower() })
  end
  self.open = {}
end

---@param path string
function Paths:put(path)
  self.count = self.count + 1
  self.open[#self.open + 1] = path
  if #self.open == CHUNK then
    self:close()
  end
end

--- One more file, and the folders that it is in.
---@param path string
function Paths:add(path)
  local folder = path:match('^.*/') or ''
  if folder ~= self.folder then
    self.folder = folder
    local above = folder
    while above ~= '' and not self.known[above] do
      self.known[above] = true
      self:put(above)
      above = above:match('^(.*/)[^/]+/$') or ''
    end
  end
  if path ~= folder and not path:find('\n', 1, true) then
    self:put(path)
  end
end

--- A piece of a list whose names end with NUL.
---@param data string
function Paths:feed(data)
  local text = self.rest .. data
  local from = 1
  while self.count < MOST do
    local stop = text:find('\0', from, true)
    if not stop then
      break
    end
    self:add((text:sub(from, stop - 1):gsub('^%./', '')))
    from = stop + 1
  end
  self.rest = text:sub(from)
end

--- List a folder by ourselves, a few names at a time.
---@param list winnow.Paths
---@param cwd string
---@param done fun()
local function walk(list, cwd, done)
  local folders = { '' }
  local function step()
    local till = vim.uv.hrtime() + SLICE
    while #folders > 0 and list.count < MOST and vim.uv.hrtime() < till do
      local folder = table.remove(folders)
      for name, kind in vim.fs.dir(cwd .. '/' .. folder) do
        if kind == 'directory' and name ~= '.git' and name ~= 'node_modules' then
          table.insert(folders, folder .. name .. '/')
        elseif kind == 'file' then
          list:add(folder .. name)
        end
      end
    end
    if #folders > 0 and list.count < MOST then
      vim.defer_fn(step, 1)
    else
      done()
    end
  end
  step()
end

--- Take a program's list.
---@param list winnow.Paths
---@param run fun(options: table, done: fun(out: table)): any nil: there is no such program
---@param done fun(listed: boolean)
local function take(list, run, done)
  local running = run({
    timeout = 60 * 1000,
    stdout = function(_, data)
      if data then
        list:feed(data)
      end
    end,
  }, function(out)
    done(out.code == 0)
  end)
  if not running then
    done(false)
  end
end

--- List a directory: what git knows, what rg finds, or what is there.
---@param list winnow.Paths
---@param cwd string
---@param done fun()
local function load(list, cwd, done)
  take(list, function(options, after)
    return git.run(cwd, LIST, options, after)
  end, function(by_git)
    if by_git then
      done()
      return
    end
    take(list, function(options, after)
      local rg = python.program('rg')
      options.cwd = cwd
      local command = vim.list_extend({ rg }, RG)
      local ok, process = pcall(vim.system, command, options, vim.schedule_wrap(after))
      return rg and ok and process
    end, function(by_rg)
      if by_rg then
        done()
      else
        walk(list, cwd, done)
      end
    end)
  end)
end

--- Have a list, and make it anew where it has become old; the old one is good until then.
---@param cwd string
---@param done fun(list: winnow.Paths)
function M.of(cwd, done)
  local known = lists[cwd]
  if known and known.loading then
    table.insert(known.loading, function()
      done(lists[cwd])
    end)
    return
  end
  if not known or vim.uv.now() - known.at > FRESH then
    local list = new()
    if known then
      known.at = list.at
    else
      lists[cwd] = list
      table.insert(list.loading, function()
        done(list)
      end)
    end
    load(list, cwd, function()
      local waiting = list.loading or {}
      list:close()
      list.loading, lists[cwd] = nil, list
      for _, waits in ipairs(waiting) do
        waits()
      end
    end)
  end
  if known then
    done(known)
  end
end

return M
