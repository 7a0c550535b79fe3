--- The ledger in a buffer of its own, and its export into files.
local page = require('winnow.views.page')
local say = require('winnow.say')

local M = {}

local NAME = 'winnow://decisions'
local PRIVATE = tonumber('600', 8)

--- Open the buffer; its text follows.
---@param chosen { about?: string, path?: string } a text that occurs in the decisions, their chat
---@param mods table command modifiers
function M.open(chosen, mods)
  local buf = page.buffer(NAME, 'markdown')
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = vim.api.nvim_create_augroup('winnow.decisions', {}),
    buffer = buf,
    callback = function()
      page.tell('recall', chosen)
    end,
  })
  page.show(buf, mods)
  vim.wo[0][0].conceallevel = 2 -- the signs of what was dropped
  page.tell('recall', chosen)
end

--- The host's answer to `M.open`.
---@param lines string[]
function M.show(lines)
  page.write(page.buffer(NAME, 'markdown'), lines)
end

--- Export the ledger.
---@param path string a folder, or a file whose name ends in `.json`
function M.export(path)
  -- Not by expand(), which runs what is between backticks: <Tab> completes names of the project.
  page.tell('recall', { export = vim.fn.fnamemodify(vim.fs.normalize(path), ':p') })
end

--- Write a file, but never over one that is there.
---@param path string
---@param lines string[]
---@return boolean written
---@return string? problem
local function write_new(path, lines)
  local file, problem = vim.uv.fs_open(path, 'wx', PRIVATE)
  if not file then
    return false, problem
  end
  local written, failure = vim.uv.fs_write(file, table.concat(lines, '\n') .. '\n')
  vim.uv.fs_close(file)
  return written ~= nil, failure
end

--- The highest number of the folder's files, and what is in those.
---@param folder string
---@return integer
---@return table<string, boolean>
local function numbered(folder)
  local highest, texts = 0, {}
  for name in vim.fs.dir(folder) do
    local number = name:match('^(%d+)%-.*%.md$')
    if number then
      highest = math.max(highest, tonumber(number))
      texts[table.concat(vim.fn.readfile(folder .. '/' .. name), '\n')] = true
    end
  end
  return highest, texts
end

--- The host's answer to `M.export`: write the files, each under the next number, but none twice.
---@param path string
---@param files winnow.File[]
function M.write(path, files)
  local folder = path:gsub('/+$', '')
  local single = vim.endswith(path, '.json')
  local parent = single and vim.fs.dirname(path) or folder
  local made, obstacle = pcall(vim.fn.mkdir, parent, 'p')
  if not made then
    say(('Not exported: %s.'):format((obstacle:gsub('^Vim:E%d+: ', ''))), 'error')
    return
  end
  local number, texts = 0, {}
  if not single then
    number, texts = numbered(folder)
  end
  local count = 0
  for _, file in ipairs(files) do
    if not texts[table.concat(file.lines, '\n')] then
      number = number + 1
      local target = single and path or ('%s/%04d-%s.md'):format(folder, number, file.name)
      local written, problem = write_new(target, file.lines)
      if not written then
        say(('Not exported: %s.'):format(problem), 'error')
        return
      end
      count = count + 1
    end
  end
  local what = single and 'All decisions' or ('%d new of %d decisions'):format(count, #files)
  say(('%s exported to %s.'):format(what, vim.fn.fnamemodify(path, ':~')))
end

return M
