--- A module whose functions are there at once, and which is loaded when one of them is called.
---@param name string
---@return table<string, function>
return function(name)
  return setmetatable({}, {
    __index = function(_, key)
      return function(...)
        return require(name)[key](...)
      end
    end,
  })
end
