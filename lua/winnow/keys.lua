--- The two keys of a chat, and what `<Plug>(winnow-…)` does. Everything else stays Vim's.
local marker = require('winnow.marker')

local M = {}

local function current()
  return require('winnow.chats').current()
end

local function cursor_row()
  return vim.api.nvim_win_get_cursor(0)[1] - 1
end

--- The open section, when the cursor is in it.
---@return winnow.Section?
local function section_here()
  local chat = current()
  local section = chat and chat.section
  return section and section:contains(cursor_row()) and section or nil
end

--- The file that a tool line is about, if the cursor is on one.
---@param chat winnow.Chat
---@return string? path
local function tool_file(chat)
  local name = vim.api.nvim_get_current_line():match('^▸ %S+ (.+) %S+$')
  local path = name and vim.fs.joinpath(vim.startswith(name, '/') and '' or chat.cwd, name)
  return path and vim.fn.filereadable(path) == 1 and path or nil
end

--- The window of this tab that shows a file.
local function window_of(path)
  local files = require('winnow.files')
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    local buf = vim.api.nvim_win_get_buf(win)
    local name = vim.api.nvim_buf_get_name(buf)
    return vim.bo[buf].buftype == '' and name ~= '' and files.real(name) == files.real(path)
  end)
end

--- Open a file beside the chat: in the window before this one, or in a new one, unless there is
--- one that shows it.
---@param path string
---@param line? integer from 1
function M.open_beside(path, line)
  local here, shown = vim.api.nvim_get_current_win(), window_of(path)
  if shown then
    vim.api.nvim_set_current_win(shown)
  else
    vim.cmd.wincmd('p')
    local stays = vim.bo.buftype ~= '' or vim.wo.winfixbuf or vim.bo.modified and not vim.o.hidden
    if vim.api.nvim_get_current_win() == here or stays then
      vim.api.nvim_set_current_win(here)
      local mods = { vertical = true, split = 'leftabove' }
      vim.cmd.split({ path, mods = mods, magic = { file = false } })
    else
      vim.cmd.edit({ path, magic = { file = false } })
    end
  end
  if line then
    vim.cmd("normal! m'") -- CTRL-O leads back
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line, last)), 0 })
    vim.cmd('normal! zv')
  end
end

--- `<CR>` means go: confirm the section, send the draft, reopen the record under the cursor.
function M.go()
  local chat = current()
  if not chat then
    return
  end
  local section = section_here()
  local record = marker.of(vim.api.nvim_get_current_line())
  if section then
    section:confirm()
  elseif cursor_row() >= chat:heading_row() then
    chat:send()
  elseif record and record.slot == 'r' then
    chat:tell('reopen', { section = record.id })
  elseif tool_file(chat) then
    M.open_beside(tool_file(chat))
  else
    vim.cmd.normal({ vim.v.count1 .. '\r', bang = true })
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
  local chat = current()
  if chat then
    chat:send()
  end
end

function M.stop()
  local chat = current()
  if chat then
    chat:stop()
  end
end

--- Ask what there is to discuss about the open section.
function M.discuss()
  local chat = current()
  local section = chat and chat.section
  vim.ui.input({ prompt = 'Discuss: ' }, function(text)
    if text and (chat and chat.section) == section then
      require('winnow.command').subcommands.discuss({}, text)
    elseif text then
      require('winnow.say')('What you wanted to discuss is no longer open.', 'warn')
    end
  end)
end

function M.allow()
  require('winnow.inbox').grant('allow')
end

function M.always()
  require('winnow.inbox').grant('always')
end

--- Ask for the reason; without one it is denied all the same.
function M.deny()
  local inbox = require('winnow.inbox')
  local item = inbox.asked('deny')
  if item then
    vim.ui.input({ prompt = ('Deny %s, because: '):format(item.pending.title) }, function(reason)
      if reason then
        inbox.grant('deny', vim.trim(reason), item)
      end
    end)
  end
end

--- Map `<CR>` in a chat buffer.
---@param buf integer
function M.map(buf)
  vim.keymap.set(
    'n',
    '<CR>',
    '<Plug>(winnow-go)',
    -- nowait: a mapping of two <CR> elsewhere would make this one wait
    { buffer = buf, nowait = true, desc = 'Winnow: send or confirm' }
  )
end

--- `<Esc>` is mapped only while the cursor stands in an open section, so that everywhere else it
--- does what it did, the user's own mapping of it included. The preview follows, too.
---@param chat winnow.Chat
function M.follow(chat)
  if vim.api.nvim_get_current_buf() ~= chat.buf then
    return
  end
  local inside = section_here() ~= nil
  if inside and not chat.esc_mapped then
    vim.keymap.set(
      'n',
      '<Esc>',
      '<Plug>(winnow-cancel)',
      { buffer = chat.buf, nowait = true, desc = 'Winnow: cancel' }
    )
  elseif chat.esc_mapped and not inside then
    pcall(vim.keymap.del, 'n', '<Esc>', { buffer = chat.buf }) -- it may be gone: `:nmapclear`
  end
  chat.esc_mapped = inside
  if chat.section then
    chat.section:peek(inside)
  end
end

return M
