--- What the mention of a path means: a file, some lines of one, a folder, an image.
local found_ = require('winnow.context.found')

local M = {}

local SAMPLE = 8000 -- bytes in which a binary file has a NUL, as git looks for one
local IMAGES = { png = 'png', jpg = 'jpeg', jpeg = 'jpeg', gif = 'gif', webp = 'webp' }
local IMAGE = 5 * 1000 * 1000 * 3 / 4 -- bytes of an image that the API takes, as base64
local FRESH = 1000 -- milliseconds for which what a file holds is believed

--- The file that a path names, from the chat's directory.
---@param word string
---@param cwd string
---@return string
local function absolute(word, cwd)
  local home = word:match('^~(/.*)$') or word == '~' and ''
  local path = home and vim.uv.os_homedir() .. home
    or vim.startswith(word, '/') and word
    or cwd .. '/' .. word
  return vim.fs.normalize(vim.fn.simplify(path), { expand_env = false })
end

--- Whether a word that names nothing was meant to: others, such as `@property`, are just words.
---@param mention winnow.Mention
---@param cwd string
---@return boolean
local function is_meant(mention, cwd)
  local word = mention.word
  local folder = word:match('^([^/]+)/.')
  return word:find('^%.?%.?/') ~= nil
    or word:find('^~/') ~= nil
    or mention.first ~= nil
    or word:find('[^/]%.%a[%w_]*$') ~= nil
    or folder ~= nil and vim.uv.fs_stat(cwd .. '/' .. folder) ~= nil
end

--- The buffer that shows a file, if its text is loaded.
---@param path string
---@return integer? buf
function M.buffer(path)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '[]*?{},\\^$') .. '$')
  local same = buf > 0 and vim.api.nvim_buf_get_name(buf) == path
  return same and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---@class winnow.Sample
---@field at integer when it was taken, in milliseconds
---@field stamp string of the file
---@field binary boolean
---@field bytes? integer of the lines that were asked for
---@field count? integer how many lines there are before their end

local samples = {} ---@type table<string, winnow.Sample>

--- What is in a file, as far as one must look. Never waits for a pipe: it is a plain file.
---@param path string
---@param stat table
---@param mention winnow.Mention
---@return winnow.Sample
local function sample(path, stat, mention)
  local key = ('%s:%s-%s'):format(path, mention.first or '', mention.last or '')
  local stamp = ('%d.%d.%d'):format(stat.size, stat.mtime.sec, stat.mtime.nsec)
  local known, now = samples[key], vim.uv.now()
  if known and known.stamp == stamp and now - known.at < 60 * FRESH then
    return known
  end
  local taken = { at = now, stamp = stamp, binary = false }
  samples[key] = taken
  local file = io.open(path, 'rb')
  if file then
    taken.binary = (file:read(SAMPLE) or ''):find('\0', 1, true) ~= nil
    if mention.first and not taken.binary and stat.size <= found_.LARGEST then
      file:seek('set', 0)
      taken.bytes, taken.count = 0, 0
      for line in file:lines() do
        taken.count = taken.count + 1
        if taken.count >= mention.first then
          taken.bytes = taken.bytes + #line + 1
        end
        if taken.count == mention.last then
          break
        end
      end
    end
    file:close()
  end
  return taken
end

--- Some lines of a file on disk.
---@param path string
---@param first integer
---@param last integer
---@return string[]
local function read(path, first, last)
  local lines, count = {}, 0
  for line in io.lines(path) do
    count = count + 1
    if count >= first then
      table.insert(lines, (line:gsub('\r$', '')))
    end
    if count == last then
      break
    end
  end
  return lines
end

--- What a buffer's lines are, as a mention asks for them.
---@param found winnow.Found
---@param buf integer
---@param mention { first?: integer, last?: integer }
---@return winnow.Found
function M.of_buffer(found, buf, mention)
  local count = vim.api.nvim_buf_line_count(buf)
  local first, last = mention.first or 1, math.min(mention.last or count, count)
  if first > count then
    found.problem = ('has only %d line%s'):format(count, count == 1 and '' or 's')
    return found
  end
  found.own, found.language = true, vim.bo[buf].filetype
  found.name = found_.range(found.name, mention.first, last)
  found.note = vim.bo[buf].modified and 'not saved' or found.note
  local offset = vim.api.nvim_buf_get_offset
  found.bytes = math.max(0, offset(buf, last) - offset(buf, first - 1))
  ---@return string[]
  found.lines = function()
    return vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  end
  return found_.measured(found)
