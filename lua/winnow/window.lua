--- Where buffers and files are shown.
local files = require('winnow.chat.files')
local registry = require('winnow.registry')
local say = require('winnow.say')

local M = {}

local floats = vim.api.nvim_create_namespace('winnow.float')

--- Whether the current window holds nothing that one would keep: no text, or what a plugin shows
--- at the start, which is alone and goes with its window.
---@return boolean
local function is_empty()
  if vim.bo.buftype == 'nofile' then
    local alone = vim.iter(vim.api.nvim_tabpage_list_wins(0)):all(function(win)
      return win == vim.api.nvim_get_current_win()
        or vim.api.nvim_win_get_config(win).relative ~= ''
    end)
    return alone and vim.bo.bufhidden == 'wipe' and not vim.bo.buflisted
  end
  local unnamed = vim.api.nvim_buf_get_name(0) == '' and vim.bo.buftype == ''
  return unnamed and not vim.bo.modified and vim.api.nvim_buf_line_count(0) == 1
end

--- Have Neovim open a window or a file. What it refuses, as where there is no room, is said in its
--- own words, and nothing where the user has said no to it, as to another one's swap file.
---@param command fun(args: table)
---@param args table
---@return boolean opened
local function opens(command, args)
  local opened, problem = pcall(command, args)
  local told = not opened and tostring(problem):match('Vim[^:]*:(E%d+: .*)')
  local asked = not opened and problem:find('Keyboard interrupt', 1, true)
  if not opened and not told and not asked then
    error(problem, 0)
  elseif told and not vim.startswith(told, 'E325') then
    say(told, 'error')
  end
  return opened
end

--- Whether command modifiers say where a window goes.
---@param mods table
---@return boolean
function M.is_given(mods)
  return mods.split ~= '' or mods.tab ~= -1 or mods.vertical or mods.horizontal
end

-- Options of a window in which whole lines are to be read, however narrow it is.
M.WRAPPED = { wrap = true, linebreak = true, breakindent = true, breakindentopt = 'shift:4' }

local COLUMNS = 50 -- that a window beside another one has at least

--- Where a new window goes: beside the others, as long as all of them are wide enough to read.
---@param split string where beside them
---@return vim.api.keyset.cmd.mods
function M.beside(split)
  local kind, shown = unpack(vim.fn.winlayout())
  local count = kind == 'row' and #shown or 1
  if vim.o.columns / (count + 1) >= COLUMNS then
    return { vertical = true, split = split }
  end
  return { split = split == 'leftabove' and 'aboveleft' or 'belowright' }
end

--- Whether the current window holds a chat, or a subagent of one.
---@return boolean
local function is_chat()
  return registry.current() ~= nil or vim.bo.filetype == 'winnowagent'
end

--- Whether the current window holds a list of ours, in the place of a chat.
---@param chat integer its buffer
---@return boolean
local function is_list_over(chat)
  return vim.startswith(vim.api.nvim_buf_get_name(0), 'winnow://') and vim.fn.bufnr('#') == chat
end

--- Show a buffer: where it is visible already, or in the current window when that holds nothing or
--- a chat, or in a new one at the right, or below where that is too narrow; command modifiers such
--- as :tab say otherwise.
---@param buf integer
---@param mods? table
---@param back? boolean a chat comes back where a list has taken its place
function M.show(buf, mods, back)
  local win = vim.fn.bufwinid(buf)
  local given = mods and M.is_given(mods)
  local free = not vim.wo.winfixbuf and (is_empty() or is_chat() or back and is_list_over(buf))
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
  elseif free and not given then
    vim.api.nvim_set_current_buf(buf)
  elseif not opens(vim.cmd.sbuffer, { buf, mods = given and mods or M.beside('botright') }) then
    return
  end
  if win == -1 then
    local chat = registry.get(buf)
    if chat then
      chat:to_draft(vim.api.nvim_get_current_win())
    end
  end
end

--- Rows of lines, the first from a column on.
---@param win integer
---@param first integer from 1
---@param skip integer columns
---@param last? integer the last line of all without it
---@return integer
local function height(win, first, skip, last)
  return vim.api.nvim_win_text_height(win, {
    start_row = first - 1,
    start_vcol = skip > 0 and skip or nil, -- else without what is drawn above it
    end_row = last and last - 1,
  }).all
end

--- Whether lines have less rows than a window, which then scrolls over them by itself.
---@param win integer
---@param lines string[]
---@return boolean
local function is_short(win, lines)
  local info = vim.fn.getwininfo(win)[1]
  local rows = #lines
  for _, line in ipairs(lines) do
    rows = rows + #line / (info.width - info.textoff)
  end
  return rows < info.height
end

--- Scroll back what leaves rows below the end of the text empty, as after a fold has closed.
---@param win integer
---@param grown? string[]|false what was only appended to a line, if nothing else has changed
function M.fill(win, grown)
  if grown and is_short(win, grown) then
    return
  end
  vim.api.nvim_win_call(win, function()
    if vim.fn.line('w$') < vim.fn.line('$') then
      return
    end
    local info, was = vim.fn.getwininfo(win)[1], vim.fn.winsaveview()
    local columns = info.width - info.textoff
    local top, skip = was.topline, was.skipcol
    local free = info.height - height(win, top, skip)
    while free > 0 and (skip > 0 or top > 1) do
      if skip == 0 then
        local closed = vim.fn.foldclosed(top - 1)
        top = closed > 0 and closed or top - 1
        local whole = closed > 0 or not vim.wo.smoothscroll
        skip = whole and 0 or height(win, top, 0, top) * columns
      end
      skip = math.max(0, skip - free * columns)
      free = info.height - height(win, top, skip)
    end
    if top < was.topline or skip < was.skipcol then
      vim.fn.winrestview({ topline = top, skipcol = skip })
    end
  end)
