--- Colours: the hues of groups that every colour scheme has, as strong as it takes to read them.
local parsed = require('winnow.parsed')
local registry = require('winnow.registry')
local said = require('winnow.said')
local view = require('winnow.section.view')

local M = {}

-- Of each group: whose hue it has, and how it looks besides. What must be told apart is so where a
-- scheme, or an eye, has no hues, too.
---@class winnow.Look
---@field [1] string
---@field bold? boolean
---@field italic? boolean
---@field underline? boolean
---@field strikethrough? boolean

---@type table<string, winnow.Look>
local LOOKS = {
  WinnowYou = { 'Statement', bold = true, underline = true },
  WinnowClaude = { 'Function', bold = true },
  WinnowHead = { 'Title', bold = true },
  WinnowFoot = { 'NonText' },
  WinnowDecided = { 'Added' },
  WinnowUndecided = { 'WarningMsg' },
  WinnowDropped = { 'Comment', strikethrough = true },
  WinnowMark = { 'NonText' }, -- of an option's line
  WinnowLabel = { 'Identifier', bold = true },
  WinnowDescription = { 'Comment' },
  WinnowHint = { 'Comment' },
  WinnowStatus = { 'Comment' },
  WinnowTool = { 'Function' },
  WinnowFailed = { 'DiagnosticError', bold = true },
  WinnowOutput = { 'Comment' },
  WinnowNotice = { 'WarningMsg' },
  WinnowQueued = { 'Special', bold = true }, -- number and bar of a message that waits
  WinnowAdded = { 'Added' },
  WinnowRemoved = { 'Removed', italic = true },
  WinnowHunk = { 'Changed' },
  WinnowFile = { 'Title', bold = true },
}

local CONTRAST = 4.5 -- of text to what is behind it, as WCAG 2 wants it
local BLACK, WHITE = 0x000000, 0xffffff

---@param colour integer
---@return integer[] red, green and blue, up to 255
local function channels(colour)
  return { bit.rshift(colour, 16), bit.band(bit.rshift(colour, 8), 255), bit.band(colour, 255) }
end

