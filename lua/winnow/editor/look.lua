--- What there is in the editor: diagnostics, buffers and their text, the quickfix list.
local editor = require('winnow.context.editor')
local freshness = require('winnow.editor.fresh')
local project = require('winnow.editor.project')
local refuse = require('winnow.editor.ask').refuse
local reload = require('winnow.reload')
local server = require('winnow.editor.server')

local M = {}

local MOST = 200 -- problems, buffers or entries that are told
local LINES = 2000 -- of a buffer
local BYTES = 100 * 1000 -- of a buffer
local LONGEST = 20000 -- entries of a quickfix list that is looked at
local PATIENCE = 4 -- seconds for a language server to look at a text that has just changed

local SEVERITIES = { 'error', 'warning', 'info', 'hint' }

--- Wait until a buffer's diagnostics are about the text that it has.
---@param ask winnow.Ask
---@param buf integer
---@return boolean current
local function settle(ask, buf)
  return ask:wait(PATIENCE, function()
    return freshness.current(buf) or nil
  end) or false
end

--- The diagnostics of one file, as new as they can be had.
---@param ask winnow.Ask
---@param path string as it was named
---@return vim.Diagnostic[]
---@return string note
local function of_file(ask, path)
  local buf, fresh = project.buffer(path, ask.cwd)
  ask:wait(fresh and PATIENCE or 0, function()
    return server.all({ bufnr = buf })[1]
  end)
  local served = #server.all({ bufnr = buf }) > 0
  local note = ''
  if served and not settle(ask, buf) then
    note = 'The language server has not spoken since the text changed: this may be of before.'
  elseif not served and #vim.diagnostic.get(buf) == 0 then
    note = 'No language server is attached to this file: nobody has looked.'
  end
  return vim.diagnostic.get(buf), note
end

--- All diagnostics there are.
---@param ask winnow.Ask
---@return vim.Diagnostic[]
---@return string note
local function of_all(ask)
  local note = ''
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local old = note == '' and freshness.known(buf) and vim.api.nvim_buf_is_loaded(buf)
    if old and not settle(ask, buf) then
      note = 'Some of it may be of before the last change.'
    end
  end
  return vim.diagnostic.get(), note
end

---@param found vim.Diagnostic[]
---@param cwd string
---@return winnow.Spot[]
local function problems(found, cwd)
  local inside = {} ---@type table<integer, boolean>
  found = vim.tbl_filter(function(one)
    if inside[one.bufnr] == nil then
      local name = vim.api.nvim_buf_is_valid(one.bufnr) and vim.api.nvim_buf_get_name(one.bufnr)
      inside[one.bufnr] = name ~= nil and name ~= '' and project.holds(name, cwd)
    end
    return inside[one.bufnr]
  end, found)
  table.sort(found, function(a, b)
    for _, key in ipairs({ 'severity', 'bufnr', 'lnum', 'col' }) do
      if (a[key] or 1) ~= (b[key] or 1) then
        return (a[key] or 1) < (b[key] or 1)
      end
    end
    return false
  end)
  return vim.tbl_map(function(one)
    local source = one.source and (' [%s]'):format(one.source) or ''
    return {
      path = vim.api.nvim_buf_get_name(one.bufnr),
      line = one.lnum + 1,
      kind = SEVERITIES[one.severity] or 'error',
      text = one.message:sub(1, 1000) .. source,
    }
  end, found)
end

