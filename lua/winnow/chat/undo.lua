--- The user's undo of the draft. A write of the host's is outside undo, which makes Neovim forget
--- all steps; they are kept here meanwhile, and laid down again before a key that may need them.
local log = require('winnow.log')
local registry = require('winnow.registry')
local steps = require('winnow.chat.steps')

local M = {}

-- What is laid down, by buffer, while Neovim's last number is the one that it had then.
local laid = {} ---@type table<integer, { last: integer, past: winnow.Past }>
local kept = {} ---@type table<integer, winnow.Past> what is to be laid down, by buffer
local bare = {} ---@type table<integer, integer> 'changedtick' up to which Neovim has no steps
local began = {} ---@type table<integer, integer> Neovim's last number when Insert mode began

local watched = vim.api.nvim_create_namespace('winnow.undo')

-- Keys of Normal mode that only move: what they do is the same with and without the steps.
local MOVES = {}
for key in ('hjklwbeWBE0123456789^$GHML(){}'):gmatch('.') do
  MOVES[key] = true
end
for key in ('<C-d> <C-u> <C-f> <C-b> <C-e> <C-y> <Up> <Down> <Left> <Right>'):gmatch('%S+') do
  MOVES[vim.keycode(key)] = true
end

--- Whether the user types in a buffer.
---@param buf integer
---@return boolean
function M.is_typed(buf)
  local mode = vim.api.nvim_get_mode().mode
  return vim.api.nvim_get_current_buf() == buf and mode:find('^[iRsS\19]') ~= nil
end

--- Insert mode begins.
---@param buf integer
function M.begin(buf)
  began[buf] = vim.fn.undotree(buf).seq_last
end

--- Have the steps laid down before a key of Normal mode is acted on that may be `u`.
local function watch()
  vim.on_key(next(kept) and function(key)
    local buf = vim.api.nvim_get_current_buf()
    if kept[buf] and not MOVES[key] then
      local mode = vim.api.nvim_get_mode().mode
      if mode == 'c' or vim.startswith(mode, 'n') and not vim.startswith(mode, 'no') then
        M.restore(registry.get(buf))
      end
    end
  end or nil, watched)
end

--- Read or write the steps. What goes wrong costs them, and neither the host's write nor a key.
---@generic R
---@param chat winnow.Chat
---@param act fun(...): R
---@param ... any
---@return R?
local function try(chat, act, ...)
  local ok, result = pcall(act, ...)
  if ok then
    return result
  end
  log.write(('What u takes back in %s is forgotten: %s'):format(chat.path, result))
end

--- Keep the steps before a write of the host's.
---@param chat winnow.Chat
function M.keep(chat)
  local buf = chat.buf
  if kept[buf] or bare[buf] == vim.api.nvim_buf_get_changedtick(buf) then
    return -- the text may be new, for somebody types it: `restore` looks
  end
  local tree = vim.fn.undotree(buf)
  if #tree.entries == 0 then
    return
  end
  local last = laid[buf]
  local past = last and last.past
  laid[buf] = nil
  if past and last.last == tree.seq_last then
    past.now = steps.indices(past)[tree.seq_cur] or 0
  else
    past = try(chat, steps.read, chat, tree, past)
    if not past then
      return
    end
  end
  local step = past.steps[past.now]
  local typed = step and M.is_typed(buf) and step.seq > (began[buf] or math.huge)
  if typed then -- it goes on: `restore` makes one step of all that was typed
    past.now = table.remove(past.steps).parent
  end
  if typed or #past.steps > 0 then
    kept[buf] = past
    watch()
  end
end

--- The host has written: now Neovim has no steps, until there is another text.
---@param buf integer
function M.wrote(buf)
  bare[buf] = vim.api.nvim_buf_get_changedtick(buf)
end

--- Something was taken out of the draft that no step may bring back: the steps are those of drafts
--- without it.
---@param buf integer
---@param without fun(lines: string[]): string[]
function M.change(buf, without)
  if kept[buf] then
    kept[buf] = steps.changed(kept[buf], without)
  end
end

--- Give Neovim the steps back: the text stays as it is.
---@param chat winnow.Chat
function M.restore(chat)
  local buf = chat.buf
  local past = kept[buf]
  if not past then
    return
  end
  kept[buf], bare[buf] = nil, nil
  watch()
  if select(2, chat:heading_row()) then -- else the user has deleted it since
    local last = try(chat, steps.write, chat, past)
    laid[buf] = last and { last = last, past = past }
  end
end

--- Forget a buffer that is gone.
---@param buf integer
function M.forget(buf)
  kept[buf], laid[buf], began[buf], bare[buf] = nil, nil, nil, nil
end

return M