--- How bright a colour is, as WCAG 2 counts it.
---@param colour integer
---@return number luminance up to 1
local function luminance(colour)
  local sum = 0
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local value = channels(colour)[i] / 255
    sum = sum + weight * (value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

---@param a integer
---@param b integer
---@return number ratio from 1 to 21
local function contrast(a, b)
  local one, other = luminance(a), luminance(b)
  return (math.max(one, other) + 0.05) / (math.min(one, other) + 0.05)
end

--- A hue moved towards the colour of other text until it can be read.
---@param hue integer
---@param text integer
---@param grounds integer[]
---@return integer colour
local function legible(hue, text, grounds)
  local from, to = channels(hue), channels(text)
  for part = 0, 1, 0.1 do
    local colour = 0
    for i = 1, 3 do
      colour = colour * 256 + math.floor(from[i] + (to[i] - from[i]) * part + 0.5)
    end
    local clear = vim.iter(grounds):all(function(ground)
      return contrast(colour, ground) >= CONTRAST
    end)
    if clear then
      return colour
    end
  end
  return text
end

--- What stands behind a line: Normal's, and that of a closed fold where text can be read there.
---@param text integer
---@param ground integer
---@return integer[]
local function grounds_of(text, ground)
  local folded = vim.api.nvim_get_hl(0, { name = 'Folded', link = false })
  local usable = folded.bg and not folded.reverse and contrast(text, folded.bg) >= CONTRAST
  return { ground, usable and folded.bg or nil }
end

local ours = {} ---@type table<string, table> what this module has made of each group

--- Set a group, unless the user has.
---@param group string
---@param look vim.api.keyset.highlight
local function set(group, look)
  local now = vim.api.nvim_get_hl(0, { name = group })
  if vim.tbl_isempty(now) or vim.deep_equal(now, ours[group]) then
    vim.api.nvim_set_hl(0, group, look)
    ours[group] = vim.api.nvim_get_hl(0, { name = group })
  end
end

--- Define the groups; a user's own definition wins.
function M.define()
  local normal = vim.api.nvim_get_hl(0, { name = 'Normal', link = false })
  local dark = vim.o.background == 'dark'
  local text = normal.fg or (dark and WHITE or BLACK)
  local ground = normal.bg or (dark and BLACK or WHITE)
  local grounds = grounds_of(text, ground)
  for group, look in pairs(LOOKS) do
    local base = vim.api.nvim_get_hl(0, { name = look[1], link = false })
    -- A block of its own colour would hide what is text in it, and what a window sets behind it.
    local own = base.fg and not (base.bg and base.bg ~= ground or base.reverse)
    set(group, {
      fg = legible(own and base.fg or text, text, grounds),
      ctermfg = own and base.ctermfg or normal.ctermfg,
      bold = look.bold,
      italic = look.italic,
      underline = look.underline,
      strikethrough = look.strikethrough,
    })
  end
  -- Not a link: what else Normal sets, a window may set otherwise.
  set('WinnowContext', { fg = normal.fg or 'NONE', ctermfg = normal.ctermfg })
  set('@winnow.plan', { link = 'WinnowContext' })
  set('WinnowCover', { nocombine = true }) -- what is drawn over a text is not as bold as that
end

--- A query file without its conceal rules: in a chat only markers are hidden.
---@param lang string
---@return string
local function plain_query(lang)
  local texts = {}
  for _, file in ipairs(vim.treesitter.query.get_files(lang, 'highlights')) do
    local text = table.concat(vim.fn.readfile(file), '\n')
    table.insert(texts, (text:gsub('%(#set!%s+[^%)]-conceal[^%)]*%)', '')))
  end
  return table.concat(texts, '\n')
end

-- What is Markdown inside Markdown, such as a plan, is text, not code.
local PLAN = [[
((fenced_code_block
  (info_string (language) @_language)
  (code_fence_content) @winnow.plan)
  (#eq? @_language "markdown"))
]]

-- The signs of what Claude emphasises are hidden. Only asterisks: `__init__.py` is a name. And only
-- of what it has said: see `said.lua`.
local EMPHASIS = [[
(emphasis
  (emphasis_delimiter) @conceal
  (#eq? @conceal "*")
  (#winnow-said? @conceal)
  (#set! conceal ""))
(strong_emphasis
  (emphasis_delimiter) @conceal
  (#eq? @conceal "*")
  (#winnow-said? @conceal)
  (#set! conceal ""))
]]

--- The lines of an open section that have colours of their own, see `draw.lua`: options and diffs.
---@param buf integer
---@return winnow.Rows[] from the first to the last
local function coloured(buf)
  local chat = registry.get(buf)
  local section = chat and chat.section
  local found = {} ---@type winnow.Rows[]
  if not section then
    return found
  end
  for _, body in ipairs(view.bodies(section)) do
    if body.info == 'diff' and body.last - body.first > 2 then
      table.insert(found, { first = body.first + 1, after = body.last - 1 })
    end
  end
  local first, _, marked = section:rows(), section:lines()
  for _, line in ipairs(marked) do
    local row, last = first + line.at - 1, found[#found]
    if tonumber(line.marker.slot) and last and last.after == row then
      last.after = row + 1
    elseif tonumber(line.marker.slot) then
      table.insert(found, { first = row, after = row + 1 })
    end
  end
  table.sort(found, function(one, other)
    return one.first < other.first
  end)
  return found
end

--- Highlight a chat as Markdown.
---@param buf integer
function M.markdown(buf)
  vim.treesitter.language.register('markdown', 'winnow')
  local ok, parser = pcall(vim.treesitter.get_parser, buf, 'markdown')
  if not ok or not parser then
    vim.bo[buf].syntax = 'markdown' -- no parser: Vim's own rules do
    return
  end
  said.start()
  parsed.keep(buf, parser, function()
    return coloured(buf)
  end)
  local queries = {
    markdown = plain_query('markdown') .. PLAN,
    markdown_inline = plain_query('markdown_inline') .. EMPHASIS,
  }
  vim.treesitter.highlighter.new(parser, { queries = queries })
end

return M
