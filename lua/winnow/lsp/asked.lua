--- What stands before the cursor, and so what is to be completed there.
local M = {}

---@class winnow.Asked
---@field kind 'mention'|'command'|'key'|'value'
---@field col integer byte from which it is replaced, from 0
---@field query string what there is of it, without its sign
---@field text string all that is replaced
---@field key? string whose value it is

-- A mention begins a word; else it is an address.
local MENTIONS = { '^(@"?)([^"]*)$', '^(@)(%S*)$' }

---@param line string up to the cursor
---@return winnow.Asked?
local function mention(line)
  local at = line:match('^.*()@"[^"]*$') or line:match('^.*()@%S*$')
  local before = at and line:sub(at - 1, at - 1) or ''
  if not at or at > 1 and not before:find('[%s%(%[{"\']') then
    return nil
  end
  local text = line:sub(at)
  local pattern = vim.startswith(text, '@"') and MENTIONS[1] or MENTIONS[2]
  local _, query = text:match(pattern)
  return query and { kind = 'mention', col = at - 1, query = query, text = text } or nil
end

--- In the draft.
---@param line string up to the cursor
---@param first boolean nothing of the draft is above it
---@return winnow.Asked?
function M.in_draft(line, first)
  local blank, name = line:match('^(%s*)/([^%s/]*)$')
  if first and name then
    return { kind = 'command', col = #blank, query = name, text = '/' .. name }
  end
  return mention(line)
end

--- In the frontmatter.
---@param line string up to the cursor
---@return winnow.Asked?
function M.in_frontmatter(line)
  local before, key, value = line:match('^(([%w_]+):%s*)(%S*)$')
  if before then
    return { kind = 'value', col = #before, query = value, text = value, key = key }
  end
  local word = line:match('^([%w_]*)$')
  return word and { kind = 'key', col = 0, query = word, text = word } or nil
end

return M
