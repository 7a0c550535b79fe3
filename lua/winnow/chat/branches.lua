--- Beside a message before which another chat goes another way: which one that is.
local frontmatter = require('winnow.chat.frontmatter')
local outline = require('winnow.chat.outline')
local tree = require('winnow.chat.tree')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.branches')
local LONGEST = 40 -- columns of a title

---@class (partial) winnow.Chat
---@field forks? table<integer, winnow.Branch[]> by the extmark on the heading of the message

--- Where a branch of a chat is, and what it has of it: who answers, and how.
---@param chat winnow.Chat
---@return string cwd
---@return table<string, string> values frontmatter
function M.values(chat)
  local cwd, values = tree.of(chat)
  local own = frontmatter.read(chat.buf)
  for _, key in ipairs({ 'model', 'effort', 'fast', 'questions' }) do
    values[key] = own[key]
  end
  return cwd, values
end

--- How one reads.
---@param fork winnow.Branch
---@return string
local function words(fork)
  local title = fork.title
  if vim.fn.strdisplaywidth(title) > LONGEST then
    title = vim.fn.strcharpart(title, 0, LONGEST - 1) .. '…'
  end
  local today = os.date('%F', fork.changed) == os.date('%F')
  local when = os.date(today and '%H:%M' or '%d %b', fork.changed)
  return (fork.origin and '↰ branch of: %s · %s' or '↳ branch: %s · %s'):format(title, when)
end

--- Show these, in place of those before.
---@param chat winnow.Chat
---@param forks winnow.Branch[]
function M.show(chat, forks)
  vim.api.nvim_buf_clear_namespace(chat.buf, namespace, 0, -1)
  chat.forks = {}
  local rows, at = {}, {} ---@type integer[], table<integer, winnow.Branch[]>
  for _, message in ipairs(outline.all(chat)) do
    if message.who == 'You' then
      table.insert(rows, message.row)
    end
  end
  for _, fork in ipairs(forks) do
    local row = rows[math.min(fork.at + 1, #rows)]
    at[row] = at[row] or {}
    table.insert(at[row], fork)
  end
  for row, found in pairs(at) do
    local text = table.concat(vim.tbl_map(words, found), '  ')
    local mark = vim.api.nvim_buf_set_extmark(chat.buf, namespace, row, 0, {
      virt_text = { { ' ' .. text, 'WinnowStatus' } },
      hl_mode = 'combine',
    })
    chat.forks[mark] = found
  end
end

--- The branches at a row.
---@param chat winnow.Chat
---@param row integer
---@return winnow.Branch[]
function M.at(chat, row)
  local marks = vim.api.nvim_buf_get_extmarks(chat.buf, namespace, { row, 0 }, { row, -1 }, {})
  local found = {}
  for _, mark in ipairs(marks) do
    vim.list_extend(found, (chat.forks or {})[mark[1]] or {})
  end
  return found
end

--- Go to the branch of the heading under the cursor; of several, to the one that the user picks.
---@param chat winnow.Chat
---@param go fun(path: string)
---@return boolean done there is one
function M.enter(chat, go)
  local found = M.at(chat, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if #found == 1 then
    go(found[1].path)
  elseif #found > 1 then
    local how = { prompt = 'Go to', kind = 'winnow', format_item = words }
    vim.ui.select(found, how, function(fork)
      if fork then
        go(fork.path)
      end
    end)
  end
  return #found > 0
end

return M
