--- Everything that waits for the user, in all chats of this Neovim.
local guard = require('winnow.guard')
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

--- How long something has waited, in the largest unit that fits.
---@param since number seconds since the epoch
---@return string
local function age(since)
  local seconds = math.max(0, os.time() - since)
  if seconds < 60 then
    return ('%d s'):format(seconds)
  elseif seconds < 3600 then
    return ('%d min'):format(seconds / 60)
  end
  return ('%d h'):format(seconds / 3600)
end

--- What waits, in one line.
---@param item winnow.Waits
---@return string
function M.describe(item)
  local pending = item.pending
  local asker = pending.agent ~= '' and (' by ' .. pending.agent) or ''
  return ('%s%s: %s'):format(pending.kind, asker, pending.title)
end

--- List what waits in the quickfix window; each entry jumps to its section's first option.
function M.open()
  local items = M.items()
  if #items == 0 then
    say('Nothing waits for you.')
    return
  end
  if vim.fn.getcmdwintype() ~= '' then
    say('What waits can be listed when the command-line window is closed.')
    return
  end
  local entries = vim.tbl_map(function(item)
    local section = item.chat.section
    return {
      bufnr = item.chat.buf,
      lnum = section and (section:place(1) or section:rows() + 1) or item.chat:heading_row() + 1,
      text = table.concat({
        M.describe(item),
        age(item.pending.since),
        vim.fs.basename(item.chat.cwd),
      }, ' · '),
    }
  end, items)
  vim.fn.setqflist({}, ' ', {
    title = 'Winnow: waiting',
    items = entries,
    quickfixtextfunc = window.entries,
  })
  vim.cmd.copen()
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
    local way = vim.bo.buftype == 'quickfix' and '; <CR> here goes there.' or '.'
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

--- Go to what has waited longest.
function M.next()
  local item = M.items()[1]
  if not item then
    say('Nothing waits for you.')
    return
  end
  vim.cmd.stopinsert() -- what is typed next is about the section
  window.show(item.chat.buf)
  if item.chat.section then
    item.chat.section:visit()
  end
end

return M
