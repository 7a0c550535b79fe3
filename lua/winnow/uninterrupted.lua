--- CTRL-C that is typed while Lua runs makes a command of ours fail. It was meant for what the user
--- types in, which gets it as well.
local TRIES = 3

--- Do something again that was interrupted. What else fails is raised.
---@generic R
---@param act fun(): R? what does no harm when it is done twice
---@param may_again? fun(): boolean
---@return R?
return function(act, may_again)
  for _ = 1, TRIES - 1 do
    local ok, result = xpcall(act, debug.traceback)
    if ok then
      return result
    elseif
      not tostring(result):find('Keyboard interrupt', 1, true) or may_again and not may_again()
    then
      error(result, 0)
    end
  end
  return act()
end
