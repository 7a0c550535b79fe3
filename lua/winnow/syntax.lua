--- Code for which there is no treesitter parser has the colours of Vim's own syntax. Each block is
--- looked through once, when it is finished and drawn, a few milliseconds at a time.
local scratch = require('winnow.scratch')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.syntax')

local LINES, BYTES = 1000, 300 -- of a block, of a line; what is beyond has no colours
local SLICE, REST = 3, 10 -- milliseconds of work at a time, and between two times
local BLOCKS = 200 -- whose colours are kept

-- What files of a language don't end in.
local NAMES = { ts = 'typescript', shell = 'sh', golang = 'go', ['c#'] = 'cs', ['f#'] = 'fsharp' }

-- What Vim keeps among its syntaxes that is none: to load it switches the colours of all buffers
-- off, or writes into a register.
local COMMANDS = { 'colortest', 'hitest', 'manual', 'nosyntax', 'syncolor', 'synload', 'syntax' }

-- Whatever is closed: while it streams in, a block has but one fence.
local FINISHED = [[
(fenced_code_block
  (fenced_code_block_delimiter)
  (info_string (language) @language)
  (code_fence_content) @code
  (fenced_code_block_delimiter))
]]

local finished ---@type vim.treesitter.Query?

---@alias winnow.Span { [1]: integer, [2]: integer, [3]: string } columns and group

---@class winnow.Coloured
---@field syntax string
---@field lines string[]
---@field spans winnow.Span[][] by line, as far as it is looked through

---@class winnow.SyntaxJob
---@field block winnow.Coloured
---@field buf integer
---@field row integer where it was found
---@field filled? boolean its lines are in the buffer of its syntax

local coloured = {} ---@type table<string, winnow.Coloured> by syntax and text
local count = 0
local queue = {} ---@type winnow.SyntaxJob[]
local by_syntax = {} ---@type table<string, integer> a buffer for each syntax
local syntaxes = {} ---@type table<string, string|false> by a fence's name for the language
local shown = {} ---@type { first: integer, last: integer, block: winnow.Coloured }[] being drawn

---@param lang? string
---@return boolean
local function has_parser(lang)
  local ok, loaded = pcall(vim.treesitter.language.add, lang or '')
  return ok and loaded ~= nil and vim.treesitter.query.get(lang or '', 'highlights') ~= nil
end

--- The syntax for a language that has no parser.
---@param language string as the fence has it
---@return string|false
local function syntax_of(language)
  local name = NAMES[language:lower()] or language:lower()
  if vim.api.nvim_get_runtime_file(('syntax/%s.vim'):format(name), false)[1] == nil then
    local file = { filename = 'x.' .. name, contents = { '' } }
    name = select(2, pcall(vim.filetype.match, file)) or '' ---@type string
  end
  local get = vim.treesitter.language.get_lang
  if has_parser(get(language)) or has_parser(get(name)) then
    return false
  end
  local found = name:match('^[%w_-]+$')
    and not vim.list_contains(COMMANDS, name)
    and vim.api.nvim_get_runtime_file(('syntax/%s.vim'):format(name), false)[1]
  return found and name or false
end

--- A buffer with the block of a job, in its syntax: of what a language brings along this file alone
--- is run.
---@param job winnow.SyntaxJob
---@return integer buf
local function buffer_of(job)
  local syntax = job.block.syntax
  local buf = by_syntax[syntax]
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    buf, job.filled = scratch(), false
    by_syntax[syntax] = buf
    vim.bo[buf].undolevels = -1
    vim.bo[buf].syntax = syntax
  end
  if not job.filled then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, job.block.lines)
    job.filled = true
  end
  return buf
end

