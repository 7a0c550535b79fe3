--- Sentences for the user, outside the chat.
local log = require('winnow.log')

local LEVELS = { info = 'INFO', warn = 'WARN', error = 'ERROR' }

--- Say a sentence on the message line. One that does not fit is cut there, since a hit-enter prompt
--- would take the `<CR>` that the sentence may be about; `:Winnow log` shows it whole.
---@param text string
---@param level? 'info'|'warn'|'error'
return function(text, level)
  text = text:gsub('\n', ' ')
  local shown = text
  if vim.fn.strdisplaywidth(text) > vim.v.echospace then
    shown = vim.fn.strcharpart(text, 0, vim.v.echospace - 1)
    while vim.fn.strdisplaywidth(shown) >= vim.v.echospace do -- wide characters
      shown = vim.fn.strcharpart(shown, 0, vim.fn.strchars(shown) - 1)
    end
    shown = shown .. '…'
    table.insert(log.cut, text)
  end
  vim.notify(shown, vim.log.levels[LEVELS[level or 'info']])
end
