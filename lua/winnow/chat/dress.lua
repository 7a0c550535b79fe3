--- What a chat sets in its buffer and in the windows that show it, and nowhere else.
local grammar = require('winnow.grammar')
local registry = require('winnow.registry')
local view = require('winnow.section.view')

local M = {}

-- Markers are hidden on the cursor line too, in every mode.
local OPTIONS = {
  conceallevel = 2,
  concealcursor = 'nvic',
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1', -- by 'formatlistpat'
  smoothscroll = true, -- else a paragraph taller than the window would leave that empty
  foldmethod = 'manual',
  foldtext = '',
  foldlevel = 0,
  foldenable = true,
}

-- Nothing typed may break a line or begin one: an option is one line, its note included. And a chat
-- has signs that only Unicode has. It is written whatever its file may be, and of one that is read
-- only Neovim would warn for a second.
local TEXT = {
  readonly = false,
  textwidth = 0,
  wrapmargin = 0,
  fileencoding = 'utf-8',
  fileformat = 'unix',
  bomb = false,
}

-- How far wrapped rows hang: as wide as what matches. Of an option those are two bytes, which
-- Neovim does not look for at the start of the line: the mark before it is drawn. Of other lines of
-- ours they are as many as their sign and its blank are wide, for Neovim may count bytes.
local SIGNS = grammar.TOOL .. grammar.OUTPUT .. grammar.NOTICE .. grammar.KEPT .. grammar.REFUSED
local STATES = grammar.UNDECIDED .. grammar.TOOL .. grammar.KEPT -- of what is to be done
local LISTS = table.concat({
  [[^\s*\%([-*+]\|\d\+[.)]\)\s\+]],
  [[^\%(>\s\=\)\+]], -- quotes
  [[^[-+]\ze\S]], -- what a diff adds and removes
  ([[^\d%s\zs[ -~]\{2}]]):format(grammar.QUEUED),
  grammar.MARKER .. [[\w\+=\d\+\zs=\d]],
  ('^%s%s'):format(grammar.RULE:rep(2), [[ \zs\w\{3}]]),
  ('^%s [%s]%s'):format(grammar.OUTPUT, STATES, [[ \zs[ -~]\{4}]]),
  ('^[%s]%s'):format(SIGNS, [[ \zs[ -~]\{2}]]),
}, [[\|]])

--- Whether a window was split off another one, whose options it has: the user's, by now.
---@param win integer
---@param buf integer
---@return boolean
local function is_split(win, buf)
  local from = vim.fn.win_getid(vim.fn.winnr('#'))
  return from ~= 0
    and vim.w[from].winnow_dressed == buf
    and vim.iter(pairs(OPTIONS)):all(function(name)
      return vim.wo[win][name] == vim.wo[from][name]
    end)
end

--- Set the options for this buffer in this window; other buffers of the window keep theirs. Done
--- once: later the user may want long lines or all folds open. Only markers stay hidden.
---@param win integer
function M.window(win)
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.w[win].winnow_dressed ~= buf and is_split(win, buf) then
    vim.w[win].winnow_dressed = buf
  end
  if vim.w[win].winnow_dressed == buf then
    M.reconceal(win)
    return
  end
  vim.w[win].winnow_dressed = buf
  for name, value in pairs(OPTIONS) do
    if vim.wo[win][name] ~= value then
      vim.wo[win][0][name] = value
    end
  end
  -- A closed fold is a tool's line, without dots after it.
  vim.wo[win][0].fillchars = vim.go.fillchars .. (vim.go.fillchars == '' and '' or ',') .. 'fold: '
end

--- A buffer is read anew, and Neovim may have forgotten what its windows had.
---@param buf integer
function M.forget(buf)
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.w[win].winnow_dressed == buf then
      vim.w[win].winnow_dressed = nil
    end
  end
end

local CONCEAL = { 'conceallevel', 'concealcursor' }

--- Put conceal options back after a plugin or user changed them: a marker must never peek through.
---@param win integer
function M.reconceal(win)
  local of = { win = win }
  for _, name in ipairs(CONCEAL) do
    if vim.api.nvim_get_option_value(name, of) ~= OPTIONS[name] then
      vim.wo[win][0][name] = OPTIONS[name]
    end
  end
end

-- How plugins that animate scrolling are told to leave a buffer alone. A text that grows goes on
-- meanwhile, and they would put the cursor where it was to be before.
local STILL = { minianimate_disable = true, snacks_scroll = false }

--- What a buffer needs to be a chat.
---@param chat winnow.Chat
function M.buffer(chat)
  local options = vim.bo[chat.buf]
  options.bufhidden = 'hide' -- a closed window keeps its question
  options.modeline = false -- a file is data, whatever it says
  options.autoread = false -- see `Chat:save`
  if chat.owner or options.buftype == 'acwrite' then -- else it is as the user has it
    options.modifiable = not chat.owner
    options.buftype = chat.owner and 'acwrite' or '' -- written by autocommands of ours only
  end
  options.keywordprg = ':Winnow preview'
  options.filetype = 'winnow'
  options.indentexpr = "v:lua.require'winnow.chat.dress'.indent()"
  options.indentkeys = 'o,O'
  options.formatlistpat = LISTS
  for name, value in pairs(STILL) do
    vim.b[chat.buf][name] = vim.F.if_nil(vim.b[chat.buf][name], value)
  end
  M.text(chat.buf)
end

--- Set an option of a buffer; the buffer is no more modified than before.
---@param buf integer
---@param name string
---@param value any
local function put(buf, name, value)
  local options = vim.bo[buf]
  local modified, modifiable = options.modified, options.modifiable
  options.modifiable = true -- else some can't be set
  options[name] = value
  options.modifiable = modifiable
  options.modified = options.modified and modified
end

--- Put back how text is broken and written, whoever has set it since. Comes often: vim.bo is slow.
---@param buf integer
function M.text(buf)
  local get, of = vim.api.nvim_get_option_value, { buf = buf }
  for name, value in pairs(TEXT) do
    if get(name, of) ~= value then
      put(buf, name, value)
    end
  end
  local format = get('formatoptions', of) ---@type string
  if format:find('[tcaro]') then
    put(buf, 'formatoptions', (format:gsub('[tcaro]', '')))
  end
end

--- The 'indentexpr' of chats. The first column of a diff is for signs: the blank of a line that
--- stays is no indent, which 'autoindent' would give to a new line below.
---@return integer
function M.indent()
  local chat = registry.current()
  local row = vim.v.lnum - 1
  for _, body in ipairs(chat and chat.section and view.bodies(chat.section) or {}) do
    if body.info == 'diff' and row > body.first and row < body.last then
      return 0
    end
  end
  return -1 -- as 'autoindent' has it
end

return M
