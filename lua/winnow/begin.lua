--- How a chat begins: where, and with which words of the user's.
local chats = require('winnow.chats')
local directory = require('winnow.chat.directory')
local files = require('winnow.chat.files')
local mention = require('winnow.context.mention')
local registry = require('winnow.registry')
local say = require('winnow.say')
local tree = require('winnow.chat.tree')
local window = require('winnow.window')

local M = {}

--- The project that Neovim stands in; with 'autochdir' in a chat, that of the chat.
---@return string
function M.place()
  local chat, cwd = registry.current(), vim.fn.getcwd()
  return chat and files.place(cwd) == files.place(files.dir()) and chat.cwd
    or directory.project(cwd)
end

--- Open a new chat: in the project, or from a chat where that is; with `++worktree[=name]` in a git
--- worktree of its own.
---@param args table as nvim_create_user_command gives it
---@param rest string
---@param goal? string what its draft is to say
function M.new(args, rest, goal)
  local chat = registry.current()
  local cwd, values = M.place(), {} ---@type string, table<string, string>?
  if chat then
    cwd, values = tree.of(chat)
  end
  local name = (rest .. '='):match('^%+%+worktree=(.-)=?$')
  local problem ---@type string?
  if name then
    values, problem = tree.new(cwd, name)
  elseif vim.startswith(rest, '++') then
    values, problem = nil, ('there is no %s, only ++worktree[=name].'):format(rest)
  end
  if not values then
    say('winnow: ' .. problem, 'warn')
    return
  end
  local buf = chats.create(cwd, values)
  window.show(buf, args.smods)
  if goal then
    assert(registry.get(buf)):append_draft({ goal })
  end
end

--- Put lines of another buffer into the chat's draft, as a fenced block that says where they are.
---@param chat winnow.Chat
---@param source integer the other buffer
---@param first integer line, from 1
---@param last integer
---@param part? string[] only this of those lines
function M.quote(chat, source, first, last, part)
  local lines = part or vim.api.nvim_buf_get_lines(source, first - 1, last, false)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':~:.')
  name = name == '' and '[No Name]' or mention.plain(name)
  local fence = '```'
  while table.concat(lines, '\n'):find(fence, 1, true) do
    fence = fence .. '`'
  end
  local lines_of = first == last and '%s:%d' or '%s:%d-%d'
  local block = { lines_of:format(name, first, last), fence .. vim.bo[source].filetype }
  vim.list_extend(block, lines)
  table.insert(block, fence)
  chat:append_draft(block)
end

--- Send a text, after what stands in the draft.
---@param chat winnow.Chat
---@param text string
function M.send(chat, text)
  chat:append_draft(vim.split(text, '\n', { plain = true }))
  chat:send()
end

--- A name for what begins, which nobody guesses.
---@return string
function M.id()
  local letters = vim.tbl_map(function(byte)
    return string.char(97 + byte % 26)
  end, { assert(vim.uv.random(8)):byte(1, -1) })
  return table.concat(letters)
end

--- Begin a chat with these words. With a range, hand over those lines, too.
---@param args table as nvim_create_user_command gives it
---@param text string
---@param values table<string, string> more frontmatter
---@param worktree? boolean the tasks of this run have worktrees of their own
---@return winnow.Chat
function M.chat(args, text, values, worktree)
  local source = vim.api.nvim_get_current_buf()
  local buf = chats.create(M.place(), values)
  window.show(buf, args.smods)
  local chat = assert(registry.get(buf))
  if worktree then
    chat.worktree = true
    chat:open() -- the host has to know before the goal
  end
  if args.range > 0 then
    M.quote(chat, source, args.line1, args.line2)
  end
  M.send(chat, text)
  return chat
end

return M
