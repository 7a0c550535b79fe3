--- A language server inside this Neovim: it completes what is typed in chats, for whatever asks
--- language servers, and has code actions for buffers that have another one already.
local actions = require('winnow.lsp.actions')
local completion = require('winnow.lsp.completion')
local config = require('winnow.config')
local image = require('winnow.context.image')
local registry = require('winnow.registry')

local M = {}

local NAME, ACTIONS = 'winnow', 'winnow-actions'
local SNIPPET = vim.lsp.protocol.InsertTextFormat.Snippet
local started = false -- whoever gets a server, gets actions

-- The text is read from the buffer itself, so it need not be told while an answer streams in; nor
-- once, of a long chat or of whatever the user opens, which a mere 0 would mean.
local UNTOLD = { openClose = false, change = 0 }

---@type table<string, table> what each of the two clients is told that there is
local CAPABILITIES = {
  [NAME] = {
    positionEncoding = 'utf-8',
    textDocumentSync = UNTOLD,
    completionProvider = { triggerCharacters = { '@', '/' } },
  },
  [ACTIONS] = {
    positionEncoding = 'utf-8',
    textDocumentSync = UNTOLD,
    codeActionProvider = true,
    executeCommandProvider = { commands = { actions.COMMAND } },
  },
}

--- What completes a place, as the protocol has it. What is sent back need not be filtered, and is
--- asked for again with the next key.
---@param params table
---@param reply fun(problem: table?, result: any)
local function complete(params, reply)
  local chat = registry.get(vim.uri_to_bufnr(params.textDocument.uri))
  local row, col = params.position.line, params.position.character
  if not chat or chat.owner then
    reply(nil, { isIncomplete = false, items = {} })
    return
  end
  -- What closes the name already, as plugins have it that write pairs, is replaced with it.
  local closed = (chat:lines(row, row + 1)[1] or ''):sub(col + 1, col + 1) == '"'
  completion.at(chat, row, col, function(items, asked)
    closed = closed and asked ~= nil and vim.startswith(asked.text, '@"')
    local all = {}
    for i, item in ipairs(items) do
      all[i] = {
        label = item.label,
        kind = item.kind,
        detail = item.detail,
        documentation = item.about and { kind = 'markdown', value = item.about } or nil,
        -- Neovim's own completion would insert this, if the label does not begin with it.
        filterText = not item.whole and asked.text or nil,
        sortText = ('%05d'):format(i),
        insertText = item.text,
        insertTextFormat = item.whole and SNIPPET or nil,
        textEdit = {
          newText = item.whole and (item.text:gsub('[\\$}]', '\\%0')) or item.text,
          range = {
            start = { line = row, character = asked.col },
            ['end'] = { line = row, character = col + (closed and item.whole and 1 or 0) },
          },
        },
      }
    end
    reply(nil, { isIncomplete = true, items = all })
  end)
end

---@type table<string, fun(params: table, reply: fun(problem: table?, result: any))>
local METHODS = {
  ['textDocument/completion'] = complete,
  ['textDocument/codeAction'] = function(params, reply)
    reply(nil, actions.list(params))
  end,
}

--- Answer a request.
---@param name string of the client
---@param method string
---@param params table
---@param reply fun(problem: table?, result: any)
local function answer(name, method, params, reply)
  if method == 'initialize' then
    reply(nil, { capabilities = CAPABILITIES[name], serverInfo = { name = name } })
  elseif method == 'shutdown' then
    reply(nil, vim.NIL)
  elseif METHODS[method] then
    METHODS[method](params, vim.schedule_wrap(reply)) -- who asks can't take it while it asks
  else
    reply({ code = -32601, message = 'there is no ' .. method }, nil)
  end
end

---@class winnow.Server
---@field name string of its client
---@field told table as Neovim's client wants to hear
---@field last integer the number of the last request
---@field closing boolean
local Server = {}
Server.__index = Server

---@param method string
---@param params table
---@param callback fun(problem: table?, result: any)
---@param told? fun(id: integer)
---@return boolean sent
---@return integer id
function Server:request(method, params, callback, told)
  self.last = self.last + 1
  local id = self.last
  answer(self.name, method, params, function(problem, result)
    if told then
      told(id)
    end
    callback(problem, result)
  end)
  return true, id
end

function Server:stop()
  if not self.closing then
    self.closing = true
    self.told.on_exit(0, 0)
  end
end

--- What Neovim's client talks to in place of a process.
---@param name string
---@return fun(dispatchers: table): table
local function server(name)
  return function(dispatchers)
    local fields = { name = name, told = dispatchers, last = 0, closing = false }
    local self = setmetatable(fields, Server) --[[@as winnow.Server]]
    return {
      request = function(...)
        return self:request(...)
      end,
      notify = function(method)
        if method == 'exit' then
          self:stop()
        end
        return true
      end,
      is_closing = function()
        return self.closing
      end,
      terminate = function()
        self:stop()
      end,
    }
  end
end

---@param buf integer
---@param name string
---@return integer? client
local function start(buf, name)
  local wanted = {
    name = name,
    cmd = server(name),
    offset_encoding = 'utf-8',
    commands = { [actions.COMMAND] = actions.run },
  }
  return vim.lsp.start(wanted, { bufnr = buf, silent = true })
end

--- Complete what is typed in a chat.
---@param buf integer
function M.attach(buf)
  M.start()
  image.watch()
  local id = start(buf, NAME)
  local popup = vim.lsp.completion -- 0.11 and later
  if id and popup and popup.enable and config.get().completion_auto then
    popup.enable(true, id, buf, { autotrigger = true })
    if not vim.o.completeopt:find('noinsert') and not vim.o.completeopt:find('noselect') then
      vim.bo[buf].completeopt = vim.o.completeopt .. ',noselect' -- else what is typed is replaced
    end
  end
end

--- From now on, have actions in each buffer that a language server comes to: elsewhere nobody asks
--- for any, and what users do when a server comes would be done for nothing.
function M.start()
  if started or not config.get().code_actions then
    return
  end
  started = true
  ---@param buf integer
  ---@param id integer
  local function follow(buf, id)
    local client = vim.lsp.get_client_by_id(id)
    local theirs = client and client.name ~= NAME and client.name ~= ACTIONS
    if theirs and vim.bo[buf].buftype == '' and not registry.get(buf) then
      start(buf, ACTIONS)
    end
  end
  vim.api.nvim_create_autocmd('LspAttach', {
    group = vim.api.nvim_create_augroup('winnow.lsp', {}),
    callback = function(event)
      vim.schedule(function()
        if vim.api.nvim_buf_is_loaded(event.buf) then
          follow(event.buf, event.data.client_id)
        end
      end)
    end,
  })
  for _, client in ipairs(vim.lsp.get_clients()) do
    for buf in pairs(client.attached_buffers or {}) do
      follow(buf, client.id)
    end
  end
end

return M
