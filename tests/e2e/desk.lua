--- What desk.py does in Neovim between two tests; the argument says which of it.
local M = {}

--- What a user may set, and what a test may replace in the plugin.
---@return table<string, table>
local function state()
  local now = { options = {}, maps = {}, variables = {}, plugin = {}, autocommands = {} }
  for name in pairs(vim.api.nvim_get_all_options_info()) do
    now.options[name] = vim.go[name]
  end
  now.options.lines, now.options.columns, now.options.window = nil, nil, nil
  for _, mode in ipairs({ 'n', 'x', 'o', 'i', 'c' }) do
    for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
      now.maps[mode .. map.lhs] = { mode, map.lhs }
    end
  end
  for _, name in ipairs(vim.fn.getcompletion('g:', 'var')) do
    now.variables[name:sub(3)] = vim.g[name:sub(3)]
  end
  for _, file in ipairs(vim.api.nvim_get_runtime_file('lua/winnow/**/*.lua', true)) do
    local name = file:match('lua/(winnow/.*)%.lua$'):gsub('/init$', ''):gsub('/', '.')
    local module = require(name)
    for key, value in pairs(type(module) == 'table' and module or {}) do
      now.plugin[name .. '.' .. key] = { module, key, value }
    end
  end
  for _, autocommand in ipairs(vim.api.nvim_get_autocmds({})) do
    if autocommand.id and not autocommand.group then
      now.autocommands[autocommand.id] = true
    end
  end
  return now
end

--- Make everything as it was when this was called first.
function M.restore()
  local now = state()
  local first = _G.first_state or now
  _G.first_state = first
  for name, value in pairs(now.options) do
    if value ~= first.options[name] then
      vim.go[name] = first.options[name]
    end
  end
  for key, map in pairs(now.maps) do
    if not first.maps[key] then
      vim.keymap.del(map[1], map[2])
    end
  end
  for name, value in pairs(now.variables) do
    if not vim.deep_equal(value, first.variables[name]) and not name:find('^loaded_') then
      vim.g[name] = first.variables[name]
    end
  end
  for _, member in pairs(first.plugin) do
    local module, key, value = unpack(member)
    module[key] = value
  end
  for id in pairs(now.autocommands) do
    if not first.autocommands[id] then
      vim.api.nvim_del_autocmd(id)
    end
  end
  for register in ('abcdefghijklmnopqrstuvwxyz"/'):gmatch('.') do
    vim.fn.setreg(register, {})
  end
end

--- A local variable of the host's module.
---@param name string
---@return function, integer, any
local function of_host(name)
  local host = require('winnow.host')
  for _, act in ipairs({ host.restart, host.stop }) do
    for i = 1, math.huge do
      local found, value = debug.getupvalue(act, i)
      if found == name then
        return act, i, value
      elseif found == nil then
        break
      end
    end
  end
  error('the host has no ' .. name)
end

--- Have a host that was started with the options of now, which are the desk's: it keeps those that
--- it was started with, and a test may have had another one start.
function M.host()
  local _, _, channel = of_host('channel')
  if channel == nil or channel ~= _G.first_host then
    require('winnow.host').restart()
    _, _, _G.first_host = of_host('channel')
  end
end

--- Close everything. A host that has ended by itself may do so again.
function M.clear()
  local act, i = of_host('crashed')
  debug.setupvalue(act, i, false)
  vim.cmd('silent! tabonly! | silent! only! | enew! | silent! %bwipeout!')
  vim.fn.setqflist({}, 'f')
  vim.diagnostic.reset()
  for _, client in ipairs(vim.lsp.get_clients()) do
    if not vim.startswith(client.name, 'winnow') then
      vim.lsp.stop_client(client.id, true)
    end
  end
end

--- End the turn that waits for the user, if one does.
function M.stop()
  local chat = require('winnow.registry').all()[1]
  if chat and chat.state == 'waiting' then
    vim.cmd('messages clear')
    chat:stop()
    vim.wait(5000, function()
      return chat.state ~= 'waiting' or vim.fn.execute('messages'):find('Nothing is running') ~= nil
    end, 10)
  end
end

--- Leave nothing but the chat with an empty draft, if it waits for nothing. Nil: a turn goes on.
---@return 'empty'|'not idle'?
function M.empty()
  local chat, other = unpack(require('winnow.registry').all())
  if chat and chat.state == 'working' then
    return nil
  elseif other or not chat or chat.section or chat.state ~= 'idle' then
    return 'not idle'
  end
  vim.cmd('silent! tabonly! | silent! only!')
  vim.api.nvim_set_current_buf(chat.buf)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if buf ~= chat.buf then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
  vim.bo[chat.buf].modifiable, vim.bo[chat.buf].readonly = true, false
  local heading = vim.fn.index(vim.api.nvim_buf_get_lines(0, 0, -1, true), '## You')
  vim.api.nvim_buf_set_lines(0, heading + 1, -1, true, { '', '' })
  return 'empty'
end

return M[...]()
