--- What the user writes while Claude is at work: files that both may change. The host gets copies,
--- so that it can tell the user's edits from Claude's.
local host = require('winnow.host')
local registry = require('winnow.registry')

local M = {}

local LARGEST = 16 * 1024 * 1024 -- bytes of a file

--- The chats that may write files now.
---@return winnow.Chat[]
local function at_work()
  return vim.tbl_filter(function(chat)
    local busy = chat.state == 'working' or chat.state == 'waiting'
    return busy or (chat.background or 0) > 0
  end, registry.all())
end

--- A copy of a file.
---@param path string
---@return string? name empty: there is no file; nil: it can't be copied
local function copy(path)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return ''
  end
  local name = vim.fn.tempname()
  local fits = stat.type == 'file' and stat.size <= LARGEST
  return fits and vim.uv.fs_copyfile(path, name) and name or nil
end

local before = {} ---@type table<string, table<integer, string>> copies by file, and by chat

--- The user writes a file.
---@param path string
local function writes(path)
  before[path] = nil
  for _, chat in ipairs(at_work()) do
    local name = copy(path)
    if name then
      before[path] = before[path] or {}
      before[path][chat.buf] = name
    end
  end
end

--- The user has written it.
---@param path string
local function wrote(path)
  for chat, name in pairs(before[path] or {}) do
    local after = copy(path)
    if after then
      host.notify('saved', { chat = chat, path = path, before = name, after = after })
    end
  end
  before[path] = nil
end

local watched = false

--- From now on, notice that.
function M.watch()
  if watched then
    return
  end
  watched = true
  local group = vim.api.nvim_create_augroup('winnow.saves', {})
  for event, act in pairs({ BufWritePre = writes, BufWritePost = wrote }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function(what)
        if vim.bo[what.buf].buftype == '' and not registry.get(what.buf) then
          act(vim.fn.fnamemodify(what.match, ':p'))
        end
      end,
    })
  end
end

return M
