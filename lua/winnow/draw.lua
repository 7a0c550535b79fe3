--- What is drawn over the text of a chat: hidden markers, coloured tool lines. Done line by line
--- while Neovim draws, so no edit, paste or undo can leave a line as it should not be.
local frontmatter = require('winnow.frontmatter')
local marker = require('winnow.marker')

local M = {}

local namespace = vim.api.nvim_create_namespace('winnow.draw')

-- How a line starts, and its colour.
local GROUPS = {
  ['▸'] = 'WinnowTool',
  ['✻'] = 'WinnowOutput',
  ['│'] = 'WinnowOutput',
  ['⚠'] = 'WinnowNotice',
  ['■'] = 'WinnowNotice',
  ['✓'] = 'WinnowDecided',
  ['✗'] = 'WinnowUndecided',
}

local frontmatter_end = -1 -- last row of it in the buffer that is drawn now

local function draw_line(_, _, buf, row)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if not line then
    return
  end
  -- Each of the starts is three bytes long.
  local group = row <= frontmatter_end and 'WinnowStatus' or GROUPS[line:sub(1, 3)]
  if group then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      end_col = #line,
      hl_group = group,
      ephemeral = true,
      priority = 200, -- above Markdown, which such a line is not
    })
  end
  for _, span in ipairs(line:find('--', 1, true) and marker.spans(line) or {}) do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
      end_col = span[2],
      conceal = ' ', -- one blank, so that what `A` appends stands apart
      ephemeral = true,
      priority = 200,
    })
  end
end

--- Start drawing.
---@param shown fun(buf: integer): boolean whether a buffer is a chat
function M.start(shown)
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf)
      if not shown(buf) then
        return false
      end
      frontmatter_end = select(2, frontmatter.read(buf)) or -1
    end,
    on_line = draw_line,
  })
end

return M
