--- A window that goes to the files that the agent reads and writes, when the user wants that.
local files = require('winnow.chat.files')
local say = require('winnow.say')
local window = require('winnow.window')

local M = {}

---@class (partial) winnow.Chat
---@field follows? { win: integer, buf: integer } where, and what it has put there; 0: nowhere yet

--- Switch it on or off.
---@param chat winnow.Chat
function M.toggle(chat)
  if chat.follows then
    chat.follows = nil
    say('The files that Claude reads and writes are no longer shown.')
  else
    chat.follows = { win = 0, buf = 0 }
    say('The files that Claude reads and writes are shown beside the chat.')
  end
end

--- The window for it: the one before, as long as the user has put nothing else there; else a new
--- one beside the chat, which takes no focus.
---@param chat winnow.Chat
---@return integer? win nil: the chat is not to be seen here, or the user reads in it just now
local function window_of(chat)
  local was = chat.follows
  local there = vim.api.nvim_win_is_valid(was.win) and vim.api.nvim_win_get_buf(was.win) == was.buf
  if there then
    return was.win ~= vim.api.nvim_get_current_win() and was.win or nil
  end
  local beside = vim.fn.bufwinid(chat.buf) -- in this tab page
  if beside == -1 or vim.fn.getcmdwintype() ~= '' then
    return nil
  end
  local split = window.beside('right').vertical and 'right' or 'above'
  local ok, win = pcall(vim.api.nvim_open_win, chat.buf, false, { split = split, win = beside })
  return ok and win or nil -- there was no room
end

--- The row of the first line that holds this text.
---@param buf integer
---@param text string
---@return integer? row from 1
local function find(buf, text)
  for row, line in ipairs(text ~= '' and vim.api.nvim_buf_get_lines(buf, 0, -1, false) or {}) do
    if line:find(text, 1, true) then
      return row
    end
  end
end

--- The agent is in a file.
---@param chat winnow.Chat
---@param path string
---@param line integer from 1; 0: where the text is
---@param text string
function M.show(chat, path, line, text)
  path = files.whole(path, chat.cwd)
  local stat = chat.follows and vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or vim.fn.filereadable(path) == 0 then
    return -- also a pipe, for which Neovim would wait
  end
  local win = window_of(chat)
  if not win then
    return
  end
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].buflisted = true
  local ok = pcall(vim.api.nvim_win_call, win, function()
    vim.cmd.buffer({ buf, mods = { silent = true, keepalt = true, noswapfile = true } })
    local row = line > 0 and line or find(buf, text) or 1
    vim.api.nvim_win_set_cursor(win, { math.min(row, vim.api.nvim_buf_line_count(buf)), 0 })
    vim.cmd.normal({ 'zvzz', bang = true })
  end)
  if ok then
    chat.follows = { win = win, buf = buf }
  end
end

return M
