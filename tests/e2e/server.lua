--- A language server inside Neovim for files that end in `.shop`, of a name and a kind. It knows
--- the words of all of them in the project, and finds fault with each `bad`.
local name, kind = ...

_G.asked = _G.asked or {} -- the positions that it was asked about

---@return string[]
local function files()
  return vim.fs.find(function(found)
    return vim.endswith(found, '.shop')
  end, { path = vim.fn.getcwd(), limit = math.huge, type = 'file' })
end

--- The text of a file, as a server has it.
local function lines_of(path)
  if vim.fn.filereadable(path) == 0 then
    return {}
  end
  local buf = vim.fn.bufnr('^' .. path .. '$')
  if buf ~= -1 and vim.api.nvim_buf_is_loaded(buf) then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  return vim.fn.readfile(path)
end

local function word_at(params)
  table.insert(_G.asked, params.position)
  local line = lines_of(vim.uri_to_fname(params.textDocument.uri))[params.position.line + 1]
  local byte = vim.str_byteindex(line, 'utf-16', params.position.character)
  return line:sub(byte + 1):match('^[%w_]+')
end

local function range(row, line, first, last)
  local function at(byte)
    return { line = row - 1, character = vim.str_utfindex(line, 'utf-16', byte) }
  end
  return { start = at(first - 1), ['end'] = at(last) }
end

--- Where a word stands.
local function places(word)
  local found = {}
  for _, path in ipairs(files()) do
    for row, line in ipairs(lines_of(path)) do
      for first, last in line:gmatch('()%f[%w_]' .. word .. '%f[^%w_]()') do
        local uri = vim.uri_from_fname(path)
        table.insert(found, { uri = uri, range = range(row, line, first, last - 1) })
      end
    end
  end
  return found
end

local function symbols(path)
  local found = {}
  for row, line in ipairs(lines_of(path)) do
    local word = line:match('^def ([%w_]+)')
    if word then
      local at = range(row, line, 1, #line)
      table.insert(found, { name = word, kind = 12, range = at, selectionRange = at })
    end
  end
  return found
end

local answers = {
  ['textDocument/definition'] = function(params)
    return places('def ' .. word_at(params))
  end,
  ['textDocument/references'] = function(params)
    return places(word_at(params))
  end,
  ['textDocument/documentSymbol'] = function(params)
    return symbols(vim.uri_to_fname(params.textDocument.uri))
  end,
  ['textDocument/rename'] = function(params)
    local changes = {}
    for _, place in ipairs(places(word_at(params))) do
      changes[place.uri] = changes[place.uri] or {}
      table.insert(changes[place.uri], { range = place.range, newText = params.newName })
    end
    if params.newName ~= 'moved' then
      return { changes = changes }
    end
    local wanted = {}
    for uri, edits in pairs(changes) do
      table.insert(wanted, { textDocument = { uri = uri }, edits = edits })
    end
    local uri = params.textDocument.uri
    local move = { kind = 'rename', oldUri = uri, newUri = (uri:gsub('till', 'new/moved')) }
    table.insert(wanted, move)
    return { documentChanges = wanted }
  end,
}

local function diagnose(dispatchers, uri)
  local found = {}
  for row, line in ipairs(lines_of(vim.uri_to_fname(uri))) do
    local first, last = line:find('bad')
    if first then
      local at = range(row, line, first, last)
      table.insert(found, { range = at, severity = 1, message = 'bad\nword' })
    end
  end
  dispatchers.notification('textDocument/publishDiagnostics', { uri = uri, diagnostics = found })
end

local function cmd(dispatchers)
  local closing, last = false, 0
  return {
    request = function(method, params, callback)
      last = last + 1
      if method == 'initialize' then
        callback(nil, {
          capabilities = {
            textDocumentSync = 1,
            definitionProvider = true,
            referencesProvider = true,
            documentSymbolProvider = true,
            renameProvider = kind ~= 'hung',
          },
        })
      elseif method == 'shutdown' then
        callback(nil, nil)
      elseif kind == 'dies' then
        closing = true
        dispatchers.on_exit(0, 0) -- of another end Neovim tells the user
      elseif answers[method] and kind ~= 'hung' then
        vim.schedule(function()
          callback(nil, answers[method](params))
        end)
      end
      return true, last
    end,
    notify = function(method, params)
      if method == 'textDocument/didOpen' or method == 'textDocument/didChange' then
        vim.defer_fn(function()
          diagnose(dispatchers, params.textDocument.uri)
        end, 100)
      elseif method == 'exit' then
        dispatchers.on_exit(0, 0)
      end
    end,
    is_closing = function()
      return closing
    end,
    terminate = function()
      closing = true
    end,
  }
end

vim.api.nvim_create_autocmd('BufReadPost', {
  pattern = '*.shop',
  callback = function(event)
    vim.lsp.start({ name = name, cmd = cmd, root_dir = vim.fn.getcwd() }, { bufnr = event.buf })
  end,
})
