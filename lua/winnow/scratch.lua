--- Buffers without a name, which are made to be filled.

--- Make one that can be changed, whatever was said with `:set nomodifiable` elsewhere.
---@return integer buf
return function()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  return buf
end
