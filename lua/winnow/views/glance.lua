--- Which lines of a list were on the screen before the user began to write it: no other may grant
--- anything, as one that came while `:w` was typed, or one below the window.
local guard = require('winnow.guard')
local marker = require('winnow.section.marker')

local M = {}

---@param list winnow.List
---@param win integer
---@return string[] keys of what is on the screen whole
local function shown(list, win)
  local first, last = vim.fn.line('w0', win), vim.fn.line('w$', win)
  local keys = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(list.buf, first - 1, last, false)) do
    local found = marker.of(line)
    if found then
      table.insert(keys, found.id:lower())
    end
  end
  return keys
end

--- Look at what is on the screen, once it is drawn.
---@param list winnow.List
function M.look(list)
  local sight = guard.sight()
  guard.drawn(sight, function()
    local more = false
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      for _, key in ipairs(vim.api.nvim_win_get_buf(win) == list.buf and shown(list, win) or {}) do
        more = more or not list.sights[key]
        list.sights[key] = list.sights[key] or sight
      end
    end
    return more
  end)
end

--- The things whose lines the user could not know when they began to type what is done now.
---@param list winnow.List
---@return string[] keys
function M.unseen(list)
  local keys = {}
  for _, line in ipairs(list:lines()) do
    local found = marker.of(line)
    local key = found and found.id:lower()
    local sight = key and list.sights[key]
    if key and guard.pause > 0 and not (sight and guard.seen(sight)) then
      table.insert(keys, key)
    end
  end
  return keys
end

return M
