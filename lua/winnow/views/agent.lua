--- What a subagent says, in a buffer of its own that is only read: live while it runs, with the way
--- up to who has started it, and to the others that this one has.
local draw = require('winnow.draw')
local grammar = require('winnow.grammar')
local highlight = require('winnow.highlight')
local running = require('winnow.chat.running')
local registry = require('winnow.registry')
local say = require('winnow.say')
local transcript = require('winnow.chat.transcript')
local window = require('winnow.window')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.agent')

---@class winnow.AgentView
---@field chat integer the buffer of its chat
---@field agent string its id
---@field parent string the subagent that started it; empty: the chat's own
---@field call string the call that did
---@field state? integer extmark beside its title

local HEAD = 2 -- rows above what it says

local views = {} ---@type table<integer, winnow.AgentView> by buffer

--- Tell the host of its chat something.
---@param kind winnow.EventType
---@param chat integer
---@param event table its fields
local function tell(kind, chat, event)
  local found = registry.get(chat)
  if found then
    found:tell(kind, event)
  else
    say('The chat of this subagent is no longer open.', 'warn')
  end
end

--- The view of the current buffer.
---@return winnow.AgentView?
local function here()
  local view = views[vim.api.nvim_get_current_buf()]
  if not view then
    say('winnow: no subagent: <CR> on its line opens it', 'warn')
  end
  return view
end

--- Whether this is the buffer of a subagent.
---@return boolean
function M.is_here()
  return views[vim.api.nvim_get_current_buf()] ~= nil
end

--- The chat of the subagent whose buffer this is.
---@return winnow.Chat?
function M.chat()
  local view = views[vim.api.nvim_get_current_buf()]
  return view and registry.get(view.chat)
end

--- Go to who has started it: another subagent, or the chat, where the call is.
function M.up()
  local view = here()
  local chat = view and registry.get(view.chat)
  if view and (view.parent ~= '' or not chat) then
    tell('visitagent', view.chat, { agent = view.parent })
  elseif view and chat then
    window.show(view.chat)
    local row = transcript.row(chat, view.call)
    if row then
      vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
    end
  end
end

--- Go to another one that was started by the same.
---@param step integer
function M.beside(step)
  local view = here()
  if view then
    tell('agentbeside', view.chat, { agent = view.agent, step = step * vim.v.count1 })
  end
end

--- Make a chat of it.
function M.promote()
  local view = here()
  if view then
    tell('promote', view.chat, { agent = view.agent })
  end
end

--- What the line of a call says of itself, whatever has become of it.
---@param line string
---@return string
local function name_of(line)
  for _, sign in ipairs({ grammar.KEPT, grammar.REFUSED, '…' }) do
    local at = line:find((' %s '):format(sign), 1, true) or line:find(' ' .. sign .. '$')
    line = at and line:sub(1, at - 1) or line
  end
  return line
end