end

--- Have all of the cursor's line in sight, and what is drawn below it: that moves no window by
--- itself, and may cover the cursor.
---@param win integer
---@param below integer rows that are drawn below it
function M.whole(win, below)
  vim.api.nvim_win_call(win, function()
    local info, last = vim.fn.getwininfo(win)[1], vim.fn.line('.')
    local view = vim.fn.winsaveview()
    local top, skip = view.topline, view.skipcol
    local over = height(win, top, skip, last) + below - info.height
    if over <= 0 then
      return
    end
    while over > 0 and top < last do
      local first = height(win, top, skip, top)
      if first > over and vim.wo.smoothscroll then
        skip = skip + over * (info.width - info.textoff)
        break
      end
      top, skip = math.max(top, vim.fn.foldclosedend(top)) + 1, 0
      over = over - first
    end
    vim.fn.winrestview({ topline = math.min(top, last), skipcol = skip })
  end)
end

--- The window of this tab that shows a file.
---@param path string
---@return integer? win
local function window_of(path)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    local buf = vim.api.nvim_win_get_buf(win)
    local name = vim.api.nvim_buf_get_name(buf)
    return vim.bo[buf].buftype == '' and name ~= '' and files.real(name) == files.real(path)
  end)
end

--- Columns for text in the narrowest window of this tab page that shows the buffer, else of any.
---@param buf integer
---@return integer
function M.text_width(buf)
  local width, wins = 200, vim.fn.win_findbuf(buf)
  local here = vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage()
  end, wins)
  for _, win in ipairs(#here > 0 and here or wins) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

--- Have the windows of a buffer show what they show now, once it was written.
---@param buf integer
---@return fun() restore
function M.views(buf)
  local views = {} ---@type table<integer, table>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return function()
    for win, view in pairs(views) do
      vim.api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

--- Go to a line, which is not in a closed fold then; CTRL-O leads back.
---@param line integer from 1
function M.jump(line)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd('normal! zv')
end

--- A 'quickfixtextfunc' without the names of files, which all are alike.
---@param info table as 'quickfixtextfunc' has it
---@return string[]
function M.entries(info)
  local what = { id = info.id, items = true }
  local list = info.quickfix == 1 and vim.fn.getqflist(what) or vim.fn.getloclist(info.winid, what)
  return vim.tbl_map(function(item)
    return item.text
  end, vim.list_slice(list.items, info.start_idx, info.end_idx))
end

--- Open a file beside the chat: in the window before this one, or in a new one, unless there is
--- one that shows it.
---@param path string
---@param line? integer from 1
function M.open_beside(path, line)
  local here, shown = vim.api.nvim_get_current_win(), window_of(path)
  local magic, opened = { file = false }, true
  if shown then
    vim.api.nvim_set_current_win(shown)
  else
    vim.cmd.wincmd('p')
    local stays = vim.bo.buftype ~= '' or vim.wo.winfixbuf or vim.bo.modified and not vim.o.hidden
    if vim.api.nvim_get_current_win() == here or stays then
      vim.api.nvim_set_current_win(here)
      opened = opens(vim.cmd.split, { path, mods = M.beside('leftabove'), magic = magic })
    else
      opened = opens(vim.cmd.edit, { path, magic = magic })
    end
  end
  if line and opened then
    M.jump(math.max(1, math.min(line, vim.api.nvim_buf_line_count(0))))
  end
end

--- Lines were replaced, but the cursor is on what it was on: what floats there stays.
---@param buf integer
function M.stays(buf)
  local floating = vim.api.nvim_get_current_buf() == buf
    and #vim.api.nvim_buf_get_extmark_by_id(buf, floats, 1, {}) > 0
  if floating then
    local at = vim.api.nvim_win_get_cursor(0)
    vim.api.nvim_buf_set_extmark(buf, floats, at[1] - 1, at[2], { id = 1 })
  end
end

--- Markdown in a float until the user goes on; asked for again, the cursor goes into it. Text that
--- comes moves the cursor, too, but not from where it stands in the text.
---@param lines string[]
---@param id string which float it is
function M.float(lines, id)
  local buf, at = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)
  local _, win = vim.lsp.util.open_floating_preview(lines, 'markdown', {
    border = 'rounded',
    focus_id = id,
    close_events = { 'InsertCharPre' },
  })
  vim.api.nvim_buf_set_extmark(buf, floats, at[1] - 1, at[2], { id = 1 })
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
    group = vim.api.nvim_create_augroup('winnow.float', {}),
    buffer = buf,
    callback = function()
      local row, column = unpack(vim.api.nvim_buf_get_extmark_by_id(buf, floats, 1, {}))
      local cursor = vim.api.nvim_win_get_cursor(0)
      if cursor[1] ~= row + 1 or cursor[2] ~= column then
        pcall(vim.api.nvim_win_close, win, true) -- it may be closed
        return true
      end
    end,
  })
end

return M
