--- What other parts of a configuration can hear of: `User` autocommands, and a word to the user
--- when something waits in a chat that is not in front.
local config = require('winnow.config')
local registry = require('winnow.registry')
local say = require('winnow.say')

local M = {}

local focused = true -- this Neovim has the terminal's focus, as far as the terminal tells

vim.api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, {
  group = vim.api.nvim_create_augroup('winnow.events', {}),
  callback = function(event)
    focused = event.event == 'FocusGained'
  end,
})

-- What a terminal turns into a notification of the desktop.
local SEQUENCES = {
  bell = '\a',
  osc9 = '\27]9;%s\a',
  osc777 = '\27]777;notify;Winnow;%s\a',
}

--- Text that a terminal only shows: what is unprintable in a window, such as controls, halves of
--- characters and what turns the direction, is spelled out; 'isprint' may let some of it through.
---@param text string
---@return string
local function harmless(text)
  text = vim.fn.strtrans((text:gsub('%z', ' '))):gsub('\194[\128-\159]', ' ')
  return (text:gsub('[%c;]', ' '))
end

--- Ask the terminal for attention, if the user wants that.
---@param text string
local function alert(text)
  local sequence = SEQUENCES[config.get().alert]
  if sequence then
    -- Neovim hands what comes on its stderr to the terminal as it is.
    vim.fn.chansend(vim.v.stderr, (sequence:format(harmless(text))))
  end
end

local SOON = 100 -- milliseconds in which what waits stands in its buffer, too

--- Whether a window shows some of the section of a chat, if one is open.
---@param chat winnow.Chat
---@return boolean
local function in_sight(chat)
  if not chat.section then
    return true
  end
  local first, after = chat.section:rows()
  return vim.iter(vim.fn.win_findbuf(chat.buf)):any(function(win)
    return vim.fn.line('w$', win) > first and vim.fn.line('w0', win) <= after
  end)
end

--- Something waits: say so, unless the user looks at it. Focus stays where it is.
---@param chat winnow.Chat
---@param data table
---@param was? winnow.Chat where the user was when it came; it stands in its buffer since
local function call_user(chat, data, was)
  local here = focused and registry.current() or nil
  local coming = not chat.section and chat.announced[data.section] -- the host, or Neovim, is busy
  if here and (here == chat or here.task) and (not was or coming) then
    vim.defer_fn(function()
      if registry.get(chat.buf) == chat then -- else its buffer is gone
        call_user(chat, data, was or here)
      end
    end, SOON)
    return
  elseif here == chat and in_sight(chat) or here ~= chat and was == chat then
    return
  elseif here and here ~= chat and here.section and here.section.id == data.section then
    return
  end
  local where = here == chat and '' or ' in ' .. vim.fs.basename(chat.cwd)
  local text = ('Claude waits%s: %s. :Winnow next goes there.'):format(where, data.title)
  say(text)
  alert(text)
end

--- Something happened in a chat.
---@param chat winnow.Chat
---@param name string without the `Winnow` before it
---@param data table documented in |winnow-events|
function M.fire(chat, name, data)
  data.buf = chat.buf
  vim.api.nvim_exec_autocmds('User', { pattern = 'Winnow' .. name, data = data, modeline = false })
  if name == 'Question' then
    call_user(chat, data)
  end
end

return M
