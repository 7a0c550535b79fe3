--- What is drawn over a line that has one row, or beside it, in place of what stands there.
local frontmatter = require('winnow.chat.frontmatter')
local marker = require('winnow.section.marker')
local tool = require('winnow.chat.tool')

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
    virt_text = { { text .. (' '):rep(rest), group } },
    virt_text_pos = 'overlay',
    hl_mode = 'combine',
    ephemeral = true,
    priority = COVER,
  })
end

--- Shorten a tool's line that has one row only, as where its output is folded. Drawn over it:
--- Neovim cuts a line as if what is hidden were there.
---@param win integer
---@param buf integer
---@param row integer
---@param line string
---@param group? string
function M.fit(win, buf, row, line, group)
  local width = text_width(win)
  local shown = tool.fitted(line, width)
  local closed = shown
    and vim.api.nvim_win_call(win, function()
      return not vim.wo.wrap or vim.fn.foldclosed(row + 1) ~= -1
    end)
  if shown and closed then
    cover(buf, row, shown, width, group)
  end
end

--- Draw the fence that opens a body without its marker: a plugin that draws Markdown shows what
--- follows the language, however well that is hidden.
---@param win integer
---@param buf integer
---@param row integer
---@param line string
---@param group? string
function M.fence(win, buf, row, line, group)
  local width, shown = text_width(win), marker.strip(line)
  if shown ~= line and vim.fn.strdisplaywidth(shown) <= width then
    cover(buf, row, shown, width, group)
  end
end

--- Say in one line what the frontmatter holds, which is folded.
---@param win integer
---@param buf integer
function M.summarise(win, buf)
  local width = text_width(win)
  cover(buf, 0, frontmatter.summary(buf, width), width, 'WinnowStatus')
end

local SOME = 20 -- lines in which a message says what it is about

--- Say beside the heading of a folded message how it begins.
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
  if text then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      virt_text = { { vim.trim(marker.strip(text)), 'WinnowHint' } },
      virt_text_win_col = #heading + 1,
      ephemeral = true,
    })
  end
end

return M
