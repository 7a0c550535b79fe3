--- Definitions, references and symbols, as language servers tell them.
local project = require('winnow.editor.project')
local refuse = require('winnow.editor.ask').refuse
local server = require('winnow.editor.server')
local trim = require('winnow.trim')

local M = {}

local MOST = 200 -- places that are told
local FILES = 60 -- files that are read for what stands there
local SIZE = 1000 * 1000 -- bytes of one that is

--- A table that a server should have sent.
---@param value any
---@return table
local function table_of(value)
  return type(value) == 'table' and value or {}
end

--- What servers say of places, each once.
---@param results winnow.Served[]
---@return winnow.Spot[]
local function spots_of(results)
  local spots, seen = {}, {} ---@type winnow.Spot[], table<string, true>
  for _, one in ipairs(results) do
    local result = table_of(one.result)
    for _, place in ipairs((result.uri or result.targetUri) and { result } or result) do
      place = table_of(place)
      local uri = place.uri or place.targetUri
      local range = table_of(place.targetSelectionRange or place.range or place.targetRange)
      local row = table_of(range.start).line
      if type(uri) == 'string' and type(row) == 'number' then
        local ok, path = pcall(vim.uri_to_fname, uri)
        path = ok and path or uri
        local key = ('%s:%d'):format(path, row)
        if not seen[key] then
          seen[key] = true
          table.insert(spots, { path = path, line = row + 1 })
        end
      end
    end
  end
  return spots
end

--- The lines of a file in the project: as they are in Neovim, else on disk.
---@param path string
---@param cwd string
---@return fun(line: integer): string?
local function reader(path, cwd)
  local buf = project.holds(path, cwd) and project.loaded(path)
  if buf then
    return function(line)
      local ok, text = pcall(project.line, buf, line, path)
      return ok and text or nil
    end
  end
  local stat = project.holds(path, cwd) and vim.uv.fs_stat(path)
  local small = stat and stat.type == 'file' and stat.size <= SIZE
  local ok, lines = pcall(vim.fn.readfile, small and path or '')
  return function(line)
    return ok and lines[line] or nil
  end
end

--- Add what stands there.
---@param spots winnow.Spot[]
---@param cwd string
local function fill(spots, cwd)
  local readers, count = {}, 0 ---@type table<string, fun(line: integer): string?>, integer
  for _, spot in ipairs(spots) do
    if not readers[spot.path] and count < FILES then
      readers[spot.path], count = reader(spot.path, cwd), count + 1
    end
    local text = readers[spot.path] and readers[spot.path](spot.line) or ''
    spot.text = trim.both(text:sub(1, 1000))
  end
end

--- In the order of files and lines.
---@param spots winnow.Spot[]
local function sort(spots)
  table.sort(spots, function(a, b)
    if a.path ~= b.path then
      return a.path < b.path
    end
    return a.line < b.line
  end)
end

--- Ask for places of what a call names.
---@param ask winnow.Ask
---@param call winnow.Definition|winnow.References
---@param method string
---@return winnow.Told
local function places(ask, call, method)
  local buf, fresh = project.buffer(call.path, ask.cwd)
  local clients = server.of(ask, buf, fresh, method, call.path)
  local at = server.at(buf, call)
  local results, note = server.request(ask, clients, method, buf, function(client)
    return vim.tbl_extend('error', at(client), { context = { includeDeclaration = true } })
  end)
  local spots = spots_of(results)
  local total = #spots
  sort(spots)
  spots = vim.list_slice(spots, 1, MOST)
  fill(spots, ask.cwd)
  return { spots = spots, total = total, note = note }
end

---@param ask winnow.Ask
---@param call winnow.Definition
---@return winnow.Told
function M.definition(ask, call)
  return places(ask, call, 'textDocument/definition')
end

---@param ask winnow.Ask
---@param call winnow.References
---@return winnow.Told
function M.references(ask, call)
  return places(ask, call, 'textDocument/references')
end

--- Symbols as places, each before those in it.
---@param symbols any
---@param path string of all that name none
---@param depth integer
---@param spots winnow.Spot[] they are added to these
local function flatten(symbols, path, depth, spots)
  for _, one in ipairs(table_of(symbols)) do
    one = table_of(one)
    local location = table_of(one.location)
    local range = table_of(one.selectionRange or one.range or location.range)
    local ok, file = pcall(vim.uri_to_fname, location.uri)
    local kind = vim.lsp.protocol.SymbolKind[one.kind]
    table.insert(spots, {
      path = path ~= '' and path or ok and file or '',
      line = (tonumber(table_of(range.start).line) or -1) + 1,
      text = tostring(one.name),
      kind = type(kind) == 'string' and kind:lower() or 'symbol',
      depth = depth,
    })
    flatten(one.children, path, depth + 1, spots)
  end
end

---@param results winnow.Served[]
---@param path string
---@return winnow.Spot[]
local function symbols_of(results, path)
  local spots = {} ---@type winnow.Spot[]
  for _, one in ipairs(results) do
    flatten(one.result, path, 0, spots)
  end
  return spots
end

--- The servers that know symbols of the project, and a buffer that they are attached to.
---@param cwd string
---@param method string
---@return vim.lsp.Client[] clients
---@return integer buf
local function of_project(cwd, method)
  local found ---@type integer?
  local clients = vim.tbl_filter(function(client)
    local buf = vim.iter(vim.tbl_keys(client.attached_buffers)):find(function(buf)
      local name = vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_name(buf) or ''
      return name ~= '' and project.holds(name, cwd)
    end)
    found = found or buf
    return buf ~= nil
  end, server.all({ method = method }))
  if not found then
    refuse('No language server that can do that is at work in this project: search the text.')
  end
  return clients, found --[[@as integer]]
end

---@param ask winnow.Ask
---@param call winnow.Symbols
---@return winnow.Told
function M.symbols(ask, call)
  local spots, note ---@type winnow.Spot[], string
  if call.path ~= '' then
    local buf, fresh = project.buffer(call.path, ask.cwd)
    local method = 'textDocument/documentSymbol'
    local clients = server.of(ask, buf, fresh, method, call.path)
    local results, more = server.request(ask, clients, method, buf, function()
      return { textDocument = { uri = vim.uri_from_bufnr(buf) } }
    end)
    local query = call.query:lower()
    spots, note = symbols_of(results, vim.api.nvim_buf_get_name(buf)), more
    spots = vim.tbl_filter(function(spot)
      return spot.text:lower():find(query, 1, true) ~= nil
    end, spots)
  else
    local clients, buf = of_project(ask.cwd, 'workspace/symbol')
    local results, more = server.request(ask, clients, 'workspace/symbol', buf, function()
      return { query = call.query }
    end)
    note = more
    spots = vim.tbl_filter(function(spot)
      return spot.path ~= '' and project.holds(spot.path, ask.cwd)
    end, symbols_of(results, ''))
  end
  return { spots = vim.list_slice(spots, 1, MOST), total = #spots, note = note }
end

return M
