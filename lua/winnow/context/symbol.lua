--- The function around a line: as treesitter sees it, else as the language server told it last.
local M = {}

local PATIENCE = 2000 -- milliseconds for a language server
local LONGEST = 400 * 1000 -- bytes of a text that is parsed only for this

-- How the nodes of many grammars are named.
local KINDS = { 'function', 'method', 'class', 'struct', 'impl_item', 'interface', 'module' }
local NONE = { 'call', 'name', 'type', 'body', 'parameter', 'identifier', 'invocation' }
-- What belongs to it and stands around it.
local AROUND = { decorated_definition = true, export_statement = true }

---@param type string of a node
---@return boolean
local function defines(type)
  ---@param word string
  ---@return boolean
  local function holds(word)
    return type:find(word, 1, true) ~= nil
  end
  return vim.iter(KINDS):any(holds) and not vim.iter(NONE):any(holds)
end

---@param node TSNode
---@param buf integer
---@return string?
local function name_of(node, buf)
  local named = node:field('name')[1] or node:field('declarator')[1]
  local text = named and vim.treesitter.get_node_text(named, buf)
  return text and text:match('^[^\n(]+') or nil
end

--- As treesitter sees it, where there is a parser.
---@param buf integer
---@param row integer from 1
---@return { first: integer, last: integer, name?: string }?
local function parsed(buf, row)
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  local active = vim.treesitter.highlighter.active[buf] ~= nil
  local ok, parser = pcall(vim.treesitter.get_parser, buf)
  if not ok or not parser or size > LONGEST and not active then
    return nil
  end
  local line = vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or ''
  local col = #line:match('^%s*')
  local tree = (parser:parse() or {})[1]
  local node = tree and tree:root():named_descendant_for_range(row - 1, col, row - 1, col)
  while node and not (node:named() and node:parent() and defines(node:type())) do
    node = node:parent()
  end
  if not node then
    return nil
  end
  local name, parent = name_of(node, buf), node:parent()
  if parent and AROUND[parent:type()] then
    node = parent
  end
  local first, _, last, column = node:range()
  return { first = first + 1, last = column == 0 and last or last + 1, name = name }
end

-- What language servers told: by buffer, with the buffer's change tick.
local told = {} ---@type table<integer, { tick: integer, symbols: table[] }>
-- Kinds of those that have lines of their own, as the protocol numbers them: class, method,
-- constructor, enum, interface, function and struct. To ask `vim.lsp` would load it.
local SYMBOLS =
  { [5] = true, [6] = true, [9] = true, [10] = true, [11] = true, [12] = true, [23] = true }

--- The innermost symbol of a server around a line.
---@param symbols table[]
---@param row integer from 1
---@return { first: integer, last: integer, name?: string }?
local function innermost(symbols, row)
  for _, one in ipairs(symbols) do
    local range = one.range or one.location and one.location.range
    local first, last = range and range.start.line + 1 or 0, range and range['end'].line + 1 or 0
    if row >= first and row <= last then
      local inner = innermost(one.children or {}, row)
      if inner or SYMBOLS[one.kind] then
        return inner or { first = first, last = last, name = one.name }
      end
    end
  end
end

---@param buf integer
---@param row integer from 1
---@return { first: integer, last: integer, name?: string }?
function M.at(buf, row)
  return parsed(buf, row) or told[buf] and innermost(told[buf].symbols, row)
end

--- Have the language server tell what there is in a buffer; without one, or when it has, at once.
---@param buf integer
---@param done fun()
function M.prepare(buf, done)
  local method = 'textDocument/documentSymbol'
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local client = vim.lsp.get_clients({ bufnr = buf, method = method })[1]
  if not client or told[buf] and told[buf].tick == tick then
    done()
    return
  end
  local waits = true
  ---@param symbols? table[]
  local function finish(symbols)
    if waits then
      waits = false
      told[buf] = { tick = tick, symbols = symbols or told[buf] and told[buf].symbols or {} }
      done()
    end
  end
  vim.defer_fn(finish, PATIENCE) -- a message does not wait for a server that hangs
  local document = { textDocument = { uri = vim.uri_from_bufnr(buf) } }
  vim.lsp.buf_request(buf, method, document, function(_, symbols)
    finish(symbols)
  end)
end

return M