---@param ask winnow.Ask
---@param call winnow.Diagnostics
---@return winnow.Told
function M.diagnostics(ask, call)
  reload.reload('') -- Claude, or a command of its, may just have written
  local found, note ---@type vim.Diagnostic[], string
  if call.path ~= '' then
    found, note = of_file(ask, call.path)
  else
    found, note = of_all(ask)
  end
  local spots = problems(found, ask.cwd)
  return { spots = vim.list_slice(spots, 1, MOST), total = #spots, note = note }
end

---@param info table as getbufinfo() has it
---@param cwd string
---@return boolean
local function is_inside(info, cwd)
  return info.name == '' or project.holds(info.name, cwd)
end

---@param ask winnow.Ask
---@return winnow.Told
function M.buffers(ask)
  local here, win = editor.beside()
  local spots, outside = {}, 0 ---@type winnow.Spot[], integer
  local infos = vim.fn.getbufinfo({ buflisted = 1 })
  table.sort(infos, function(a, b)
    return a.lastused > b.lastused
  end)
  for _, info in ipairs(infos) do
    local used = info.name ~= '' or info.changed == 1
    if used and project.is_text(info.bufnr) and is_inside(info, ask.cwd) then
      local is = { info.changed == 1 and 'unsaved changes' or nil }
      if info.bufnr == here and win then
        table.insert(is, ('the cursor is at line %d'):format(vim.fn.line('.', win)))
      elseif #info.windows > 0 then
        table.insert(is, 'in sight')
      end
      table.insert(spots, {
        path = project.name(info.bufnr),
        line = info.loaded == 1 and info.linecount or 0,
        kind = table.concat(is, ', '),
      })
    elseif used and project.is_text(info.bufnr) then
      outside = outside + 1
    end
  end
  local note = outside > 0 and ('%d more are outside of the project.'):format(outside) or ''
  return { spots = vim.list_slice(spots, 1, MOST), total = #spots, note = note }
end

--- The buffer with unsaved text that a call names.
---@param name string
---@param cwd string
---@return integer buf
local function unsaved(name, cwd)
  local number = tonumber(name:match('^%[No Name (%d+)%]$'))
  local buf ---@type integer?
  if number then
    local there = project.is_text(number) and vim.api.nvim_buf_is_loaded(number)
    buf = there and vim.api.nvim_buf_get_name(number) == '' and number or nil
  else
    buf = project.loaded(project.path(name, cwd))
  end
  if not buf then
    refuse('%s is not open in Neovim.', name)
  elseif not number and not vim.bo[buf].modified then
    refuse('%s has no unsaved changes: what Read says of it is what Neovim has.', name)
  end
  return buf --[[@as integer]]
end

---@param ask winnow.Ask
---@param call winnow.ReadBuffer
---@return winnow.Told
function M.read_buffer(ask, call)
  local buf = unsaved(call.path, ask.cwd)
  local count = vim.api.nvim_buf_line_count(buf)
  local first, last = call.first, call.last > 0 and math.min(call.last, count) or count
  if first > count then
    refuse('%s has %d lines.', call.path, count)
  end
  local wanted, most = last, first - 1 + LINES
  last = math.min(last, most)
  local start = vim.api.nvim_buf_get_offset(buf, first - 1)
  while last > first and vim.api.nvim_buf_get_offset(buf, last) - start > BYTES do
    last = first + math.floor((last - first) / 2)
  end
  local size = vim.api.nvim_buf_get_offset(buf, last) - start
  local lines = size <= BYTES and vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
    or vim.api.nvim_buf_get_text(buf, first - 1, 0, first - 1, BYTES, {})
  local note = last < wanted and ('It goes on: read from first = %d.'):format(last + 1) or ''
  return { lines = lines, first = first, total = count, note = note }
end

---@param ask winnow.Ask
---@return winnow.Told
function M.quickfix(ask)
  local about = vim.fn.getqflist({ size = 0, title = 0 })
  if about.size > LONGEST then
    refuse('The quickfix list has %d entries: that is too many to read.', about.size)
  end
  local spots = {} ---@type winnow.Spot[]
  for _, item in ipairs(vim.fn.getqflist()) do
    local named = item.bufnr > 0 and vim.api.nvim_buf_is_valid(item.bufnr)
    local path = named and vim.api.nvim_buf_get_name(item.bufnr) or ''
    if path == '' or project.holds(path, ask.cwd) then
      table.insert(spots, { path = path, line = item.lnum, text = item.text:sub(1, 1000) })
    end
  end
  local outside = about.size - #spots
  local note = outside > 0 and ('%d more are outside of the project.'):format(outside) or ''
  return {
    spots = vim.list_slice(spots, 1, MOST),
    total = #spots,
    title = about.title,
    note = note,
  }
end

return M
