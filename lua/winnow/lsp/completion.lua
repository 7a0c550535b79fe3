--- What completes what stands before the cursor of a chat.
local asked_ = require('winnow.lsp.asked')
local config = require('winnow.config')
local engine = require('winnow.engine')
local found_ = require('winnow.context.found')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local mention_ = require('winnow.context.mention')
local offers = require('winnow.context.offers')
local paths = require('winnow.lsp.paths')
local registry = require('winnow.registry')

local M = {}

local KIND = vim.lsp.protocol.CompletionItemKind
local HINT = 40 -- of a hint so much is in the menu, whose rest is for what says more

---@class winnow.Completion
---@field label string
---@field name? string what of it is searched; else all
---@field text string what is inserted
---@field kind integer
---@field detail? string
---@field about? string Markdown
---@field whole? boolean there are blanks or quotes in it, where Neovim would cut a plain text

---@param item winnow.Completion
---@return string
local function name_of(item)
  return item.name or item.label
end

--- Keep those whose name has the characters of the query in their order; first those that begin
--- with it, for a mode that is chosen unseen must be the one that was typed.
---@param items winnow.Completion[]
---@param query string
---@return winnow.Completion[]
local function matching(items, query)
  if query == '' then
    return items
  end
  local found = vim.fn.matchfuzzy(items, query, { text_cb = name_of })
  local first, others = {}, {}
  for _, item in ipairs(found) do
    local begins = vim.startswith(name_of(item):lower(), query:lower())
    table.insert(begins and first or others, item)
  end
  return vim.list_extend(first, others)
end

--- A path as a mention.
---@param path string
---@return winnow.Completion
local function of_path(path)
  local folder = vim.endswith(path, '/')
  local kind = folder and KIND.Folder or KIND.File
  if mention_.is_quoted(path) then
    local text = ('@"%s"'):format(path)
    return { label = text, name = path, text = text, kind = kind, whole = true }
  end
  return { label = path, name = path, text = '@' .. path, kind = kind }
end

--- Names of buffers that show files of the project.
---@param cwd string
---@return string[]
local function open_files(cwd)
  local names = {}
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local own = vim.startswith(info.name, cwd .. '/') and not registry.get(info.bufnr)
    if own and vim.bo[info.bufnr].buftype == '' then
      table.insert(names, found_.name(info.name, cwd))
    end
  end
  return names
end

---@param chat winnow.Chat
---@param query string
---@param done fun(items: winnow.Completion[])
local function mentions(chat, query, done)
  local items = {}
  for _, word in ipairs(vim.fn.sort(vim.tbl_keys(mention_.WORDS))) do
    if vim.startswith(word, query:lower()) then
      local about = mention_.WORDS[word]
      table.insert(items, { label = word, text = '@' .. word, kind = KIND.Keyword, detail = about })
    end
  end
  local seen = {}
  local open = vim.tbl_map(of_path, open_files(chat.cwd))
  for _, item in ipairs(matching(open, query)) do
    seen[item.name] = true
    item.detail = 'open'
    table.insert(items, item)
  end
  paths.find(chat.cwd, query, function(found)
    for _, path in ipairs(found) do
      if not seen[path] then
        table.insert(items, of_path(path))
      end
    end
    done(items)
  end)
end

---@param chat winnow.Chat
---@return winnow.Completion[]
local function commands(chat)
  local known = offers.of(chat.buf)
  if #known == 0 then
    engine.wake(chat)
  end
  return vim.tbl_map(function(command)
    local name = '/' .. command.name
    local hint = command.hint
    local about = #hint > HINT and ('%s\n\n%s'):format(hint, command.about) or command.about
    hint = #hint > HINT and vim.fn.strcharpart(hint, 0, HINT) .. '…' or hint
    local label = hint ~= '' and ('%s %s'):format(name, hint) or name
    -- No function: others would add brackets.
    return { label = label, name = command.name, text = name, about = about, kind = KIND.Keyword }
  end, known)
end

---@param words string[]
---@param kind integer
---@param tail string
---@return winnow.Completion[]
local function plain(words, kind, tail)
  return vim.tbl_map(function(word)
    return { label = word, text = word .. tail, kind = kind }
  end, words)
end

---@param chat winnow.Chat
---@param key string
---@return winnow.Completion[]
local function values(chat, key)
  if key == 'mode' then
    return plain(config.modes, KIND.EnumMember, '')
  elseif key == 'questions' then
    return plain({ 'tool', 'text', 'both' }, KIND.EnumMember, '')
  elseif key ~= 'model' then
    return plain(engine.values(key, chat) or {}, KIND.EnumMember, '')
  end
  local known = engine.offers(chat)
  local models = known and known.models or {}
  return vim.tbl_map(function(name)
    return { label = name, text = name, kind = KIND.EnumMember, detail = models[name] }
  end, vim.fn.sort(vim.tbl_keys(models)))
end

--- What is asked for at a place of a chat.
---@param chat winnow.Chat
---@param row integer from 0
---@param col integer bytes before the cursor
---@return winnow.Asked?
local function asked_at(chat, row, col)
  local line = (chat:lines(row, row + 1)[1] or ''):sub(1, col)
  local start = chat:draft_row()
  if row >= start then
    local above = chat:lines(start, row)
    return asked_.in_draft(line, not table.concat(above):find('%S'))
  end
  local _, last = frontmatter.read(chat.buf)
  return last and row > 0 and row < last and asked_.in_frontmatter(line) or nil
end

--- Have what completes a place.
---@param chat winnow.Chat
---@param row integer from 0
---@param col integer bytes before the cursor
---@param done fun(items: winnow.Completion[], asked?: winnow.Asked)
function M.at(chat, row, col, done)
  local asked = asked_at(chat, row, col)
  if not asked then
    done({})
  elseif asked.kind == 'mention' then
    mentions(chat, asked.query, function(items)
      done(items, asked)
    end)
  elseif asked.kind == 'command' then
    done(matching(commands(chat), asked.query), asked)
  elseif asked.kind == 'value' then
    done(matching(values(chat, asked.key), asked.query), asked)
  else
    done(matching(plain(grammar.KEYS, KIND.Property, ': '), asked.query), asked)
  end
end

return M
