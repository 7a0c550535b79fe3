--- Plays the scripted chat without a terminal: types the keys of a user and prints each frame.
local guard = require('winnow.guard')
local host = require('winnow.host')
local marker = require('winnow.section.marker')
local registry = require('winnow.registry')

local M = {}

local COLUMNS, LINES = 80, 32
local PATIENCE = 30000 -- milliseconds for one step
local TICK = 20 -- milliseconds between two looks at the screen

--- What is on the screen, as text.
---@return string[]
local function screen()
  vim.cmd.redraw()
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      table.insert(cells, vim.fn.screenstring(row, column))
    end
    table.insert(rows, (table.concat(cells):gsub('%s+$', '')))
  end
  return rows
end

local said = '' -- what would stand on the message line; without a terminal Neovim shows none

--- The cursor's line is pointed at, since text alone has no cursor.
---@param title string
local function print_frame(title)
  local rows = screen()
  local row = vim.fn.screenrow()
  rows[row] = rows[row] .. '  ◂'
  rows[#rows] = said
  io.stdout:write(('── %s %s\n'):format(title, ('─'):rep(math.max(0, COLUMNS - 4 - #title))))
  io.stdout:write(table.concat(rows, '\n'), '\n\n')
  said = ''
end

---@return winnow.Chat
local function chat()
  return assert(registry.current())
end

---@return boolean
local function idle()
  return chat().state == 'idle'
end

---@return boolean?
local function section_open()
  local section = chat().section
  return section and #section.parts > 0 and section.sight.at ~= nil
end

--- The section's verdict says this.
---@param pattern string
---@return fun(): boolean?
local function verdict(pattern)
  return function()
    local section = chat().section
    return section
      and vim.iter(section.parts):any(function(part)
        return part.text:find(pattern) ~= nil
      end)
  end
end

--- The host has moved the cursor to this question, or to the foot (0).
---@param question integer
---@return fun(): boolean
local function at(question)
  return function()
    local section = chat().section
    local found = section and marker.of(vim.api.nvim_get_current_line(), section.id)
    return found ~= nil and found.question == question
  end
end

---@class winnow.demo.Step
---@field title string what the frame shows, after the keys
---@field keys string
---@field ready fun(): boolean? what must be so before the frame is taken

---@type winnow.demo.Step[]
local STEPS = {
  { title = 'A chat', keys = '', ready = idle },
  { title = 'Write a message', keys = 'iWhich store should the cart use?<Esc>', ready = idle },
  { title = '<CR> sends it; Claude asks', keys = '<CR>', ready = section_open },
  { title = 'dd: not PostgreSQL', keys = 'dd', ready = verdict('keep one of 2') },
  { title = 'dd: not MongoDB; one is left', keys = 'dd', ready = verdict('MySQL') },
  { title = 'A: a note on what is left', keys = 'A version 9<Esc>', ready = verdict('version 9') },
  {
    title = '<CR> goes on to the next question',
    keys = '<CR>',
    ready = at(2),
  },
  { title = 'jdd: all features but Logging', keys = 'jdd', ready = verdict('Auth') },
  { title = '<CR> goes to the review', keys = '<CR>', ready = at(0) },
  { title = '<CR> sends the answers', keys = '<CR>', ready = idle },
  { title = 'Go on', keys = 'igo on<Esc><CR>', ready = section_open },
  { title = '<CR><CR> keeps only the line under the cursor', keys = '<CR><CR>', ready = idle },
}

--- A Neovim of a fixed size without folders of the user's, and a chat in it.
---@return string folder to be deleted at the end
local function set_up()
  local folder = vim.fn.tempname() -- the user's own chats stay as they are
  vim.env.XDG_DATA_HOME, vim.env.XDG_STATE_HOME = folder, folder
  vim.o.columns, vim.o.lines = COLUMNS, LINES
  vim.o.laststatus, vim.o.ruler, vim.o.showmode = 0, false, false
  ---@param text string
  vim.notify = function(text) ---@diagnostic disable-line: duplicate-set-field
    said = text
  end
  vim.o.shortmess = vim.o.shortmess .. 'FI'
  vim.g.winnow = { agent = 'scripted' }
  guard.pause = 0 -- nobody has to look before a key is pressed
  vim.cmd.Winnow('new')
  return folder
end

--- Play all steps, then quit: with an error when one never gets ready.
function M.play()
  local folder = set_up()
  local timer = assert(vim.uv.new_timer())
  local number, typed, since = 1, false, vim.uv.now()
  ---@param code integer
  local function quit(code)
    timer:stop()
    host.stop()
    vim.fn.delete(folder, 'rf')
    vim.cmd(code .. 'cquit!')
  end
  timer:start(
    0,
    TICK,
    vim.schedule_wrap(function()
      local step = STEPS[number]
      if not step then
        return
      elseif not typed then
        typed = true
        vim.api.nvim_input(step.keys)
      elseif vim.api.nvim_get_mode().mode == 'n' and step.ready() then
        print_frame(('%d/%d %s'):format(number, #STEPS, step.title))
        number, typed, since = number + 1, false, vim.uv.now()
        if not STEPS[number] then
          quit(0)
        end
      elseif vim.uv.now() - since > PATIENCE then
        print_frame('This never came: ' .. step.title)
        quit(1)
      end
    end)
  )
end

return M
