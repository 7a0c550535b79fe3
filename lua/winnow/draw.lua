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
  ['↻'] = 'WinnowNotice',
  ['✓'] = 'WinnowDecided',
  ['✗'] = 'WinnowUndecided',
}

-- Of the buffer that is drawn now:
local frontmatter_end = -1 -- last row of it
local section ---@type winnow.Section?

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
  if not line:find('--', 1, true) then
    return
  end
  local id = section and section:contains(row) and section.id or nil
  for _, span in ipairs(marker.spans(line, id)) do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
      end_col = span[2],
      conceal = ' ', -- one blank, so that what `A` appends stands apart
      ephemeral = true,
      priority = 200,
    })
  end
end

--- Start drawing.
---@param chat_of fun(buf: integer): winnow.Chat?
function M.start(chat_of)
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf)
      local chat = chat_of(buf)
      if not chat then
        return false
      end
      section = chat.section
      frontmatter_end = select(2, frontmatter.read(buf)) or -1
    end,
    on_line = draw_line,
  })
end

return M
