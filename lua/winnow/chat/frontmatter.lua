--- The `key: value` block at the top of a chat file. A file is untrusted: values are only ever
--- data.
local config = require('winnow.config')
local files = require('winnow.chat.files')
local grammar = require('winnow.grammar')
local registry = require('winnow.registry')
local trim = require('winnow.trim')

local M = {}

M.MAX_LINES = 30

--- Of a key that stands there twice the first counts: it is the one that `merged` changes.
---@param lines string[] of a file, from its first
---@return table<string, string> values
---@return integer? last row of the closing `---`, counted from 0; nil without frontmatter
function M.parse(lines)
  local values = {}
  if lines[1] ~= '---' then
    return values
  end
  for i = 2, math.min(#lines, M.MAX_LINES) do
    if lines[i] == '---' then
      return values, i - 1
    end
    local key, value = lines[i]:match('^([%w_]+):(.*)$')
    if vim.list_contains(grammar.KEYS, key) and not values[key] then
      values[key] = trim.both(value)
    end
  end
  return {}
end

---@param buf integer
---@return table<string, string> values
---@return integer? last as `parse`
function M.read(buf)
  return M.parse(vim.api.nvim_buf_get_lines(buf, 0, M.MAX_LINES, false))
end

--- What it may decide. A file from elsewhere says neither where Claude works nor what it may do,
--- and a place is one wherever Neovim runs. Claude Code would not start with a mode that it does
--- not know; whether the user has set the one that stands there, the host knows.
---@param buf integer
---@return table<string, string>
---@return boolean own
function M.trusted(buf)
  local values, own = M.read(buf), files.own(vim.api.nvim_buf_get_name(buf))
  if not own then
    values.cwd, values.session, values.mode, values.task = nil, nil, nil, nil
    values.run, values.clarify, values.worktree = nil, nil, nil
  end
  local place = values.cwd
  if place and place ~= '~' and not place:find('^~?/') then
    values.cwd = nil
  end
  if values.worktree and not files.is_tree(values.worktree) then
    values.worktree = nil -- git would make one in the place of any folder
  end
  if not vim.list_contains(config.modes, values.mode) then
    values.mode = nil
  end
  return values, own
end

--- Who answers: `claude`, `scripted` and maybe why, or `auto` while that is not known.
---@param values table<string, string>
---@return string
function M.agent(values)
  return values.agent or config.get().agent
end

--- Who answers, where and how, in one line.
---@param buf integer
---@param width integer columns
---@return string
function M.summary(buf, width)
  local values, chat = M.trusted(buf), registry.get(buf)
  if values.task then
    return ('Task %s of a run · %s'):format(values.task, values.cwd or '')
  end
  local agent = M.agent(values)
  local why = agent:match('^scripted(.*)$')
  local who = why and 'Demo: a script answers, not Claude' .. why or 'Claude'
  who = agent == 'auto' and 'Claude, or the demo' or who
  local mode = values.mode or chat and chat.mode or ''
  mode = mode ~= '' and mode or config.get().mode
  mode = 'mode ' .. (mode ~= '' and mode or 'default')
  local cwd = values.cwd or vim.fn.fnamemodify(chat and chat.cwd or '', ':~')
  local branch = values.worktree and (values.branch or 'new worktree')
  local text ---@type string
  for _, place in ipairs({ cwd, vim.fn.pathshorten(cwd), vim.fs.basename(cwd) }) do
    text = table.concat(branch and { who, place, branch, mode } or { who, place, mode }, ' · ')
    if vim.fn.strdisplaywidth(text) <= width then
      return text
    end
  end
  return why and who or text -- that it is no Claude before all else
end

--- Keep the block of a chat in mind. What the user has taken of its ends, or all of it, as `dd`
--- does while it is folded, is put back: with it the chat goes on when its file is opened again.
---@param chat winnow.Chat
---@return boolean restored
function M.keep(chat)
  local _, last = M.read(chat.buf)
  if last then
    chat.frontmatter = chat:lines(0, last + 1)
  end
  if last or not chat.frontmatter then
    return false
  end
  local lines, left = chat:lines(0, #chat.frontmatter), 0
  while lines[left + 1] and vim.list_contains(chat.frontmatter, lines[left + 1]) do
    left = left + 1
  end
  local block = vim.list_extend({}, chat.frontmatter)
  if lines[left + 1] ~= '' then
    table.insert(block, '')
  end
  vim.api.nvim_buf_call(chat.buf, function()
    pcall(vim.cmd.undojoin) -- `u` brings back all that went with it; not after `u` itself
    vim.api.nvim_buf_set_lines(chat.buf, 0, left, false, block)
  end)
  return true
end

--- Lines that set these values in the frontmatter's own order, new keys last.
---@param block string[] between the rulers
---@param values table<string, string>
---@return string[] block
function M.merged(block, values)
  local lines, left = {}, vim.deepcopy(values)
  for _, line in ipairs(block) do
    local key = line:match('^([%w_]+):')
    if key and left[key] then
      line = key .. ': ' .. left[key]
      left[key] = nil
    end
    table.insert(lines, line)
  end
  for _, key in ipairs(vim.tbl_keys(left)) do
    table.insert(lines, key .. ': ' .. left[key])
  end
  return lines
end

return M
