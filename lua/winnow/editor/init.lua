--- The editor as a tool: does what Claude asks of it, as the host passes that on.
local Ask = require('winnow.editor.ask')
local act = require('winnow.editor.act')
local look = require('winnow.editor.look')
local places = require('winnow.editor.places')
local rename = require('winnow.editor.rename')
local test = require('winnow.editor.test')

local M = {}

-- By the names of the tools.
local ACTS = {
  diagnostics = look.diagnostics,
  buffers = look.buffers,
  read_buffer = look.read_buffer,
  quickfix = look.quickfix,
  definition = places.definition,
  references = places.references,
  symbols = places.symbols,
  rename = rename.rename,
  fill_quickfix = act.fill_quickfix,
  jump = act.jump,
  run_test = test.run_test,
}

local asked = {} ---@type table<string, winnow.Ask> by id

--- Do it; what came of it is told by and by.
---@param e winnow.effect.EditorCall
function M.call(e)
  local ask = Ask.new(e)
  if ask then
    asked[e.id] = ask
    ask:run(ACTS[e.call.tool], e.call)
  end
  for id, one in pairs(asked) do
    asked[id] = not one.over and one or nil
  end
end

--- Nobody waits for this any more.
---@param id string
function M.drop(id)
  if asked[id] then
    asked[id]:stop()
    asked[id] = nil
  end
end

return M
