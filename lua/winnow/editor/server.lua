--- Language servers: asked without waiting, and given up when they do not answer.
local project = require('winnow.editor.project')
local refuse = require('winnow.editor.ask').refuse
local trim = require('winnow.trim')

local M = {}

M.patience = 10 -- seconds for an answer

local START = 4 -- seconds for a server to come to a file that was loaded for this

--- Call a method of a client; what it is called with has changed with Neovim 0.11.
---@param client vim.lsp.Client
---@param method string
---@return any
local function of(client, method, ...)
  if vim.fn.has('nvim-0.11') == 1 then
    return client[method](client, ...)
  end
  return client[method](...)
end

---@param clients vim.lsp.Client[]
---@return string
local function names(clients)
  return table.concat(
    vim.tbl_map(function(client)
      return client.name
    end, clients),
    ', '
  )
end

--- The servers that Neovim has, without ours.
---@param filter vim.lsp.get_clients.Filter
---@return vim.lsp.Client[]
function M.all(filter)
  return vim.tbl_filter(function(client)
    return not vim.startswith(client.name, 'winnow')
  end, vim.lsp.get_clients(filter))
end

--- The servers of a buffer that can do something.
---@param ask winnow.Ask
---@param buf integer
---@param fresh boolean it was loaded only now
---@param method string
---@param name string of the file
---@return vim.lsp.Client[]
function M.of(ask, buf, fresh, method, name)
  local able = ask:wait(fresh and START or 0.5, function()
    local found = M.all({ bufnr = buf, method = method })
    return #found > 0 and found or nil
  end)
  local all = able and {} or M.all({ bufnr = buf })
  if #all > 0 then
    refuse("%s can't do that (%s).", names(all), method)
  elseif not able then
    refuse('No language server is attached to %s: search its text instead.', name)
  end
  return able --[[@as vim.lsp.Client[] ]]
end

---@param client vim.lsp.Client
---@return boolean
local function has_ended(client)
  return not vim.lsp.get_client_by_id(client.id) or of(client, 'is_stopped')
end

---@class winnow.Served
---@field client vim.lsp.Client
---@field result any nil: it has none
---@field problem? string

--- Send a request.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param buf integer
---@return winnow.Served
---@return integer? id
local function send(client, method, params, buf)
  local served = { client = client } ---@type winnow.Served
  local ok, sent, id = pcall(of, client, 'request', method, params, function(failure, result)
    served.done = true
    served.result = result
    if failure then
      local said = type(failure) == 'table' and failure.message or failure
      served.problem = ('%s says: %s'):format(client.name, tostring(said):sub(1, 300))
    end
  end, buf)
  if not ok or not sent then
    served.done, served.problem = true, client.name .. ' has ended.'
  end
  return served, id
end

--- Ask servers the same thing; gives what those have said that answered.
---@param ask winnow.Ask
---@param clients vim.lsp.Client[]
---@param method string
---@param buf integer
---@param params fun(client: vim.lsp.Client): table
---@return winnow.Served[]
---@return string note what else one should know
function M.request(ask, clients, method, buf, params)
  local all, ids = {}, {} ---@type winnow.Served[], table<integer, integer?>
  for i, client in ipairs(clients) do
    all[i], ids[i] = send(client, method, params(client), buf)
  end
  ask:wait(M.patience, function()
    return vim.iter(all):all(function(one)
      if not one.done and has_ended(one.client) then
        one.done, one.problem = true, one.client.name .. ' has ended.'
      end
      return one.done
    end)
  end)
  local answered, problems = {}, {}
  for i, one in ipairs(all) do
    if not one.done then
      pcall(of, one.client, 'cancel_request', ids[i])
      one.problem = ('%s does not answer.'):format(one.client.name)
    end
    table.insert(one.problem and problems or answered, one.problem or one)
  end
  if #answered == 0 then
    refuse('The language server %s', table.concat(problems, ' '))
  end
  return answered, table.concat(problems, ' ')
end

--- Where a word begins in a line: as a whole word, else anywhere.
---@param line string
---@param word string
---@return integer? byte from 0
local function find(line, word)
  local first ---@type integer?
  local from = 1
  while true do
    local start, last = line:find(word, from, true)
    if not start or not last then
      return first
    end
    first = first or start - 1
    local before, after = line:sub(1, start - 1), line:sub(last + 1)
    if not before:find('[%w_\128-\255]$') and not after:find('^[%w_\128-\255]') then
      return start - 1
    end
    from = last + 1
  end
end

--- How a server counts the bytes before a column.
---@param line string
---@param byte integer
---@param encoding string
---@return integer
local function column(line, byte, encoding)
  if encoding == 'utf-8' then
    return byte
  elseif vim.fn.has('nvim-0.11') == 1 then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  local utf32, utf16 = vim.str_utfindex(line, byte)
  return encoding == 'utf-16' and utf16 or utf32
end

--- What a server needs to know of the place that a call names.
---@param buf integer
---@param call winnow.Definition|winnow.References|winnow.Rename
---@return fun(client: vim.lsp.Client): table
function M.at(buf, call)
  local line = project.line(buf, call.line, call.path)
  local byte = find(line, call.symbol)
  if not byte then
    local said = trim.both(line):sub(1, 200)
    refuse(
      '“%s” is not on line %d of %s, which is: %s',
      call.symbol,
      call.line,
      call.path,
      said
    )
  end
  return function(client)
    local place = { line = call.line - 1, character = column(line, byte, client.offset_encoding) }
    return { textDocument = { uri = vim.uri_from_bufnr(buf) }, position = place }
  end
end

return M
