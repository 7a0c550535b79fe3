--- A chat's file: whose it is, and when it is written.
local directory = require('winnow.chat.directory')
local files = require('winnow.chat.files')
local handover = require('winnow.handover')
local lock = require('winnow.chat.lock')
local log = require('winnow.log')
local registry = require('winnow.registry')
local say = require('winnow.say')
local steps = require('winnow.chat.steps')
local transcript = require('winnow.chat.transcript')
local trim = require('winnow.trim')
local undo = require('winnow.chat.undo')
local uninterrupted = require('winnow.uninterrupted')

---@class (partial) winnow.Chat
local Chat = {}

--- Whether this Neovim has the chat. One that finds it taken reads it from now on.
---@return boolean
function Chat:mine()
  if not self.owner and not lock.mine(self.path) then
    handover.resign(self)
  end
  return self.owner == nil
end

--- The same, and say so if it has not.
---@return boolean
function Chat:mine_or_say()
  local mine = self:mine()
  if not mine then
    say(handover.sentence(self.owner))
  end
  return mine
end

local BEGINNING = 200 -- lines, in which something is said where anything is
local AT_ONCE = 1000 -- lines that are in memory twice while all are written
local PATIENCE = 5000 -- milliseconds until a file that could not be written is tried again

--- The file could not be written, which is tried again.
---@param self winnow.Chat
---@param problem string an error of Neovim's, or a sentence
---@param by_user? boolean who wants to know each time; else it is said once
local function failed(self, problem, by_user)
  local said = problem:match('E%d+: ([^\n]*)') -- Neovim's, with the system's words behind its own
  local why = said and trim.both(said:match('[^:]*$'))
    or problem:match('E%u+: ([^:\n]*)')
    or problem:match('[^\n]*')
  if by_user or not self.unwritten then
    log.write(('%s could not be written: %s'):format(self.path, said or why))
    say(('The chat could not be written: %s. It is tried again.'):format(why), 'warn')
  end
  self.unwritten = why
  self:show_state()
  self.retry = self.retry or assert(vim.uv.new_timer())
  self.retry:start(
    PATIENCE,
    0,
    vim.schedule_wrap(function()
      if registry.get(self.buf) == self and vim.api.nvim_buf_is_loaded(self.buf) then
        self:save()
      end
    end)
  )
end

--- The file was written.
---@param self winnow.Chat
local function written(self)
  self:remember_file()
  if self.unwritten then
    self.unwritten = nil
    self:show_state()
    say('The chat is written again.')
  end
end

--- The file is now as this Neovim has written or read it.
function Chat:remember_file()
  self.stamp, self.saved = files.stamp(self.path), files.digest(self.path)
end

--- A chat in which nothing is said needs no file, and leaves none: what the user has emptied goes.
---@param self winnow.Chat
---@return boolean done
local function forgo(self)
  -- Its beginning first and the file last: a long one takes long to look through.
  local empty = not self.section
    and files.own(self.path)
    and directory.is_blank(self:lines(0, BEGINNING))
    and directory.is_blank(self:lines(0, -1))
    and (self.saved == '' or not directory.is_blank(vim.split(self.saved, '\n')))
  if not empty or not os.remove(self.path) and vim.uv.fs_stat(self.path) then
    return false
  end
  vim.bo[self.buf].modified = false
  written(self)
  return true
end

--- Have Neovim write, which leaves the file to `Chat:put`.
---@param self winnow.Chat
---@param by_user? boolean
local function write(self, by_user)
  local function act()
    -- keepalt and lockmarks: a save by itself must leave no trace in the user's editing.
    vim.cmd('silent lockmarks keepalt write!')
    if vim.bo.undofile and not vim.bo.modified then
      vim.cmd.wundo({ vim.fn.undofile(self.path), bang = true, magic = { file = false } })
    end
  end
  self.saving = true
  local ok, problem = pcall(uninterrupted, function()
    vim.api.nvim_buf_call(self.buf, act)
  end)
  self.saving = false
  if ok and not vim.bo[self.buf].modified then
    written(self)
  else
    failed(self, self.problem or ok and 'for no known reason' or tostring(problem), by_user)
  end
