--- Markers say which option a line is: `<!--winnow:ID.QUESTION.SLOT-->`, concealed everywhere.
--- SLOT is the option's number, or a letter: h head, q question text, e own answer, f foot, r record.
local M = {}

local WHOLE = '<!%-%-[wW][iI][nN][nN][oO][wW]:(%w+)%.(%d+)%.(%w+)%-%->'
-- What an edit leaves of a marker should not peek through either.
local CONCEALED = {
  '<?!?%-+[wW][iI][nN][nN][oO][wW]:[%w%.]*%-*>?',
  '<!%-%-[wW]?[iI]?[nN]?[nN]?[oO]?[wW]?$',
}

local namespace = vim.api.nvim_create_namespace('winnow.marker')

---@class winnow.Marker
---@field id string
---@field question integer from 1; 0 for the foot and for records
---@field slot string

--- The first marker of a line.
---@param line string
---@param id? string only a marker of this section
---@return winnow.Marker?
function M.of(line, id)
  for found, question, slot in line:gmatch(WHOLE) do
    found = found:lower()
    if not id or id == found then
      return { id = found, question = tonumber(question), slot = slot:lower() }
    end
  end
end

--- A text without its markers.
---@param text string
---@return string
function M.strip(text)
  return (text:gsub(WHOLE, ''))
end

--- Hide markers in every window that shows one of these buffers. Done while drawing, so no edit,
--- paste or undo can leave one uncovered.
---@param shown fun(buf: integer): boolean whether a buffer is a chat
function M.conceal(shown)
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf)
      return shown(buf)
    end,
    on_line = function(_, _, buf, row)
      local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
      if not line or not line:find('%-%-') then
        return
      end
      for _, pattern in ipairs(CONCEALED) do
        local from, to = line:find(pattern)
        while from do
          if line:sub(from - 3, from - 1) ~= '‹' then -- else it is the agent's text, and stays
            vim.api.nvim_buf_set_extmark(buf, namespace, row, from - 1, {
              end_col = to,
              conceal = ' ', -- one blank, so that what `A` appends stands apart
              ephemeral = true,
              priority = 200,
            })
          end
          from, to = line:find(pattern, to + 1)
        end
      end
    end,
  })
end

return M
