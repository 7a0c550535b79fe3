--- What the mentions mean that only an editor can tell: the buffer beside, what is selected there.
local file = require('winnow.context.file')
local found_ = require('winnow.context.found')
local registry = require('winnow.registry')
local symbol = require('winnow.context.symbol')
local trim = require('winnow.trim')

local M = {}

local FEW = 60 * 1000 -- bytes of all buffers, up to which their texts are sent
local MOST = 200 -- lines of a list

---@param buf integer
---@return boolean
local function is_text(buf)
  return vim.bo[buf].buftype == '' and not registry.get(buf)
end

--- The windows of this tab that show files, the one that the user was in last first.
---@return integer[]
local function windows()
  local last = vim.fn.win_getid(vim.fn.winnr('#'))
  local wins = vim.api.nvim_tabpage_list_wins(0)
  table.insert(wins, 1, last)
  table.insert(wins, 1, vim.api.nvim_get_current_win())
  local seen = {}
  return vim.tbl_filter(function(win)
    local new = win ~= 0 and not seen[win]
    seen[win] = true
    local floats = new and vim.api.nvim_win_get_config(win).relative ~= ''
    return new and not floats and is_text(vim.api.nvim_win_get_buf(win))
  end, wins)
end

--- The buffer that is meant by the one beside, and its window where it has one in this tab.
---@return integer? buf
---@return integer? win
function M.beside()
  local win = windows()[1]
  if win then
    return vim.api.nvim_win_get_buf(win), win
  end
  local newest ---@type table?
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    local holds = info.name ~= '' or info.changed == 1
    local newer = not newest or info.lastused > newest.lastused
    if holds and newer and is_text(info.bufnr) then
      newest = info
    end
  end
  return newest and newest.bufnr
end

---@param buf integer
---@param cwd string
---@return string
local function name_of(buf, cwd)
  local name = vim.api.nvim_buf_get_name(buf)
  return name == '' and ('[No Name %d]'):format(buf) or found_.name(name, cwd)
end

--- Text that is there already.
---@param name string
---@param lines string[]
---@param language string
---@return winnow.Found
local function text(name, lines, language)
  local bytes = #table.concat(lines, '\n')
  local found = { name = name, own = true, language = language, bytes = bytes }
  ---@return string[]
  found.lines = function()
    return lines
  end
  return found_.measured(found)
end

---@param problem string
---@return winnow.Found[]
local function nothing(problem)
  return { { name = '', problem = problem } }
end

local NONE_BESIDE = 'means a buffer beside the chat, and there is none'

---@type table<string, fun(cwd: string): winnow.Found[]>
M.sources = {}

---@param cwd string
---@return winnow.Found[]
function M.sources.buffer(cwd)
  local buf = M.beside()
  if not buf then
    return nothing(NONE_BESIDE)
  end
  local lines = { first = 1, last = vim.api.nvim_buf_line_count(buf) }
  return { file.of_buffer({ name = name_of(buf, cwd) }, buf, lines) }
end

