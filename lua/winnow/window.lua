--- What a chat sets in the windows that show it, and nowhere else.
local M = {}

-- Markers are hidden on the cursor line too, in every mode.
local OPTIONS = {
  conceallevel = 2,
  concealcursor = 'nvic',
  wrap = true,
  linebreak = true,
  breakindent = true,
  foldmethod = 'manual',
  foldtext = '',
  foldlevel = 0,
  foldenable = true,
}

--- Set the options for this buffer in this window; other buffers of the window keep theirs. Done
--- once: later the user may want long lines or all folds open. Only markers stay hidden.
---@param win integer
function M.dress(win)
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.w[win].winnow_dressed == buf then
    M.reconceal(win)
    return
  end
  vim.w[win].winnow_dressed = buf
  for name, value in pairs(OPTIONS) do
    if vim.wo[win][name] ~= value then
      vim.wo[win][0][name] = value
    end
  end
  -- A closed fold is a tool's line, without dots after it.
  vim.wo[win][0].fillchars = vim.go.fillchars .. (vim.go.fillchars == '' and '' or ',') .. 'fold: '
end

--- A buffer is read anew, and Neovim may have forgotten what its windows had.
---@param buf integer
function M.forget(buf)
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.w[win].winnow_dressed == buf then
      vim.w[win].winnow_dressed = nil
    end
  end
end

--- Put conceal options back after a plugin or user changed them: a marker must never peek through.
---@param win integer
function M.reconceal(win)
  for _, name in ipairs({ 'conceallevel', 'concealcursor' }) do
    if vim.wo[win][name] ~= OPTIONS[name] then
      vim.wo[win][0][name] = OPTIONS[name]
    end
  end
end

return M
