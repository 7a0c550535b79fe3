--- Texts that are drawn as lines of their own, as wide as a window is.
local M = {}

---@alias winnow.Chunk { [1]: string, [2]: string } text and its colour

--- Break a text into pieces that fit a width.
---@param text string
---@param width integer columns
---@return string[]
function M.wrapped(text, width)
  if vim.fn.strdisplaywidth(text) <= width then
    return { text }
  end
  local pieces, piece = {}, ''
  for _, word in ipairs(vim.split(text, ' ', { plain = true })) do
    local longer = piece == '' and word or piece .. ' ' .. word
    if piece ~= '' and vim.fn.strdisplaywidth(longer) > width then
      table.insert(pieces, piece)
      piece = word
    else
      piece = longer
    end
  end
  table.insert(pieces, piece)
  return pieces
end

--- Texts as lines of their own, in the colour of a hint.
---@param texts string[]
---@param lead? string what each begins with
---@return winnow.Chunk[][]
function M.in_lines(texts, lead)
  return vim.tbl_map(function(text)
    return { { (lead or '') .. text, 'WinnowHint' } }
  end, texts)
end

return M
