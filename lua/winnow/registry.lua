--- The chats of this Neovim, by buffer.
local say = require('winnow.say')

local M = {}

local chats = {} ---@type table<integer, winnow.Chat>

---@param chat winnow.Chat
function M.add(chat)
  chats[chat.buf] = chat
end

---@param buf integer
function M.remove(buf)
  chats[buf] = nil
end

---@param buf integer
---@return winnow.Chat?
function M.get(buf)
  return chats[buf]
end

--- The chat of the current buffer.
---@return winnow.Chat?
function M.current()
  return chats[vim.api.nvim_get_current_buf()]
end

--- Do something with the chat of the current buffer, or say that it is none.
---@param act fun(chat: winnow.Chat)
function M.with_current(act)
  local chat = M.current()
  if chat then
    act(chat)
  else
    say('winnow: no chat here: :Winnow goes to one.', 'warn')
  end
end

--- The same, also from a list of that chat, where no line of it is meant.
---@param act fun(chat: winnow.Chat)
function M.with_chat(act)
  local of = vim.api.nvim_buf_get_name(0):match('^winnow://%l+/(%d+)$')
  local chat = of and chats[tonumber(of)]
  if chat then
    act(chat)
  else
    M.with_current(act)
  end
end

---@return winnow.Chat[]
function M.all()
  return vim.tbl_values(chats)
end

return M
