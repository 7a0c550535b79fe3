--- A rename by a language server: what it would change, and the change.
local project = require('winnow.editor.project')
local refuse = require('winnow.editor.ask').refuse
local reload = require('winnow.reload')
local server = require('winnow.editor.server')

local M = {}

local METHOD = 'textDocument/rename'

---@class winnow.FileEdits
---@field path string
---@field edits table[] as the protocol has them
---@field to? string where the file goes
---@field buf? integer
---@field was_saved? boolean

--- The file that a server names.
---@param uri any
---@return string path
local function path_of(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  if not ok then
    refuse('The language server wants what is no change of text: rename it by hand.')
  end
  return path
end

--- What a server wants to change, by file.
---@param edit any
---@return table<string, winnow.FileEdits> by path
local function by_file(edit)
  edit = type(edit) == 'table' and edit or {}
  local found, moved = {}, {} ---@type table<string, winnow.FileEdits>, table<string, string>
  ---@param path string as it is named now
  ---@return winnow.FileEdits
  local function of(path)
    path = moved[path] or path
    found[path] = found[path] or { path = path, edits = {} }
    return found[path]
  end
  ---@param uri any
  ---@param edits any
  local function add(uri, edits)
    local path = path_of(uri)
    if type(edits) ~= 'table' then
      refuse('The language server wants what is no change of text: rename it by hand.')
    end
    vim.list_extend(of(path).edits, edits)
  end
  if type(edit.documentChanges) == 'table' then
    for _, change in ipairs(edit.documentChanges) do
      if change.kind == 'rename' then
        local one, to = of(path_of(change.oldUri)), path_of(change.newUri)
        one.to, moved[to] = to, one.path
      elseif change.kind then
        refuse('The language server wants to make or delete files, too: rename it by hand.')
      else
        add(change.textDocument and change.textDocument.uri, change.edits)
      end
    end
  else
    for uri, edits in pairs(type(edit.changes) == 'table' and edit.changes or {}) do
      add(uri, edits)
    end
  end
  return found
end

--- Refuse to move what can't be moved without loss.
---@param ask winnow.Ask
---@param one winnow.FileEdits
local function check_move(ask, one)
  local buf, kind = project.loaded(one.path), (vim.uv.fs_stat(one.path) or {}).type
  if not project.holds(one.to, ask.cwd) then
    refuse('It would move %s to %s, which is outside of the project.', one.path, one.to)
  elseif vim.uv.fs_lstat(one.to) then
    refuse('It would move %s to %s, which is there already.', one.path, one.to)
  elseif kind ~= 'file' then
    refuse('It would move %s, which is no file: rename it by hand.', one.path)
  elseif buf and vim.bo[buf].modified then
    refuse('It would move %s, which has unsaved changes.', one.path)
  end
end

--- Refuse what the user has not seen, or can't be done.
---@param ask winnow.Ask
---@param all winnow.FileEdits[]
---@param name string
local function check(ask, all, name)
  if #all == 0 then
    refuse("The language server doesn't rename “%s”.", name)
  end
  for _, one in ipairs(all) do
    if not project.holds(one.path, ask.cwd) then
      refuse('It would change %s, which is outside of the project.', one.path)
    elseif #ask.files > 0 and not vim.list_contains(ask.files, one.path) then
      refuse('It would change %s by now, which the user has not seen: ask again.', one.path)
    end
    if one.to then
      check_move(ask, one)
    end
  end
end

--- Whether a buffer holds what its file does, so that to write it takes nothing away.
---@param buf integer
---@param path string
---@return boolean
local function is_on_disk(buf, path)
  local ok, lines = pcall(vim.fn.readfile, path)
  if ok and vim.bo[buf].fileformat == 'dos' then
    lines = vim.tbl_map(function(line)
      return (line:gsub('\r$', ''))
    end, lines)
  end
  if ok and vim.bo[buf].bomb and lines[1] then
    lines[1] = lines[1]:gsub('^\239\187\191', '')
  end
  local now = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  return ok and (vim.deep_equal(lines, now) or #lines == 0 and vim.deep_equal(now, { '' }))
end

--- Have the buffers of all files, before any of them is changed.
---@param ask winnow.Ask
---@param all winnow.FileEdits[]
local function load(ask, all)
  for _, one in ipairs(all) do
    one.buf = project.buffer(one.path, ask.cwd)
    one.was_saved = not vim.bo[one.buf].modified and is_on_disk(one.buf, one.path)
    if vim.bo[one.buf].readonly or not vim.bo[one.buf].modifiable then
      refuse("%s can't be changed: it is read-only, or open in another Neovim.", one.path)
    end
  end
end

--- Write a buffer that had nothing unsaved; Vim asks nothing.
---@param one winnow.FileEdits
---@return boolean written
local function write(one)
  local ok = one.was_saved
    and pcall(vim.api.nvim_buf_call, one.buf, function()
      vim.cmd('silent keepalt lockmarks write!') -- without it, Vim may ask
    end)
  return ok and not vim.bo[one.buf].modified
end

---@param all winnow.FileEdits[]
---@param encoding string
---@return winnow.Spot[]
local function apply(all, encoding)
  return vim.tbl_map(function(one)
    vim.lsp.util.apply_text_edits(one.edits, one.buf, encoding)
    local kind = write(one) and '' or 'not saved'
    if one.to and kind == '' then
      vim.lsp.util.rename(one.path, one.to)
      kind = vim.uv.fs_lstat(one.to) and 'now ' .. one.to or 'not moved'
    end
    return { path = one.path, line = #one.edits, kind = kind }
  end, all)
end

---@param all winnow.FileEdits[]
---@return winnow.Spot[]
local function preview(all)
  return vim.tbl_map(function(one)
    local buf = project.loaded(one.path)
    local unsaved = buf and vim.bo[buf].modified and 'has unsaved changes' or ''
    local kind = one.to and 'moves to ' .. one.to or unsaved
    return { path = one.path, line = #one.edits, kind = kind }
  end, all)
end

--- The change tick of each loaded buffer.
---@return table<integer, integer>
local function ticks()
  local found = {} ---@type table<integer, integer>
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    found[buf] = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_changedtick(buf) or nil
  end
  return found
end

---@param ask winnow.Ask
---@param call winnow.Rename
---@return winnow.Told
function M.rename(ask, call)
  if not ask.dry then
    ask:until_quiet()
  end
  reload.reload('') -- what Claude has just written
  local buf, fresh = project.buffer(call.path, ask.cwd)
  local clients = server.of(ask, buf, fresh, METHOD, call.path)
  local before, at = ticks(), server.at(buf, call)
  local results = server.request(ask, { clients[1] }, METHOD, buf, function(client)
    return vim.tbl_extend('error', at(client), { newName = call.new_name })
  end)
  local all = vim.tbl_values(by_file(results[1].result))
  table.sort(all, function(a, b)
    return a.path < b.path
  end)
  check(ask, all, call.symbol)
  if ask.dry then
    local spots = preview(all)
    return { spots = spots, total = #spots }
  end
  load(ask, all)
  ask:until_quiet()
  for _, one in ipairs(all) do
    if before[one.buf] and before[one.buf] ~= vim.api.nvim_buf_get_changedtick(one.buf) then
      refuse('%s was edited just now: try again.', one.path)
    end
  end
  local spots = apply(all, clients[1].offset_encoding)
  return { spots = spots, total = #spots }
end

return M
