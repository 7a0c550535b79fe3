--- All chats of this user: the list of them, what is done to their files, and sessions that become
--- chats.
local branches = require('winnow.chat.branches')
local chats = require('winnow.chats')
local context = require('winnow.context.draft')
local directory = require('winnow.chat.directory')
local files = require('winnow.chat.files')
local frontmatter = require('winnow.chat.frontmatter')
local list = require('winnow.views.list')
local lock = require('winnow.chat.lock')
local outline = require('winnow.chat.outline')
local page = require('winnow.views.page')
local registry = require('winnow.registry')
local say = require('winnow.say')
local transcript = require('winnow.chat.transcript')
local trim = require('winnow.trim')
local window = require('winnow.window')

---@class (partial) winnow.Chat
---@field gone? boolean its file is in the trash: nothing is written any more

local M = {}

---@return string
local function trash()
  return vim.fs.joinpath(vim.fs.dirname(files.dir()), 'trash')
end

---@type winnow.ListKind
local KIND = { hint = '<CR> opens · edit titles, dd deletes · :w does it' }

--- List chats.
---@param cwd string the project whose sessions are listed with them
---@param about string a text that they hold, `%`: the branches of the current one; empty: all
---@param mods? table command modifiers
function M.open(cwd, about, mods)
  local chat = registry.current()
  if about == '%' and not chat then
    say('winnow: this is not a chat, so % has no branches.', 'warn')
    return
  end
  local family = about == '%' and chat and chat.path or ''
  local which = { cwd = cwd, about = family == '' and about or '', family = family }
  page.tell('findchats', which)
  list.open('chats', 0, mods, KIND)
end

--- The message of the user's under the cursor, or the one that follows Claude's there.
---@param chat winnow.Chat
---@return integer row
---@return integer after the row of the next message
---@return integer nth which of the user's it is, from 0
local function message_here(chat)
  local here, heading = vim.api.nvim_win_get_cursor(0)[1] - 1, chat:heading_row()
  local all, nth, at = outline.all(chat), 0, 1
  for i, message in ipairs(all) do
    at = message.row <= here and i or at
  end
  while all[at] and all[at].who ~= 'You' do
    at = at + 1
  end
  for i = 1, at - 1 do
    nth = nth + (all[i].who == 'You' and 1 or 0)
  end
  return all[at] and all[at].row or heading, all[at + 1] and all[at + 1].row or heading, nth
end

--- Fork the chat of the current buffer before the message of the user's under the cursor, or after
--- that of Claude's.
function M.fork()
  registry.with_current(function(chat)
    local values, last = frontmatter.read(chat.buf)
    local row, after, nth = message_here(chat)
    local draft = row == chat:heading_row()
    local said = draft and '' or trim.both(table.concat(chat:lines(row + 1, after), '\n'))
    local above = trim.both(table.concat(chat:lines((last or 0) + 1, row), '\n'))
    local cwd, more = branches.values(chat)
    page.tell('fork', {
      path = chat.path,
      cwd = cwd,
      values = more,
      session = values.session or '',
      text = context.words(said),
      nth = nth,
      lines = above ~= '' and vim.split(above, '\n', { plain = true }) or {},
    })
  end)
end

--- Go on with a session of a project.
---@param cwd string
---@param about string its id, or a part of its title; empty: the user picks one
function M.resume(cwd, about)
  page.tell('resume', { cwd = cwd, about = about })
end

--- Let the user pick a line of a list.
---@param name string the list's
---@param of integer the buffer of the chat whose list it is; 0: of all
---@param prompt string
---@param choices winnow.Choice[]
function M.pick(name, of, prompt, choices)
  vim.ui.select(choices, {
    prompt = prompt,
    kind = 'winnow',
    format_item = function(choice)
      return choice.text
    end,
  }, function(choice)
    if choice then
      page.tell('pickline', { name = name, of = of, key = choice.key, peek = false })
    end
  end)
end

--- The chat of a file, where it is loaded here.
---@param path string
---@return winnow.Chat?
local function loaded(path)
  return vim.iter(registry.all()):find(function(chat)
    return chat.path == path and vim.api.nvim_buf_is_loaded(chat.buf)
  end)
end

--- A place in the trash that nothing has yet.
---@param path string
---@return string
local function place(path)
  local target, count = vim.fs.joinpath(trash(), vim.fs.basename(path)), 0
  while vim.uv.fs_stat(target) do
    count = count + 1
    target = ('%s/%d-%s'):format(trash(), count, vim.fs.basename(path))
  end
  return target
end

