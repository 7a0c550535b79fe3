--- How long something took, or still takes, in words; as in `core/text/duration.py`.
local M = {}

---@param seconds integer
---@return string
function M.words(seconds)
  if seconds <= 60 then
    return ('%d s'):format(seconds)
  elseif seconds < 3600 then
    return ('%d min %d s'):format(math.floor(seconds / 60), seconds % 60)
  end
  return ('%d h %d min'):format(math.floor(seconds / 3600), math.floor(seconds % 3600 / 60))
end

return M
