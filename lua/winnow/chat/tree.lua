--- The git worktree that a chat works in: its name and its folder. The host makes it.
local files = require('winnow.chat.files')

---@class (partial) winnow.Chat
---@field project? string the folder of the user's that the worktree of this chat stands for
---@field branch? string of that worktree, once it is made

local M = {}

-- What git takes for a part of a branch's name, and any disk for a folder's.
local NAME = '^[%w\128-\255][%w\128-\255._-]*$'
local LONGEST = 60

---@param name string
---@return boolean
local function is_name(name)
  local odd = name:find('..', 1, true) or name:find('%.$') or name:find('%.lock$')
  return #name <= LONGEST and name:find(NAME) ~= nil and not odd
end

--- A name that nothing has yet: when it began.
---@param top string
---@return string
local function unnamed(top)
  local stamp, count = tostring(os.date('%m%d-%H%M')), 1
  local name = stamp
  while vim.uv.fs_stat(('%s/%s-%s'):format(files.trees(), top, name)) do
    count = count + 1
    name = ('%s-%d'):format(stamp, count)
  end
  return name
end

--- The frontmatter of a chat that is to work in a new worktree.
---@param project string the folder of the user's
---@param name string empty: any
---@return table<string, string>? values
---@return string? problem
function M.new(project, name)
  local real = vim.uv.fs_realpath(project) or project
  local root = vim.fs.root(real, '.git')
  if not root then
    local sentence = 'a worktree is of a git repository, which %s is not in.'
    return nil, sentence:format(vim.fn.fnamemodify(project, ':~'))
  elseif name ~= '' and not is_name(name) then
    return nil, ('“%s” is no name for a worktree; letters, digits, - and _ are.'):format(name)
  end
  local top = vim.fs.basename(root)
  name = name ~= '' and name or unnamed(top)
  local place = ('%s/%s-%s'):format(files.trees(), top, name)
  if vim.uv.fs_stat(place) then
    local sentence = 'there is a worktree %s already; :Winnow chats lists its chat.'
    return nil, sentence:format(name)
  end
  return { worktree = vim.fn.fnamemodify(place .. real:sub(#root + 1), ':~') }
end

--- What the frontmatter says of it, to the host.
---@param chat winnow.Chat
---@param values table<string, string>
---@return winnow.Worktree
function M.told(chat, values)
  chat.project = values.worktree and chat.cwd or nil
  chat.branch = values.worktree and (values.branch or ''):match('^winnow/[%w\128-\255._-]+$')
  chat.cwd = values.worktree and files.place(values.worktree) or chat.cwd
  return { project = chat.project or '', branch = chat.branch or '' }
end

--- Where another chat is that shall be where this one is.
---@param chat winnow.Chat
---@return string cwd
---@return table<string, string> values more frontmatter
function M.of(chat)
  if not chat.project then
    return chat.cwd, vim.empty_dict() -- else it would be a list
  end
  local place = vim.fn.fnamemodify(chat.cwd, ':~')
  return chat.project, { worktree = place, branch = chat.branch }
end

return M