--- Go to the subagent whose call the cursor is on, in a chat or in the buffer of another one.
---@param chat? winnow.Chat
---@return boolean gone
function M.enter(chat)
  local row, line = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_get_current_line()
  local tool = line:match('^' .. grammar.TOOL .. ' (%S+) ')
  local view = views[vim.api.nvim_get_current_buf()]
  if tool ~= 'Agent' and tool ~= 'Task' then
    return false
  elseif view then
    tell('pickinagent', view.chat, { agent = view.agent, row = row - 1 - HEAD })
  elseif chat then
    local name = name_of(line)
    local alike = vim.tbl_filter(function(other)
      return name_of(other) == name
    end, chat:lines(0, row - 1))
    local call = running.call_here(chat) or ''
    chat:tell('visitagent', { call = call, line = line, nth = #alike })
  end
  return true
end

-- As those of a chat, but folds are made of the text, which grows only at its end.
local WINDOW = {
  conceallevel = 2,
  concealcursor = 'nvic',
  wrap = true,
  linebreak = true,
  breakindent = true,
  foldmethod = 'expr',
  foldexpr = 'get(b:winnow_folds,v:lnum-1)', -- for each line: Lua would take three times as long
  foldtext = '',
  foldlevel = 0,
  foldenable = true,
  fillchars = 'fold: ',
}

local levels = {} ---@type table<integer, (string|integer)[]> of folds, by buffer

--- Learn how lines fold: what a tool said, and what was thought, beneath the line above.
---@param buf integer
---@param keep integer how many stay as they are
---@param lines string[] what follows these
local function learn_folds(buf, keep, lines)
  local known = vim.list_slice(levels[buf] or {}, 1, keep)
  while #known < keep do
    table.insert(known, 0)
  end
  local heads, below = { [grammar.TOOL] = true, [grammar.THOUGHT] = true }, false
  for i = #lines, 1, -1 do
    local start = lines[i]:sub(1, 3) -- each of the signs is three bytes long
    known[keep + i] = start == grammar.OUTPUT and '=' or below and heads[start] and '>1' or 0
    below = start == grammar.OUTPUT
  end
  levels[buf], vim.b[buf].winnow_folds = known, known
end

---@param buf integer
local function map(buf)
  ---@param key string
  ---@param act fun()|string
  ---@param what string
  local function set(key, act, what)
    vim.keymap.set('n', key, act, { buffer = buf, desc = 'Winnow: ' .. what })
  end
  set('<CR>', '<Plug>(winnow-go)', 'open this')
  vim.api.nvim_buf_call(buf, function()
    for _, key in ipairs({ 'gf', 'gF' }) do
      if vim.fn.maparg(key, 'n') == '' then -- else it is the user's
        set(key, '<Plug>(winnow-open-file)', 'open the file')
      end
    end
  end)
  set('-', M.up, 'who has started this')
  set(']a', function()
    M.beside(1)
  end, 'the next subagent')
  set('[a', function()
    M.beside(-1)
  end, 'the subagent before')
end

--- Set the options for these buffers in this window; other buffers of the window keep theirs.
local function dress()
  for name, value in pairs(WINDOW) do
    if vim.wo[0][0][name] ~= value then
      vim.wo[0][0][name] = value
    end
  end
end

---@param buf integer
---@param view winnow.AgentView
local function watch(buf, view)
  local group = vim.api.nvim_create_augroup('winnow.agent.' .. buf, {})
  local shown = { group = group, buffer = buf, callback = dress }
  vim.api.nvim_create_autocmd('BufWinEnter', shown)
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buf,
    callback = function()
      views[buf], draw.pages[buf], levels[buf] = nil, nil, nil
      local chat = registry.get(view.chat)
      if chat then
        chat:tell('watchagent', { agent = view.agent, open = false })
      end
    end,
  })
end

--- Make its buffer.
---@param view winnow.AgentView
---@return integer
local function make(view)
  local name = ('winnow://agent/%d/%s'):format(view.chat, view.agent)
  local buf = vim.fn.bufadd(name)
  vim.fn.bufload(buf)
  views[buf], draw.pages[buf] = view, true
  local options = vim.bo[buf]
  options.buftype, options.swapfile, options.bufhidden = 'nofile', false, 'hide'
  options.undolevels, options.modifiable, options.buflisted = -1, false, true
  map(buf)
  watch(buf, view)
  options.filetype = 'winnowagent'
  highlight.markdown(buf)
  return buf
end

---@param chat integer
---@param agent string
---@return integer? buf
local function find(chat, agent)
  for buf, view in pairs(views) do
    if view.chat == chat and view.agent == agent then
      return buf
    end
  end
end

--- Put what it says there; whoever is at its end stays at the end.
---@param buf integer
---@param e winnow.effect.AgentPage
local function write(buf, e)
  local last = vim.api.nvim_buf_line_count(buf)
  local following = vim.tbl_filter(function(win)
    return last > HEAD and vim.api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
  vim.bo[buf].modifiable = true
  if last < HEAD then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { '# ' .. e.title, '' })
  end
  if #e.lines > 0 or last > HEAD + e.keep then
    learn_folds(buf, HEAD + e.keep, e.lines)
    vim.api.nvim_buf_set_lines(buf, HEAD + e.keep, -1, false, e.lines)
  end
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  for _, win in ipairs(following) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
  local view = views[buf]
  view.parent, view.call = e.parent, e.call
  view.state = vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, {
    id = view.state,
    virt_text = { { e.state, 'WinnowStatus' } },
    virt_text_pos = 'eol',
  })
end

--- The host's answer to a visit, and what follows as long as the subagent runs.
---@param chat winnow.Chat
---@param e winnow.effect.AgentPage
function M.show(chat, e)
  local buf = find(chat.buf, e.agent)
  if not buf and e.show then
    buf = make({ chat = chat.buf, agent = e.agent, parent = e.parent, call = e.call })
  end
  if buf then
    write(buf, e)
  end
  if buf and e.show then
    window.show(buf)
  end
end

return M
