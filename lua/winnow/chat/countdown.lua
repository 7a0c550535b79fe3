--- How long something still takes, in words.
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
