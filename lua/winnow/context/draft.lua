--- What the mentions of a draft stand for, and what of that goes along when it is sent.
local diff = require('winnow.context.diff')
local editor = require('winnow.context.editor')
local file = require('winnow.context.file')
local found_ = require('winnow.context.found')
local grammar = require('winnow.grammar')
local mention_ = require('winnow.context.mention')
local say = require('winnow.say')
local symbol = require('winnow.context.symbol')
local trim = require('winnow.trim')

---@class (partial) winnow.Chat
---@field insists? string the draft of which was said that something it mentions can't be sent
---@field mentioning? uv.uv_timer_t until what the draft mentions is looked for
---@field mentions? boolean there were some when they were drawn last

local M = {}

--- What git says has changed.
---@param cwd string
---@return winnow.Found
local function changed(cwd)
  local known = diff.of(cwd)
  if not known then
    return { name = 'git diff', own = true, size = '…' }
  elseif known.problem then
    return { name = '', problem = known.problem }
  end
  local files = #vim.tbl_filter(function(line)
    return vim.startswith(line, 'diff --git ')
  end, known.lines)
  return found_.measured({
    name = files == 1 and '1 file' or ('%d files'):format(files),
    own = true,
    language = 'diff',
    note = 'git diff HEAD',
    bytes = #table.concat(known.lines, '\n'),
    lines = function()
      return known.lines
    end,
  })
end

--- What one mention stands for; nothing, if it is only a word.
---@param chat winnow.Chat
---@param mention winnow.Mention
---@return winnow.Found[]
function M.of(chat, mention)
  if mention.path then
    return { file.find(mention, chat.cwd) }
  end
  local found = mention.word == 'diff' and { changed(chat.cwd) }
    or editor.sources[mention.word](chat.cwd)
  for _, one in ipairs(found) do
    one.mention = mention.text
  end
  return found
end

--- What all mentions of a text stand for, each once.
---@param chat winnow.Chat
---@param lines string[]
---@return winnow.Found[]
function M.all(chat, lines)
  local all, seen = {}, {}
  for _, mention in ipairs(mention_.all(lines)) do
    if not seen[mention.text] then
      seen[mention.text] = true
      vim.list_extend(all, M.of(chat, mention))
    end
  end
  return all
end

--- Have ready what takes time: without any, at once.
---@param chat winnow.Chat
---@param lines string[]
---@param done fun(waited: boolean)
function M.prepare(chat, lines, done)
  local words = {}
  for _, mention in ipairs(mention_.all(lines)) do
    words[mention.word] = not mention.path
  end
  local waits, waited = 1, false
  local function ready()
    waits = waits - 1
    if waits == 0 then
      done(waited)
    end
  end
  if words.diff then
    waits = waits + 1
    diff.prepare(chat.cwd, ready)
  end
  local buf = words.symbol and editor.beside()
  if buf then
    waits = waits + 1
    symbol.prepare(buf, ready)
  end
  waited = waits > 1
  ready()
end

--- One sentence on the mentions that can't be sent.
---@param found winnow.Found[]
---@return string? sentence
local function refusal(found)
  local problems, large = {}, true
  for _, one in ipairs(found) do
    if one.problem then
      table.insert(problems, ('%s %s'):format(one.mention, one.problem))
      large = large and one.large
    end
  end
  if #problems > 0 then
    local how = large and '<CR> again sends it' or '<CR> again sends the draft without'
    -- What is to be done comes first, for the reasons stand beside the mentions, too.
    return ('%s: %s.'):format(how, table.concat(problems, ', '))
  end
end

--- An image as base64.
---@param path string
---@return string
local function encoded(path)
  local reading = assert(io.open(path, 'rb'))
  local bytes = reading:read('*a')
  reading:close()
  return vim.base64.encode(bytes)
end

--- What goes along, as the host gets it. A file that has gone meanwhile does not.
---@param found winnow.Found[]
---@return winnow.Attachment[]
local function attachments(found)
  local all = {}
  for _, one in ipairs(found) do
    local goes = one.own and (not one.problem or one.large)
    local ok, lines = pcall(one.lines or function()
      return {}
    end)
    local seen, image = pcall(encoded, one.image or '')
    if goes and ok and (seen or not one.image) then
      table.insert(all, {
        mention = one.mention,
        name = one.name,
        text = table.concat(lines, '\n'),
        language = one.language or '',
        note = one.note or '',
        image = one.image and image or '',
        media = one.media or '',
        path = one.path or false,
      })
    end
  end
  return all
end

local SENT = ('%s @'):format(grammar.OUTPUT)

--- What stands in the chat, below a message, of what went along with it.
---@param found winnow.Found[]
---@return string? line
local function told(found)
  local parts = {}
  for _, one in ipairs(found) do
    if not one.problem or one.large then
      local amount = found_.amount(one)
      local name = one.name .. (amount and ', ' .. amount or '')
      table.insert(parts, ('%s → %s'):format(one.mention, name))
    end
  end
  return #parts > 0 and ('%s %s'):format(grammar.OUTPUT, table.concat(parts, ' · ')) or nil
end

--- A message of the chat without what is told of what went along.
---@param text string
---@return string
function M.words(text)
  local at = text:match('^.*()\n')
  local last = text:sub((at or 0) + 1)
  return vim.startswith(last, SENT) and trim.both(text:sub(1, at or 0)) or text
end

---@class winnow.Along
---@field attached winnow.Attachment[]
---@field line? string what the chat tells of it

--- Gather what goes along with the draft, and go on with it. A draft with a mention that can't be
--- sent stays, unless it is sent again as it is; why is said.
---@param chat winnow.Chat
---@param go fun(along: winnow.Along, waited: boolean)
---@param stay? fun() instead
---@param text_of? fun(): string what is sent, in place of the draft
function M.gather(chat, go, stay, text_of)
  text_of = text_of or function()
    return chat:draft()
  end
  local text = text_of()
  local lines = vim.split(text, '\n', { plain = true })
  M.prepare(chat, lines, function(waited)
    if waited and not vim.api.nvim_buf_is_loaded(chat.buf) then
      return
    elseif text_of() ~= text then -- it was edited meanwhile
      return M.gather(chat, go, stay, text_of)
    end
    local found = M.all(chat, lines)
    local sentence = chat.insists ~= text and refusal(found)
    if sentence then
      chat.insists = text
      say(sentence, 'warn')
      return stay and stay()
    end
    go({ attached = attachments(found), line = told(found) }, waited)
  end)
end

return M