--- Put a chat's file into the trash.
---@param path string
---@return string? problem
local function put_away(path)
  local chat = loaded(path)
  local head = frontmatter.parse(vim.split(files.read(path), '\n', { plain = true }))
  local elsewhere = lock.owner(path) -- whose agent may be at work in its worktree
  if chat then
    chat:save() -- the draft, too
    if chat.unwritten then
      return chat.unwritten
    end
  end
  local made = pcall(vim.fn.mkdir, trash(), 'p', tonumber('700', 8))
  local moved, problem
  if vim.uv.fs_stat(path) then
    moved, problem = vim.uv.fs_rename(path, place(path))
  else
    moved = true -- nothing was said in it, or another Neovim was first
  end
  if not moved then
    return made and problem or ('the folder %s is missing'):format(trash())
  end
  if chat then
    vim.bo[chat.buf].modified = false
    chat.gone = true
    vim.api.nvim_buf_delete(chat.buf, { force = true })
  end
  if head.branch and not elsewhere and files.is_tree(head.worktree or '') then
    -- After the host knows that the chat is closed.
    page.tell('leavetree', {
      path = path,
      cwd = files.place(head.worktree),
      project = files.place(head.cwd or ''),
      branch = head.branch,
    })
  end
end

--- Close chats, and put their files into the trash.
---@param paths string[]
function M.discard(paths)
  local done, problem = 0, nil
  for _, path in ipairs(paths) do
    local why = put_away(path)
    problem = why and ('Not deleted: %s'):format(why) or problem
    done = why and done or done + 1
  end
  if problem then
    say(problem .. '.', 'warn')
  else
    local what = done == 1 and 'The chat is' or ('%d chats are'):format(done)
    say(('%s in the trash: see :Winnow restore.'):format(what))
  end
  local shown = list.get('chats')
  if shown then
    shown:tell('watchlist', { open = true }) -- it is read anew
  end
end

--- Give a chat a title.
---@param path string
---@param title string
function M.retitle(path, title)
  local chat = loaded(path)
  local owner = lock.owner(path)
  if chat and chat:mine() then
    transcript.meta(chat, { title = title })
    chat:save()
    return
  elseif owner then
    say('Another Neovim has this chat: rename it there.', 'warn')
    return
  end
  local lines = vim.split((files.read(path):gsub('\n$', '')), '\n', { plain = true })
  local _, last = frontmatter.parse(lines)
  if not last then
    say(('%s is no chat any more.'):format(vim.fs.basename(path)), 'warn')
    return
  end
  local block = frontmatter.merged(vim.list_slice(lines, 2, last), { title = title })
  local all = vim.list_extend({ lines[1] }, block)
  vim.list_extend(all, lines, last + 1)
  local ok, done = pcall(files.replace, path, function(put)
    put(table.concat(all, '\n') .. '\n')
  end)
  if not (ok and done) then
    local why = ok and 'its folder is read-only' or tostring(done)
    say(('The chat could not be renamed: %s.'):format(why), 'error')
  end
end

--- Go to a chat's buffer: from the list of chats in the window of that, which CTRL-O shows again.
---@param buf integer
local function go(buf)
  local shown = list.get('chats')
  if shown and shown.buf == vim.api.nvim_get_current_buf() and vim.fn.bufwinid(buf) == -1 then
    vim.api.nvim_set_current_buf(buf)
    local chat = registry.get(buf)
    if chat then
      chat:to_draft(vim.api.nvim_get_current_win())
    end
  else
    window.show(buf)
  end
end

--- Go to the chat of a file.
---@param path string
function M.go(path)
  if loaded(path) or vim.uv.fs_stat(path) then
    go(directory.load(path))
  else
    local sentence = '%s is gone; :Winnow restore lists what was deleted.'
    say(sentence:format(vim.fs.basename(path)), 'warn')
  end
end

--- Make a chat of what was said elsewhere, and go there.
---@param cwd string
---@param values table<string, string> more frontmatter
---@param lines string[] what stands above the draft
---@param draft string
---@param late boolean the user may be elsewhere by now, and stays there then
function M.adopt(cwd, values, lines, draft, late)
  local parent = registry.current()
  local is_there = vim.startswith(vim.api.nvim_get_mode().mode, 'n')
    and parent
    and vim.fs.basename(parent.path) == values.fork
  local buf = directory.create(cwd, values)
  local levels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = -1
  local _, last = frontmatter.read(buf)
  if last and #lines > 0 then
    vim.api.nvim_buf_set_lines(buf, last + 1, last + 1, false, vim.list_extend({ '' }, lines))
  end
  vim.bo[buf].undolevels = levels
  local chat = chats.attach(buf)
  if draft ~= '' then
    chat:append_draft(vim.split(draft, '\n', { plain = true }))
  end
  chat:save()
  for _, other in ipairs(registry.all()) do
    local of = vim.fs.basename(other.path) == values.fork
    if values.fork and (of or other == chat) and other:mine() then
      other:tell('findbranches', {})
    end
  end
  if is_there or not late then
    go(buf)
  else
    say('The branch with the summary is there: :Winnow chats lists it first.')
  end
end

return M
