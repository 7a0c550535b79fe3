--- The keys of a chat, each of which is a `<Plug>` of ours. `<CR>` and, in a section, `<Esc>` are
--- what a chat is about; the others are set only where nothing of the user's is.
local M = {}

---@class winnow.Map
---@field [1] string modes, a letter each
---@field [2] string key
---@field [3] string the name of its `<Plug>`
---@field [4] string what it does

---@type winnow.Map[]
local MAPS = {
  { 'nxo', ']]', 'next-message', 'next message' },
  { 'nxo', '[[', 'previous-message', 'previous message' },
  { 'n', 'gO', 'outline', 'list the messages' },
  { 'n', 'gf', 'open-file', 'open the file' },
  { 'n', 'gF', 'open-file', 'open the file' },
  { 'n', 'zr', 'fold-less', 'open the messages that zm has closed' },
  { 'xo', 'ic', 'inside-code', 'inside the code' },
  { 'xo', 'ac', 'around-code', 'around the code' },
}

--- Whether the user has something on a key; what Neovim itself has there does not count.
---@param buf integer
---@param mode string
---@param key string
---@return boolean
local function taken(buf, mode, key)
  local map = vim.api.nvim_buf_call(buf, function()
    return vim.fn.maparg(key, mode, false, true)
  end)
  return not vim.tbl_isempty(map) and not vim.startswith(map.desc or '', 'vim.lsp.')
end

---@param buf integer
---@param map winnow.Map
local function set(buf, map)
  for mode in map[1]:gmatch('.') do
    if not taken(buf, mode, map[2]) then
      local plug = ('<Plug>(winnow-%s)'):format(map[3])
      vim.keymap.set(mode, map[2], plug, { buffer = buf, desc = 'Winnow: ' .. map[4] })
    end
  end
end

local STOP = { 'n', '<C-c>', 'stop', 'stop the turn' } ---@type winnow.Map

--- `<C-c>` stops a turn that runs. Else it is not mapped, for then it would be a key like others
--- to all that it ends: what is mapped does not end `<C-w>`, but closes the window.
---@param chat winnow.Chat
function M.follow(chat)
  local runs = chat.state == 'working' or chat.state == 'waiting'
  if runs and not chat.stop_mapped and not taken(chat.buf, 'n', '<C-c>') then
    set(chat.buf, STOP)
    vim.keymap.set('n', '<C-w><C-c>', '<Nop>', { buffer = chat.buf, desc = 'Winnow: nothing' })
    chat.stop_mapped = true
  elseif chat.stop_mapped and not runs then
    for _, key in ipairs({ '<C-c>', '<C-w><C-c>' }) do
      pcall(vim.keymap.del, 'n', key, { buffer = chat.buf }) -- it may be gone: `:nmapclear`
    end
    chat.stop_mapped = false
  end
end

---@param buf integer
function M.set(buf)
  -- nowait: a mapping of two <CR> elsewhere would make this one wait
  local options = { buffer = buf, nowait = true, desc = 'Winnow: send or confirm' }
  vim.keymap.set('n', '<CR>', '<Plug>(winnow-go)', options)
  for _, map in ipairs(MAPS) do
    set(buf, map)
  end
end

return M