---@param cwd string
---@return winnow.Found[]
function M.sources.buffers(cwd)
  local bufs, bytes = {}, 0
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    if is_text(info.bufnr) and info.name ~= '' then
      table.insert(bufs, info.bufnr)
      local loaded = vim.api.nvim_buf_is_loaded(info.bufnr)
      local count = vim.api.nvim_buf_line_count(info.bufnr)
      -- One that is not loaded has no text yet.
      bytes = bytes + (loaded and vim.api.nvim_buf_get_offset(info.bufnr, count) or FEW + 1)
    end
  end
  if #bufs == 0 then
    return nothing('means listed buffers with names, and there are none')
  elseif bytes > FEW then
    local names = vim.tbl_map(function(buf)
      return name_of(buf, cwd) .. (vim.bo[buf].modified and ' (not saved)' or '')
    end, bufs)
    return { text(('the names of %d buffers'):format(#bufs), names, '') }
  end
  return vim.tbl_map(function(buf)
    return file.of_buffer({ name = name_of(buf, cwd) }, buf, {})
  end, bufs)
end

---@param cwd string
---@return winnow.Found[]
function M.sources.visible(cwd)
  local all = {}
  for _, win in ipairs(windows()) do
    local buf = vim.api.nvim_win_get_buf(win)
    local lines = { first = vim.fn.line('w0', win), last = vim.fn.line('w$', win) }
    table.insert(all, file.of_buffer({ name = name_of(buf, cwd) }, buf, lines))
  end
  return #all > 0 and all or nothing('means windows beside the chat, and there are none')
end

---@param cwd string
---@return winnow.Found[]
function M.sources.selection(cwd)
  local buf = M.beside()
  if not buf then
    return nothing(NONE_BESIDE)
  end
  local first = vim.api.nvim_buf_get_mark(buf, '<')[1]
  local last = vim.api.nvim_buf_get_mark(buf, '>')[1]
  if first == 0 or last == 0 or last > vim.api.nvim_buf_line_count(buf) then
    return nothing(('means a selection, and there was none in %s'):format(name_of(buf, cwd)))
  end
  local lines = vim.api.nvim_buf_call(buf, function()
    local how = vim.fn.visualmode()
    local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
    return vim.fn.getregion(from, to, { type = how == '' and 'V' or how })
  end)
  local name = found_.range(name_of(buf, cwd), first, last)
  local found = text(name, lines, vim.bo[buf].filetype)
  found.note = vim.bo[buf].modified and 'not saved' or nil
  return { found }
end

--- A list of places, one a line.
---@param what string
---@param lines string[]
---@return winnow.Found[]
local function listed(what, lines)
  local name = ('%d %s'):format(#lines, what)
  if #lines > MOST then
    local more = #lines - MOST
    lines = vim.list_slice(lines, 1, MOST)
    table.insert(lines, ('… and %d more'):format(more))
  end
  return { text(name, lines, '') }
end

--- Diagnostics as lines.
---@param diagnostics vim.Diagnostic[]
---@param cwd string
---@return string[]
function M.diagnosed(diagnostics, cwd)
  table.sort(diagnostics, function(a, b)
    if a.bufnr ~= b.bufnr then
      return a.bufnr < b.bufnr
    end
    return a.lnum < b.lnum
  end)
  return vim.tbl_map(function(one)
    local severity = (vim.diagnostic.severity[one.severity] or ''):lower()
    local place = ('%s:%d:%d'):format(name_of(one.bufnr, cwd), one.lnum + 1, one.col + 1)
    local source = one.source and (' [%s]'):format(one.source) or ''
    return ('%s: %s: %s%s'):format(place, severity, (one.message:gsub('%s+', ' ')), source)
  end, diagnostics)
end

---@param cwd string
---@return winnow.Found[]
function M.sources.diagnostics(cwd)
  local found = vim.diagnostic.get()
  if #found == 0 then
    return nothing('means diagnostics, and there are none')
  end
  return listed(#found == 1 and 'diagnostic' or 'diagnostics', M.diagnosed(found, cwd))
end

---@param cwd string
---@return winnow.Found[]
function M.sources.quickfix(cwd)
  local items = vim.fn.getqflist()
  if #items == 0 then
    return nothing('means the quickfix list, which is empty')
  end
  local lines = vim.tbl_map(function(item)
    local said = trim.both(item.text:gsub('%s+', ' '))
    local named = item.bufnr > 0 and vim.api.nvim_buf_is_valid(item.bufnr)
    local place = named and ('%s:%d:%d: '):format(name_of(item.bufnr, cwd), item.lnum, item.col)
    return (place or '') .. said
  end, items)
  return listed(#items == 1 and 'entry of the quickfix list' or 'quickfix entries', lines)
end

---@param cwd string
---@return winnow.Found[]
function M.sources.symbol(cwd)
  local buf, win = M.beside()
  if not buf then
    return nothing(NONE_BESIDE)
  end
  local row = win and vim.api.nvim_win_get_cursor(win)[1]
    or math.max(1, vim.api.nvim_buf_get_mark(buf, '"')[1])
  local found = symbol.at(buf, row)
  if not found then
    return nothing(
      ('means a function, and there is none in line %d of %s'):format(row, name_of(buf, cwd))
    )
  end
  return { file.of_buffer({ name = name_of(buf, cwd), note = found.name }, buf, found) }
end

return M