end

--- Write the chat's file. It is this Neovim's, so what another program has written meanwhile stays
--- beside it: a session goes on from the text that is here.
---@param by_user? boolean also where it holds nothing
function Chat:save(by_user)
  if self.gone then
    return
  end
  if vim.bo[self.buf].undofile and not undo.is_typed(self.buf) then
    undo.restore(self)
  end
  if not self.owner then
    transcript.keep_frontmatter(self)
  end
  local now = files.stamp(self.path)
  local unchanged = not vim.bo[self.buf].modified and now == self.stamp
  if not self:mine() or unchanged and not (by_user and now == '') then
    return
  end
  if not by_user and (now == '' or now == self.stamp) and forgo(self) then
    return
  end
  -- Time alone tells too much: whatever copies files may set it.
  local other = now ~= '' and now ~= self.stamp and files.digest(self.path) ~= self.saved
  local copy = other and files.set_aside(self.path)
  if other and not copy then
    failed(self, 'there is no room for what another program wrote there', by_user)
    return
  end
  if self:heading_row() ~= self.counted_at then
    self:count_above() -- the user may have pasted or deleted some
  end
  write(self, by_user)
  if copy then
    vim.schedule(function() -- after what Neovim itself says of the file
      say(('%s has what another program wrote into this chat.'):format(copy), 'warn')
    end)
  end
end

--- Let others change the text before it is written, as formatters do. What was said stays.
---@param self winnow.Chat
---@param fire fun()
local function formatted(self, fire)
  ---@return string[] lines above what is the user's
  local function said()
    return self:lines(0, self.section and self.section:rows() or (self:heading_row()))
  end
  local before = said()
  fire()
  local after = said()
  local change = steps.difference(after, before)
  if change then
    self:as_host(function()
      local last = change.row + #change.old
      vim.api.nvim_buf_set_lines(self.buf, change.row, last, false, change.new)
    end)
  end
  self:heal()
end

--- `:write` by the user: as for any file.
function Chat:write()
  ---@param event string
  local function fire(event)
    vim.api.nvim_exec_autocmds(event, { buffer = self.buf, modeline = false })
  end
  formatted(self, function()
    fire('BufWritePre')
  end)
  self:save(true)
  if not vim.bo[self.buf].modified then
    fire('BufWritePost')
    local name, count = vim.fs.basename(self.path), vim.api.nvim_buf_line_count(self.buf)
    local size = vim.api.nvim_buf_get_offset(self.buf, count)
    say(('"%s" %dL, %dB written'):format(name, count, size))
  end
end

--- Take the name of its file back, after `:saveas` or `:file`: what else is kept of a chat, and
--- which Neovim has it, is found by that.
function Chat:stay()
  local name = vim.api.nvim_buf_is_loaded(self.buf) and vim.api.nvim_buf_get_name(self.buf)
  if not name or name == self.path then
    return
  end
  vim.api.nvim_buf_set_name(self.buf, self.path)
  vim.bo[self.buf].modified = not self.owner -- to be written, or the next `:w` would want a `!`
  self:save()
  local copy = vim.uv.fs_stat(name) and ('; %s is a copy'):format(vim.fs.basename(name)) or ''
  say(('A chat stays in its file, where all of it is found again%s.'):format(copy))
end

--- Put the text into the file: what Neovim's `:write` by `Chat:save` leaves to us.
function Chat:put()
  local ok, done = pcall(uninterrupted, function()
    return files.replace(self.path, function(put)
      for row = 0, vim.api.nvim_buf_line_count(self.buf) - 1, AT_ONCE do
        put(table.concat(self:lines(row, row + AT_ONCE), '\n') .. '\n')
      end
    end)
  end)
  self.problem = not ok and tostring(done) or nil
  if ok and not done then
    files.prepare(self.path)
    vim.cmd('silent lockmarks keepalt noautocmd write!')
  elseif ok then
    vim.bo[self.buf].modified = false
  end
end

return Chat
