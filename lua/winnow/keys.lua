--- What `<CR>`, `<Esc>` and the other `<Plug>(winnow-…)` do. Everything else stays Vim's.
local agent = require('winnow.views.agent')
local branches = require('winnow.chat.branches')
local code = require('winnow.chat.code')
local fold = require('winnow.chat.fold')
local grammar = require('winnow.grammar')
local guard = require('winnow.guard')
local image = require('winnow.context.image')
local inbox = require('winnow.views.inbox')
local library = require('winnow.library')
local lists = require('winnow.views.list')
local marker = require('winnow.section.marker')
local outline = require('winnow.chat.outline')
local registry = require('winnow.registry')
local review = require('winnow.views.review')
local say = require('winnow.say')
local tool = require('winnow.chat.tool')
local trim = require('winnow.trim')
local window = require('winnow.window')

local M = {
  outline = outline.list,
  ['fold-less'] = fold.less,
  ['yank-code'] = code.yank,
  ['agent-up'] = agent.up,
  ['paste-image'] = image.paste,
}

--- The open section, when the cursor is in it.
---@return winnow.Section?
local function section_here()
  local chat = registry.current()
  return chat and chat:section_here()
end

-- What a path in a text may end with that is none of it.
local TRAILING = '[.,:;!?]'

--- The file whose path the cursor is on, from the chat's directory.
---@param chat winnow.Chat
---@param name string
---@return string|false path
local function file_of(chat, name)
  for _, tried in ipairs({ name, trim.right(name, TRAILING) }) do
    local path = vim.fs.normalize(tried)
    path = vim.startswith(path, '/') and path or vim.fs.joinpath(chat.cwd, path)
    if tried ~= '' and vim.fn.filereadable(path) == 1 then
      return path
    end
  end
  return false
end

--- Open the file under the cursor beside the chat, at the line that follows its name.
---@param chat winnow.Chat
---@param after? boolean or one after the cursor
---@return boolean opened
local function open_file(chat, after)
  local name, line = vim.fn.expand('<cfile>'), vim.api.nvim_get_current_line()
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  local first, last = line:find(name, math.max(1, column - #name + 1), true)
  local here = after or first and first <= column
  local path = tool.file(line, chat.cwd) or here and file_of(chat, name)
  if not path then
    return false
  end
  window.open_beside(path, tonumber(line:match('^:(%d+)', (last or #line) + 1)))
  return true
end

--- The same, or say that there is none.
---@param chat winnow.Chat
local function open_named(chat)
  if not open_file(chat, true) then
    local name = vim.fn.expand('<cfile>')
    local none = 'There is no file %s in %s.'
    none = name == '' and 'There is no file name under the cursor.' or none
    say(none:format(name, vim.fn.fnamemodify(chat.cwd, ':~')), 'warn')
  end
end

M['open-file'] = function()
  local chat = agent.chat()
  if chat then
    open_named(chat)
  else
    registry.with_current(open_named)
  end
end

--- Go to the subagent or the file on whose line the cursor is, else do what `<CR>` always does.
---@param chat? winnow.Chat whose text this is
local function enter(chat)
  if not agent.enter(chat) and not (chat and open_file(chat)) then
    vim.cmd.normal({ vim.v.count1 .. '\r', bang = true })
  end
end

function M.comment()
  review.comment()
end

M['accept-change'] = function()
  review.accept()
end

M['next-agent'] = function()
  agent.beside(1)
end

M['previous-agent'] = function()
  agent.beside(-1)
end

M['next-message'] = function()
  outline.jump(1)
end

M['previous-message'] = function()
  outline.jump(-1)
end

M['inside-code'] = function()
  code.select(false)
end

M['around-code'] = function()
  code.select(true)
end

--- `<CR>` means go: confirm the section, send the draft, reopen the record under the cursor.
function M.go()
  local chat = registry.current()
  if not chat then
    if agent.is_here() then
      enter(agent.chat())
    end
    return
  end
  local section = section_here()
  local record = marker.of(vim.api.nvim_get_current_line())
  if section then
    section:confirm()
  elseif branches.enter(chat, library.go) then
    return -- also above a draft, which is sent from below its heading
  elseif vim.api.nvim_win_get_cursor(0)[1] - 1 >= chat:heading_row() then
    chat:send()
  elseif record and record.slot == grammar.RECORD then
    chat:tell('reopen', { section = record.id })
  elseif vim.startswith(vim.api.nvim_get_current_line(), grammar.NOTICE) and chat:is_last() then
    chat:send()
  elseif vim.startswith(vim.api.nvim_get_current_line(), grammar.TOOL .. ' Todo ') then
    lists.open('todo', chat.buf)
  else
    enter(chat)
  end
end

--- Cancel the section under the cursor.
function M.cancel()
  local section = section_here()
  if section then
    section:cancel()
  end
end

--- Keep only the option under the cursor.
function M.keep()
  local section = section_here()
  if section then
    section:keep_here()
  end
end

function M.send()
  local chat = registry.current()
  if chat then
    chat:send()
  end
end

--- Send into the running turn.
function M.steer()
  local chat = registry.current()
  if chat then
    chat:steer()
  end
end

function M.stop()
  local chat = registry.current()
  if chat then
    chat:stop()
  end
end

--- Ask what there is to discuss about the open section.
function M.discuss()
  local chat = registry.current()
  local section = chat and chat.section
  ---@param text? string
  local function talk(text)
    if text and (chat and chat.section) == section then
      registry.with_current(function(here)
        here:discuss(text)
      end)
    elseif chat and text and text:find('%S') then
      chat:append_draft({ text })
      say('That is no longer open: what you wrote is in the draft.', 'warn')
    end
  end
  vim.ui.input({ prompt = 'Discuss: ' }, guard.asking(talk))
end

function M.allow()
  inbox.grant('allow')
end

function M.always()
  inbox.grant('always')
end

--- Ask for the reason; without one it is denied all the same.
function M.deny()
  local item = inbox.asked('deny')
  if item then
    vim.ui.input({ prompt = ('Deny %s, because: '):format(item.pending.title) }, function(reason)
      if reason then
        inbox.grant('deny', trim.both(reason), item)
      end
    end)
  end
end

return M