end

--- An image.
---@param found winnow.Found
---@param path string
---@param bytes integer
---@param plain boolean Claude Code takes it by its name
---@return winnow.Found
local function image(found, path, bytes, plain)
  found.size = ('image, %s'):format(found_.size(bytes))
  if plain then
    return found -- which makes large ones smaller
  elseif bytes > IMAGE then
    found.problem = ('is too large for an image: %s'):format(found_.size(bytes))
    return found
  end
  found.own, found.image = true, path
  found.media = 'image/' .. IMAGES[path:match('%.(%w+)$'):lower()]
  return found
end

--- A plain file.
---@param found winnow.Found
---@param path string
---@param stat table
---@param mention winnow.Mention
---@param plain boolean
---@return winnow.Found
local function plain_file(found, path, stat, mention, plain)
  local extension = (path:match('%.(%w+)$') or ''):lower()
  if not vim.uv.fs_access(path, 'R') then
    found.problem = 'can not be read'
  elseif IMAGES[extension] then
    return image(found, path, stat.size, plain)
  elseif extension == 'pdf' and plain then
    found.size = ('PDF, %s'):format(found_.size(stat.size))
  else
    local seen = sample(path, stat, mention)
    found.bytes = seen.bytes or not mention.first and stat.size or nil
    found.name = found_.range(found.name, mention.first, mention.last)
    if seen.binary then
      found.problem = 'is binary'
    elseif mention.first and seen.count and seen.count < mention.first then
      found.problem = ('has only %d line%s'):format(seen.count, seen.count == 1 and '' or 's')
    elseif mention.first and not seen.count then
      found.problem = ('is too large to look for lines in it: %s'):format(found_.size(stat.size))
    elseif not plain or mention.first then
      found.own = true
      found.language = vim.filetype.match({ filename = path }) or ''
      ---@return string[]
      found.lines = function()
        return read(path, mention.first or 1, mention.last or math.huge)
      end
    end
  end
  return found_.measured(found)
end

--- What a folder is: the names in it, which Claude Code lists, too.
---@param found winnow.Found
---@param path string
---@param plain boolean
---@return winnow.Found
local function folder(found, path, plain)
  found.size, found.own = 'folder', not plain
  ---@return string[]
  found.lines = function()
    local names = {}
    for name, kind in vim.fs.dir(path) do
      table.insert(names, kind == 'directory' and name .. '/' or name)
    end
    return names
  end
  return found
end

--- Where a link leads out of the chat's directory: a project may call any file of the user's so.
---@param path string
---@param cwd string
---@return string?
local function leads_out(path, cwd)
  local inside = vim.startswith(path, cwd .. '/')
  local real, top = vim.uv.fs_realpath(path), vim.uv.fs_realpath(cwd)
  if inside and real and top and real ~= top and not vim.startswith(real, top .. '/') then
    return 'leads to ' .. vim.fn.fnamemodify(real, ':~')
  end
end

--- What the mention of a path means; nothing, where it is just a word.
---@param mention winnow.Mention
---@param cwd string the chat's
---@return winnow.Found?
function M.find(mention, cwd)
  local path = absolute(mention.whole, cwd)
  local stat = mention.first and vim.uv.fs_stat(path) or nil
  if stat then -- the lines are part of its name
    mention = vim.tbl_extend('force', mention, { word = mention.whole })
    mention.first, mention.last = nil, nil
  else
    path = absolute(mention.word, cwd)
    stat = vim.uv.fs_stat(path)
  end
  local name = found_.name(path, cwd)
  local found = { mention = mention.text, name = name, path = true } ---@type winnow.Found
  found.note = leads_out(path, cwd)
  local buf = M.buffer(path)
  if buf and stat and stat.type ~= 'file' then
    buf = nil
  end
  if buf and vim.bo[buf].buftype == '' and (vim.bo[buf].modified or not stat) then
    return M.of_buffer(found, buf, mention)
  elseif not stat then
    found.problem = 'is not there'
    return is_meant(mention, cwd) and found or nil
  end
  local plain = mention.plain and not path:find('#', 1, true)
  if stat.type == 'directory' then
    return folder(found, path, plain)
  elseif stat.type ~= 'file' then
    found.problem = 'is no file'
    return found
  end
  return plain_file(found, path, stat, mention, plain)
end

return M
