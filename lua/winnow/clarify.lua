--- `:Winnow clarify`: questions before any work starts, and the specification that comes of them.
local begin = require('winnow.begin')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')
local window = require('winnow.window')

local M = {}

--- Of which clarification the current buffer is the specification, as its last lines say.
---@return string? id
local function specified()
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, -5, -1, false)) do
    local id = line:match('^' .. vim.pesc(grammar.SPEC) .. ' (%w+) %-%->%s*$')
    if id then
      return id
    end
  end
end

--- What is to be reached by whoever is handed the specification in the current buffer.
---@return string? goal nil: it holds none
function M.goal()
  local path = vim.api.nvim_buf_get_name(0)
  return specified() and ('Build what this specification says: %s'):format(path) or nil
end

--- What is to be clarified where the command has no words: a draft.
---@return string? request
local function drafted()
  local chat = registry.current()
  local text = chat and chat:draft() or ''
  return text ~= '' and text or nil
end

--- Ask a chat's questions one by one, or all at once, also those that are open.
---@param chat winnow.Chat
---@param how string
local function pace(chat, how)
  if not chat.section or guard.is_user() then -- what is open is asked anew
    chat:tell('pace', { one_by_one = how == '++one' })
  end
end

--- The chat in which something is clarified already: two would not know of each other.
---@param id string
---@return winnow.Chat?
local function led(id)
  for _, chat in ipairs(registry.all()) do
    if frontmatter.read(chat.buf).clarify == id then
      return chat
    end
  end
end

--- Go on with the specification here.
---@param args table as nvim_create_user_command gives it
---@param id string
---@param words string
---@return winnow.Chat?
local function go_on(args, id, words)
  local chat = led(id)
  if vim.bo.modified then
    say('winnow: write the specification first: what is read is the file.', 'warn')
    return nil
  elseif chat then
    window.show(chat.buf, args.smods)
    if words ~= '' or chat.state == 'idle' or chat.state == 'asleep' then
      begin.send(chat, words ~= '' and words or grammar.WHAT_IS_OPEN)
    end
    return chat
  end
  local again = ('%s %s: %s'):format(
    grammar.AGAIN,
    vim.api.nvim_buf_get_name(0),
    words ~= '' and words or grammar.WHAT_IS_OPEN
  )
  return begin.chat(args, again, { clarify = id })
end

--- Clarify a request: these words, a range, the specification here, or the draft.
---@param args table as nvim_create_user_command gives it
---@param rest string `++one` or `++all` before the words: how to ask
function M.run(args, rest)
  local how, words = ('%s '):format(trim.both(rest)):match('^(%+%+%S*)%s*(.-)%s*$')
  words = words or trim.both(rest)
  local id, chat = args.range == 0 and specified(), nil ---@type string|false?, winnow.Chat?
  if how and how ~= '++one' and how ~= '++all' then
    say(('winnow: there is no %s, only ++one and ++all.'):format(how), 'warn')
  elseif id then
    chat = go_on(args, id, words)
  elseif words ~= '' or args.range > 0 then
    chat = begin.chat(args, words, { clarify = begin.id() })
  elseif how then
    registry.with_current(function(current)
      chat = current
    end)
  elseif drafted() then
    chat = begin.chat(args, drafted() or '', { clarify = begin.id() })
  else
    say('winnow: say what is wanted: :Winnow clarify {request}.', 'warn')
  end
  if chat and how then
    pace(chat, how)
  end
end

return M