--- The spans of a line of the current buffer.
---@param number integer from 1
---@param line string
---@return winnow.Span[]
local function look_through(number, line)
  local spans, last = {}, 0 ---@type winnow.Span[], integer
  for column = 1, math.min(#line, BYTES) do
    local id = vim.fn.synID(number, column, 1)
    if id ~= last and id ~= 0 then
      table.insert(spans, { column - 1, column, vim.fn.synIDattr(id, 'name') })
    elseif id ~= 0 then
      spans[#spans][2] = column
    end
    last = id
  end
  return spans
end

--- Look through more of a block.
---@param job winnow.SyntaxJob
local function go_on(job)
  local block, started = job.block, vim.uv.hrtime()
  local first = #block.spans
  vim.api.nvim_buf_call(buffer_of(job), function()
    repeat
      local number = #block.spans + 1
      block.spans[number] = look_through(number, block.lines[number])
    until number == #block.lines or vim.uv.hrtime() - started > SLICE * 1e6
  end)
  if vim.api.nvim_buf_is_loaded(job.buf) then
    local range = { job.row + first, job.row + #block.spans }
    vim.api.nvim__redraw({ buf = job.buf, range = range, valid = false, flush = false })
  end
end

--- Do what is next for some milliseconds, and go on later. Somebody's syntax may be broken: then
--- the block stays as it is.
local function work()
  local job = queue[1]
  local ok = pcall(go_on, job)
  if not ok or #job.block.spans == #job.block.lines then
    table.remove(queue, 1)
  end
  if queue[1] then
    vim.defer_fn(work, REST)
  end
end

--- A block's colours, which may be on their way.
---@param buf integer
---@param row integer of its first line
---@param syntax string
---@param lines string[]
---@return winnow.Coloured
local function colours(buf, row, syntax, lines)
  local key = syntax .. '\n' .. table.concat(lines, '\n')
  local block = coloured[key]
  if not block then
    if count == BLOCKS then
      coloured, count = {}, 0
    end
    block = { syntax = syntax, lines = lines, spans = {} }
    coloured[key], count = block, count + 1
    table.insert(queue, { block = block, buf = buf, row = row })
    if #queue == 1 then
      vim.defer_fn(work, REST)
    end
  end
  return block
end

--- The syntax for what a fence says, which may be more than a language.
---@param info string
---@return string|false
local function syntax_by(info)
  local language = info:match('^[%w_.+#-]+') or ''
  if syntaxes[language] == nil then
    syntaxes[language] = language ~= '' and syntax_of(language)
  end
  return syntaxes[language]
end

--- The finished blocks of a tree between two rows, as it was parsed last.
---@param root TSNode
---@param buf integer
---@param top integer
---@param bottom integer
local function find(root, buf, top, bottom)
  finished = finished or vim.treesitter.query.parse('markdown', FINISHED)
  for _, match in finished:iter_matches(root, buf, top, bottom + 1, { all = true }) do
    local syntax = syntax_by(vim.treesitter.get_node_text(match[1][1], buf))
    local first, _, last = match[2][1]:range()
    last = math.min(last, first + LINES)
    local lines = syntax and vim.api.nvim_buf_get_lines(buf, first, last, false) or {}
    if syntax and #lines > 0 and not vim.startswith(lines[1], '>') then
      local block = colours(buf, first, syntax, lines)
      table.insert(shown, { first = first, last = first + #lines - 1, block = block })
    end
  end
end

--- The same of all that is Markdown in a buffer: a plan is, too.
---@param buf integer
---@param top integer
---@param bottom integer
local function find_all(buf, top, bottom)
  local highlighter = vim.treesitter.highlighter.active[buf]
  if highlighter then
    highlighter.tree:for_each_tree(function(tree, languages)
      if languages:lang() == 'markdown' then
        find(tree:root(), buf, top, bottom)
      end
    end)
  end
end

---@param buf integer
---@param row integer
local function draw_line(_, _, buf, row)
  for _, at in ipairs(shown) do
    local index = row - at.first + 1
    local line, spans = at.block.lines[index], at.block.spans[index]
    if row >= at.first and row <= at.last and spans then
      ---@param span winnow.Span
      ---@param priority integer above treesitter's, which knows only that it is code
      local function put(span, priority)
        vim.api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
          end_col = span[2],
          hl_group = span[3],
          ephemeral = true,
          priority = priority,
        })
      end
      put({ 0, #line, 'WinnowContext' }, 101)
      for _, span in ipairs(spans) do
        put(span, 102)
      end
    end
  end
end

--- Start drawing, after treesitter has: then it has parsed what is to be drawn.
---@param chat_of fun(buf: integer): winnow.Chat?
function M.start(chat_of)
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf, top, bottom)
      shown = {}
      if chat_of(buf) then
        find_all(buf, top, bottom)
      end
      return #shown > 0
    end,
    on_line = draw_line,
  })
end

return M
