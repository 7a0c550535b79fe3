--- What is drawn over a line that has one row, or beside it, in place of what stands there.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local tool = require('winnow.chat.tool')
local trim = require('winnow.trim')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.draw')

--- Columns for text in a window.
---@param win integer
---@return integer
local function text_width(win)
  local info = vim.fn.getwininfo(win)[1]
  return info.width - info.textoff
end

-- Above what is drawn over Markdown by plugins that don't say how high.
local COVER = 2 * 4096

--- Draw a text over a line that has one row, and over whatever else is drawn there.
---@param buf integer
---@param row integer
---@param text string
---@param width integer columns of the window
---@param group? string
local function cover(buf, row, text, width, group)
  local rest = math.max(0, width - vim.fn.strdisplaywidth(text))
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    virt_text = { { text .. (' '):rep(rest), { 'WinnowCover', group } } },
    virt_text_pos = 'overlay',
    hl_mode = 'combine',
    ephemeral = true,
    priority = COVER,
  })
end

-- Rows after which a long output says how many lines it leaves out: see `core/text/terminal.py`.
local HEAD = 1500
local LEFT_OUT = ('^%s … ([%%d,]+) more lines$'):format(grammar.OUTPUT)

local NARROW = 50 -- columns of a window in which a number has to do for a longer line

--- How much a closed fold hides beneath its first line.
---@param buf integer
---@param row integer
---@param last integer
---@param line string the first one
---@param width integer columns
---@return string
local function hidden(buf, row, last, line, width)
  local lines = last - row
  if lines > HEAD then
    local cut = vim.api.nvim_buf_get_lines(buf, row + 1 + HEAD, row + 2 + HEAD, false)[1]
    local more = cut and cut:match(LEFT_OUT)
    lines = lines + (more and tonumber((more:gsub(',', ''))) - 1 or 0)
  end
  local number = (' %s %d'):format(grammar.OUTPUT, lines)
  local words = number .. (lines == 1 and ' line' or ' lines')
  local fits = vim.fn.strdisplaywidth(line .. words) <= width
  return (fits or width >= NARROW) and words or number
end

--- Say behind a line in whose fold something is hidden how much that is. And shorten a tool's line
--- that has one row only, as there. Drawn over it: Neovim cuts a line as if what is hidden were
--- there.
---@param win integer
---@param buf integer
---@param row integer
---@param line string
---@param group? string
function M.fit(win, buf, row, line, group)
  local width = text_width(win)
  local last, wraps = unpack(vim.api.nvim_win_call(win, function()
    return { vim.fn.foldclosedend(row + 1) - 1, vim.wo.wrap }
  end))
  if last < row and wraps then
    return
  end
  local more = last > row and hidden(buf, row, last, line, width) or ''
  local rest = width - vim.fn.strdisplaywidth(more)
  local shown = tool.fitted(line, rest)
  if shown then
    cover(buf, row, shown, width, group)
  end
  if more ~= '' then
    local column = math.min(vim.fn.strdisplaywidth(shown or line), rest)
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      virt_text = { { more, 'WinnowHint' } },
      virt_text_win_col = column,
      hl_mode = 'combine',
      ephemeral = true,
      priority = COVER + 1, -- over the cover's blanks
    })
  end
end

--- Draw a fence of a body, without the marker of the one that opens it: a plugin that draws
--- Markdown shows what follows the language, however well that is hidden, and hides the other one.
---@param win integer
---@param buf integer
---@param row integer
---@param line string
---@param group? string
function M.fence(win, buf, row, line, group)
  local width, shown = text_width(win), marker.strip(line)
  if vim.fn.strdisplaywidth(shown) <= width then
    cover(buf, row, shown, width, group)
  end
end

--- Say in one line what the frontmatter holds, which is folded.
---@param win integer
---@param buf integer
function M.summarise(win, buf)
  local width = text_width(win)
  cover(buf, 0, tool.beginning(frontmatter.summary(buf, width), width), width, 'WinnowStatus')
end

local SOME = 20 -- lines in which a message says what it is about
local LONG = 2000 -- of a turn, whose tools are counted
local TAKEN = grammar.ENDED .. ' '

--- What a turn has taken: its last line says so, unless it was stopped.
---@param lines string[]
---@return string
local function taken(lines)
  local tools = 0
  for i = #lines, 1, -1 do
    if vim.startswith(lines[i], TAKEN) then
      return lines[i]:sub(#TAKEN + 1)
    end
    tools = tools + (vim.startswith(lines[i], grammar.TOOL) and 1 or 0)
  end
  return tools == 0 and '' or ('%d tool%s'):format(tools, tools == 1 and '' or 's')
end

--- Say beside the heading of a folded turn how it begins, and what it has taken.
---@param win integer
---@param buf integer
---@param row integer
---@param heading string
function M.introduce(win, buf, row, heading)
  local last = vim.api.nvim_win_call(win, function()
    return vim.fn.foldclosedend(row + 1)
  end)
  if last == -1 then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(buf, row + 1, math.min(last, row + SOME), false)
  local text = vim.iter(lines):find(function(line)
    return line:find('%S')
  end)
  local ends = vim.api.nvim_buf_get_lines(buf, math.max(row + 1, last - LONG), last, false)
  local took = taken(ends)
  took = took == '' and '' or (' %s %s'):format(grammar.OUTPUT, took)
  local room = text_width(win) - #heading - 1 - vim.fn.strdisplaywidth(took)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    virt_text = {
      { tool.beginning(trim.both(marker.strip(text or '')), math.max(room, 1)), 'WinnowHint' },
      { took, 'WinnowStatus' },
    },
    virt_text_win_col = #heading + 1,
    ephemeral = true,
  })
end

return M
