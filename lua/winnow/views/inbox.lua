--- Everything that waits for the user, in all chats of this Neovim.
local guard = require('winnow.guard')
local lists = require('winnow.views.list')
local page = require('winnow.views.page')
local registry = require('winnow.registry')
local say = require('winnow.say')
local seen = require('winnow.section.seen')
local window = require('winnow.window')

local M = {}

---@class winnow.Waits
---@field chat winnow.Chat
---@field pending winnow.Pending
---@field announced? winnow.Sight since when the user can know of it

--- What waits, the oldest first.
---@return winnow.Waits[]
function M.items()
  local items = {}
  for _, chat in ipairs(registry.all()) do
    for _, pending in ipairs(chat.pending) do
      local announced = chat.announced[pending.section]
      table.insert(items, { chat = chat, pending = pending, announced = announced })
    end
  end
  table.sort(items, function(a, b)
    return a.pending.since < b.pending.since
  end)
  return items
end

---@type winnow.ListKind
local KIND = {
  guarded = true, -- its lines grant what is asked for
  wraps = true,
  hint = 'allow, always, deny, answer in front · :w does it',
  pick = function(_, key, peek)
    if peek then
      return page.tell('pickline', { name = 'pending', key = key, peek = true })
    end
    for _, item in ipairs(M.items()) do
      if item.pending.section:lower() == key then
        M.visit(item)
      end
    end
  end,
}

--- List what waits, to go to it or to answer it by its line.
---@param mods? table command modifiers
function M.open(mods)
  if #M.items() == 0 then
    say('Nothing waits for you.')
  elseif vim.fn.getcmdwintype() ~= '' then
    say('What waits can be listed when the command-line window is closed.')
  else
    lists.open('pending', 0, mods, KIND)
  end
end

--- Its section, if that is in its buffer already.
---@param item winnow.Waits
---@return winnow.Section?
local function section_of(item)
  local section = item.chat.section
  return section and section.id == item.pending.section and section or nil
end

--- What is open in the chat of this buffer, or else the one thing that waits, if it can be answered
--- from anywhere; else show what does, and why.
---@return winnow.Waits?
function M.only()
  local items, chat = M.items(), registry.current()
  local here = chat and chat.section
  local open = here
    and vim.iter(items):find(function(item)
      return item.pending.section == here.id
    end)
  if open and open.pending.kind ~= 'question' then
    return { chat = chat, pending = open.pending, announced = open.announced }
  elseif #items == 0 then
    say('Nothing waits for you.')
  elseif #items == 1 and items[1].pending.kind ~= 'question' then
    return items[1]
  else
    M.open()
    local what = #items > 1 and ('%d things wait'):format(#items) or 'A question waits'
    local way = vim.bo.filetype == 'winnowlist' and '; <CR> here goes there.' or '.'
    say(what .. ': answer in the chat' .. way)
  end
end

--- The same, if the user could know of it, and of what came of the same choice before.
---@param choice 'allow'|'always'|'deny'
---@return winnow.Waits?
function M.asked(choice)
  local item = M.only()
  if not item then
    return
  end
  local section = section_of(item)
  if section and section.granted == choice and not section:replied() then
    return
  elseif section and section.sight.at and not guard.allows(section.sight) then
    return -- a part of it has just come on the screen; what never was there is said first
  end
  return guard.allows(item.announced) and item or nil
end

--- Answer the one permission, patch or plan that waits, from anywhere.
---@param choice 'allow'|'always'|'deny'
---@param reason? string
---@param item? winnow.Waits what is meant, where that was known before
function M.grant(choice, reason, item)
  item = item or M.asked(choice)
  if not item then
    return
  end
  local id, before = item.pending.section, section_of(item)
  guard.unless_held(function()
    local section = section_of(item)
    local answer = { choice = choice, reason = reason or '' }
    if section and section == before then
      section.granted = choice
      answer.unseen = #seen.missing(section)
      section:tell('grant', answer)
    else
      answer.section, answer.lines, answer.unseen = id, {}, 1
      item.chat:tell('grant', answer)
    end
  end)
end

--- Go to what waits.
---@param item winnow.Waits
function M.visit(item)
  vim.cmd.stopinsert() -- what is typed next is about the section
  window.show(item.chat.buf)
  if item.chat.section then
    item.chat.section:visit()
  end
end

--- Go to what has waited longest.
function M.next()
  local item = M.items()[1]
  if not item then
    say('Nothing waits for you.')
    return
  end
  M.visit(item)
end

return M
