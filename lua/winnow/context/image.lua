--- The clipboard's image: a file beside the chats, which the draft mentions.
local files = require('winnow.chat.files')
local python = require('winnow.python')
local registry = require('winnow.registry')
local say = require('winnow.say')
local trim = require('winnow.trim')

local M = {}

local TYPE = 'image/png'
-- Each gives the image on its standard output, where there is one.
local TOOLS = {
  { on = 'WAYLAND_DISPLAY', command = { 'wl-paste', '--no-newline', '--type', TYPE } },
  { on = 'DISPLAY', command = { 'xclip', '-selection', 'clipboard', '-t', TYPE, '-o' } },
  { command = { 'pngpaste', '-' } },
}
local PNG = '\137PNG'
local KINDS = { png = true, jpg = true, jpeg = true, gif = true, webp = true }
local watched = false

--- The command that gives the clipboard's image here.
---@return string[]?
function M.tool()
  for _, tool in ipairs(TOOLS) do
    local there = not tool.on or (vim.env[tool.on] or '') ~= ''
    local program = there and python.program(tool.command[1])
    if program then
      return vim.list_extend({ program }, tool.command, 2)
    end
  end
end

--- Put the name of a file where the cursor is in the draft, or at the draft's end.
---@param chat winnow.Chat
---@param path string
local function mention(chat, path)
  local text = path:find('%s') and ('@"%s"'):format(path) or '@' .. path
  local here = vim.api.nvim_get_current_buf() == chat.buf
  if here and vim.api.nvim_win_get_cursor(0)[1] > chat:heading_row() + 1 then
    vim.api.nvim_put({ text .. ' ' }, 'c', vim.api.nvim_get_mode().mode == 'n', true)
  else
    chat:append_draft({ text .. ' ' })
  end
end

--- A pasted path of an image as a mention; terminals quote it, or put backslashes before blanks.
---@param text string
---@return string?
local function dropped(text)
  local path = trim.both(text):gsub('^file://', ''):gsub('^(["\'])(.*)%1$', '%2')
  path = path:gsub('\\(.)', '%1')
  local kind = (path:match('^[~/].*%.(%w+)$') or ''):lower()
  -- Not by expand(), to which backticks in a name are a command to run.
  local file = vim.fs.normalize(path, { expand_env = false })
  if KINDS[kind] and not path:find('\n') and vim.fn.filereadable(file) == 1 then
    return path:find('%s') and ('@"%s" '):format(path) or ('@%s '):format(path)
  end
end

--- From now on, an image that is dropped on a chat is mentioned there.
function M.watch()
  if watched then
    return
  end
  watched = true
  local before = vim.paste
  ---@param lines string[]
  ---@param phase integer
  ---@return boolean?
  vim.paste = function(lines, phase)
    local chat = phase == -1 and #lines == 1 and registry.current()
    local mentioned = chat and not chat.section and dropped(lines[1])
    return before(mentioned and { mentioned } or lines, phase)
  end
end

--- Keep an image as a file that only the user can read.
---@param bytes string
---@return string path
local function keep(bytes)
  local folder = files.dir() .. '/images'
  vim.fn.mkdir(folder, 'p', tonumber('700', 8))
  local path ---@type string
  for i = 1, math.huge do
    path = ('%s/%s-%d.png'):format(folder, os.date('%Y%m%d-%H%M%S'), i)
    local file = vim.uv.fs_open(path, 'wx', tonumber('600', 8))
    if file then
      vim.uv.fs_write(file, bytes)
      vim.uv.fs_close(file)
      return path
    end
    assert(i < 100, 'no image can be written to ' .. folder)
  end
  return path
end

--- Mention the clipboard's image in the draft.
function M.paste()
  local tool = M.tool()
  registry.with_current(function(chat)
    if not tool then
      say('To paste an image, install wl-paste, xclip or pngpaste; or mention its file.', 'warn')
      return
    end
    vim.system(
      tool,
      { timeout = 5000 },
      vim.schedule_wrap(function(out)
        if not vim.startswith(out.stdout or '', PNG) then
          say('There is no image in the clipboard.', 'warn')
        elseif vim.api.nvim_buf_is_loaded(chat.buf) then
          mention(chat, keep(out.stdout))
        end
      end)
    )
  end)
end

return M
