--- How often what grows is parsed. A paragraph that streams in is parsed from its start each time:
--- the longer that takes, the less often it is done, until the paragraph is complete.
local growth = require('winnow.chat.growth')

local M = {}

local REST = 150 -- times what parsing takes, until it is done again
local LATEST = 250 -- milliseconds, at most
local PAUSE = 60 -- milliseconds in which nothing grows, until it is done at once

---@class winnow.Parsed how a buffer was parsed last
---@field tick integer its 'changedtick'
---@field count integer its lines
---@field top integer what was drawn
---@field bottom integer
---@field due integer when it is parsed again though it only grew, in nanoseconds

local last = {} ---@type table<integer, winnow.Parsed> by buffer
local timers = {} ---@type table<integer, uv.uv_timer_t> until it is drawn again, by buffer
local drawing = false
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('winnow.pace'), {
  on_start = function()
    drawing = true
  end,
  on_end = function()
    drawing = false
  end,
})

--- Note what was parsed, and how long it took.
---@param buf integer
---@param top integer
---@param bottom integer
---@param took integer in nanoseconds
local function remember(buf, top, bottom, took)
  last[buf] = {
    tick = vim.api.nvim_buf_get_changedtick(buf),
    count = vim.api.nvim_buf_line_count(buf),
    top = top,
    bottom = bottom,
    due = vim.uv.hrtime() + math.min(took * REST, LATEST * 1e6),
  }
end

--- Whether what is drawn now may be parsed later: nothing is in sight that was not, but what grew.
--- Whoever asks for a tree otherwise gets it as the text is.
---@param buf integer
---@param top integer
---@param bottom integer
---@return boolean
local function can_wait(buf, top, bottom)
  local was = last[buf]
  return drawing
    and was ~= nil
    and was.due > vim.uv.hrtime()
    and was.top <= top
    and was.bottom + vim.api.nvim_buf_line_count(buf) - was.count >= bottom
    and growth.only(buf, was.tick)
end

--- Whether a buffer has grown since it was parsed, and nothing else.
---@param buf integer
---@return boolean
function M.grew(buf)
  local was = last[buf]
  return was ~= nil
    and was.tick ~= vim.api.nvim_buf_get_changedtick(buf)
    and growth.only(buf, was.tick)
end

--- Draw a buffer again when it is to be parsed.
---@param buf integer
local function draw(buf)
  timers[buf]:close()
  timers[buf] = nil
  if vim.api.nvim_buf_is_loaded(buf) then
    last[buf].due = 0
    vim.api.nvim__redraw({ buf = buf, valid = false, flush = false })
  end
end

--- Have a buffer drawn again when it is due, or nothing grows any more.
---@param buf integer
local function draw_later(buf)
  local left = math.max(0, math.ceil((last[buf].due - vim.uv.hrtime()) / 1e6))
  timers[buf] = timers[buf] or assert(vim.uv.new_timer())
  timers[buf]:start(
    math.min(PAUSE, left),
    0,
    vim.schedule_wrap(function()
      if timers[buf] then
        draw(buf)
      end
    end)
  )
end

--- Parse what is drawn of a buffer, unless that may wait: then it is drawn as it was parsed.
---@param parser vim.treesitter.LanguageTree
---@param buf integer
---@param top integer
---@param bottom integer
---@param parse fun(): table<integer, TSTree>? nil: it goes on by itself
---@return table<integer, TSTree>?
function M.parse(parser, buf, top, bottom, parse)
  if can_wait(buf, top, bottom) then
    draw_later(buf)
    return parser:trees()
  end
  local began = vim.uv.hrtime()
  local trees = parse()
  if trees then
    remember(buf, top, bottom, vim.uv.hrtime() - began)
  end
  return trees
end

return M
