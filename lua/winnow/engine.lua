--- Which model answers in a chat, with how much effort, and how fast.
local guard = require('winnow.guard')
local registry = require('winnow.registry')
local say = require('winnow.say')

---@class (partial) winnow.Chat
---@field offers? winnow.Offers
---@field woken? boolean its agent was asked to start, for what only that knows

---@class winnow.Offers what can be chosen
---@field models table<string, string> with what is said of each
---@field efforts string[]

local M = {}

local UNKNOWN = 'winnow: Claude says which models there are once it is connected; try again then.'
local EFFORTS = { 'low', 'medium', 'high', 'xhigh', 'max', 'default' } -- until the host says which
local latest ---@type winnow.Offers? of the last chat that has heard it: models are the account's
local SWITCH = { 'on', 'off' }

--- What can be chosen in a chat, from the host.
---@param chat winnow.Chat
---@param models table<string, string> with what is said of each
---@param efforts string[]
function M.offer(chat, models, efforts)
  chat.offers = { models = models, efforts = efforts }
  latest = { models = models, efforts = EFFORTS }
end

--- What can be chosen in a chat, if that is known. If not, its agent starts, which knows it.
---@param chat? winnow.Chat
---@return winnow.Offers?
function M.offers(chat)
  local offers = chat and chat.offers or latest
  if chat and not offers then
    M.wake(chat)
  end
  return offers
end

--- Have a chat's agent start, if it has not yet: something is wanted that only that knows.
---@param chat winnow.Chat
function M.wake(chat)
  if chat.state == 'asleep' and not chat.owner and not chat.woken then
    chat.woken = true
    chat:tell('wake', {})
  end
end

--- What can be chosen in a chat, as far as that is known.
---@param what string
---@param chat? winnow.Chat else that of the current buffer
---@return string[]? nil: nothing of this name can be chosen
function M.values(what, chat)
  chat = chat or registry.current()
  local offers = M.offers(chat) or { models = { default = '' }, efforts = EFFORTS }
  if what == 'model' then
    return vim.fn.sort(vim.tbl_keys(offers.models))
  elseif what == 'effort' then
    return offers.efforts
  end
  return what == 'fast' and SWITCH or nil
end

---@param chat winnow.Chat
---@param what string
---@param value string
local function tell(chat, what, value)
  if value:find('%s') then
    say(('winnow: a %s is one word, not %q.'):format(what, value), 'warn')
  elseif what == 'fast' and not vim.list_contains(SWITCH, value) then
    say('winnow: fast mode is on or off.', 'warn')
  elseif guard.is_user() then
    chat:tell('choose', { what = what, value = value })
  end
end

--- Choose something in the chat of the current buffer; without a value, let the user pick one.
---@param what 'model'|'effort'|'fast'
---@param value string
function M.choose(what, value)
  registry.with_chat(function(chat)
    if value ~= '' then
      tell(chat, what, value)
      return
    end
    local offers = M.offers(chat)
    if what == 'model' and not offers then
      say(UNKNOWN, 'info')
      return
    end
    local models = offers and offers.models or {}
    ---@param picked? string
    local function take(picked)
      if picked then
        tell(chat, what, picked)
      end
    end
    vim.ui.select(M.values(what) or {}, {
      prompt = ({ model = 'Model', effort = 'Effort', fast = 'Fast mode' })[what],
      kind = 'winnow',
      format_item = function(item)
        local about = what == 'model' and models[item] or ''
        return about ~= '' and ('%s — %s'):format(item, about) or item
      end,
    }, guard.asking(take))
  end)
end

return M
