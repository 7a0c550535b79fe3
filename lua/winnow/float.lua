--- Markdown in a float; asked for again, the cursor goes into it.
---@param lines string[]
---@param id string which float it is
return function(lines, id)
  vim.lsp.util.open_floating_preview(lines, 'markdown', { border = 'rounded', focus_id = id })
end
