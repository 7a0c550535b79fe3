--- What the host may ask of Neovim: one function for each tag of `Effect` in
--- python/winnow/core/protocol.py.
local M = {}

local LEVELS = { info = 'INFO', warn = 'WARN', error = 'ERROR' }

---@type table<string, fun(chat: winnow.Chat, effect: table)>
M.effects = {
  write = function(chat, e)
    chat:write(e.text, e.fresh)
  end,
  tool = function(chat, e)
    chat:tool(e.id, e.line, e.output)
  end,
  section = function(chat, e)
    require('winnow.section').open(chat, e.section, e.lines, e.previews, e.focus)
  end,
  verdict = function(chat, e)
    if chat.section and chat.section.id == e.section then
      chat.section:judge(e.parts, e.waiting)
    end
  end,
  say = function(_, e)
    vim.notify(e.text, vim.log.levels[LEVELS[e.level]])
  end,
  step = function(chat, e)
    if chat.section and chat.section.id == e.section then
      chat.section:step(e.question)
    end
  end,
  keep = function(chat, e)
    if chat.section and chat.section.id == e.section then
      chat.section:keep(e.question, e.option)
    end
  end,
  freeze = function(chat, e)
    require('winnow.section').freeze(chat, e.section, e.lines)
  end,
  take = function(chat)
    chat:take()
  end,
  refill = function(chat, e)
    chat:refill(e.text)
  end,
  status = function(chat, e)
    chat:set_state(e.state)
  end,
  meta = function(chat, e)
    chat:meta(e.values)
  end,
  save = function(chat)
    chat:save()
  end,
}

--- Apply a batch in order. One effect that fails does not take the others with it.
---@param batch table[]
function M.apply(batch)
  local chats = require('winnow.chats')
  for _, effect in ipairs(batch) do
    local chat = chats.get(effect.chat)
    if chat then
      local ok, problem = xpcall(M.effects[effect.type], debug.traceback, chat, effect)
      if not ok then
        require('winnow.host').log(('%s failed: %s'):format(effect.type, problem))
        vim.notify(
          'winnow: a part of the chat could not be shown; :Winnow log says why.',
          vim.log.levels.ERROR
        )
      end
    end
  end
end

return M
