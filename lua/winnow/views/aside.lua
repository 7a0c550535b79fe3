--- A question about a chat that leaves no trace in it: its answer, as it comes, in a window of its
--- own. To close that ends it.
local grammar = require('winnow.grammar')
local page = require('winnow.views.page')
local registry = require('winnow.registry')
local say = require('winnow.say')
local scratch = require('winnow.scratch')
local trim = require('winnow.trim')
local window = require('winnow.window')

local M = {}

local HEIGHT = 12 -- rows of its window, where nothing else was said
local COMES = vim.api.nvim_create_namespace('winnow.aside')

local last = 0
local open = {} ---@type table<integer, { buf: integer, begun?: boolean }> by the question's number

--- Show a buffer in a window of its own; the cursor stays where it is.
---@param buf integer
---@param mods table
local function show(buf, mods)
  local given = window.is_given(mods)
  local here = vim.api.nvim_get_current_win()
  vim.cmd.sbuffer({ buf, mods = given and mods or { split = 'belowright' } })
  local win = vim.api.nvim_get_current_win()
  if not given then
    vim.api.nvim_win_set_height(win, math.min(HEIGHT, math.floor(vim.o.lines / 2)))
  end
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  vim.api.nvim_set_current_win(here)
end

--- Ask about a chat.
---@param chat winnow.Chat
---@param text string
---@param mods table
function M.ask(chat, text, mods)
  text = trim.both(text)
  if text == '' then
    say('winnow: say what to ask: :Winnow ask {text}.', 'warn')
    return
  elseif chat.task then
    say('winnow: ask in the chat of its run; this is a worker.', 'warn')
    return
  elseif not chat:mine_or_say() then
    return
  end
  last = last + 1
  local id, buf, of = last, scratch(), chat.buf
  open[id] = { buf = buf }
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].filetype = 'markdown'
  page.write(buf, { '> ' .. text:gsub('\n', '\n> '), '', '' })
  vim.api.nvim_buf_set_extmark(buf, COMES, 2, 0, {
    virt_text = { { 'Claude answers…', 'WinnowStatus' } },
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      open[id] = nil
      local there = registry.get(of)
      if there then
        there:tell('endaside', { id = id })
      end
    end,
  })
  show(buf, mods)
  chat:tell('askaside', { id = id, text = text })
end

--- Who follows the answer at its end goes on to do so.
---@param buf integer
---@param count integer lines before
local function follow(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local row = vim.api.nvim_win_get_cursor(win)[1]
    if row == count and vim.api.nvim_get_current_win() == win then
      vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
    end
  end
end

--- A piece of an answer has come.
---@param id integer
---@param text string
---@param done boolean
---@param problem string why there is none, empty: all went well
function M.said(id, text, done, problem)
  local one = open[id]
  if not one or not vim.api.nvim_buf_is_loaded(one.buf) then
    return
  end
  local buf = one.buf
  local count = vim.api.nvim_buf_line_count(buf)
  local last_line = vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1]
  if problem ~= '' then
    text = ('%s%s %s'):format(last_line == '' and '' or '\n\n', grammar.NOTICE, problem)
  end
  if text:find('%S') or one.begun then
    local pieces = vim.split(last_line .. text, '\n', { plain = true })
    while done and problem == '' and #pieces > 1 and pieces[#pieces] == '' do
      table.remove(pieces)
    end
    page.write(buf, pieces, count - 1)
    one.begun = true
  end
  if one.begun or done then
    vim.api.nvim_buf_clear_namespace(buf, COMES, 0, -1)
  end
  follow(buf, count)
end

return M
