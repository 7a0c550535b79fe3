--- The buffer of a task: what it asks on top, then all that was said and done, then what the user
--- has to say to its worker.
local chats = require('winnow.chats')
local directory = require('winnow.chat.directory')
local files = require('winnow.chat.files')
local frontmatter = require('winnow.chat.frontmatter')
local registry = require('winnow.registry')
local window = require('winnow.window')

local M = {}

--- Where the agents of a run work, if its chat is open here.
---@param run string
---@return string
local function directory_of(run)
  for _, chat in ipairs(registry.all()) do
    if frontmatter.read(chat.buf).run == run then
      return chat.cwd
    end
  end
  return vim.fn.getcwd()
end

--- Open a task's buffer; its transcript follows.
---@param run string
---@param task string
---@param mods? table command modifiers
function M.open(run, task, mods)
  local path = ('%s/%s.%s.task.md'):format(files.dir(), run, task)
  local buf = vim.fn.bufadd(path)
  if vim.uv.fs_stat(path) or registry.get(buf) then
    buf = directory.load(path)
  else
    buf = chats.create(directory_of(run), { run = run, task = task }, path)
  end
  window.show(buf, mods)
end

return M
