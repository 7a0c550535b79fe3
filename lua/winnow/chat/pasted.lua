--- What is pasted into a draft: it folds where it is long.
local folds = require('winnow.chat.fold')

---@class (partial) winnow.Chat
---@field pastes? boolean there are folds of what was pasted
---@field counted? integer lines when it was last looked for something pasted

local M = {}

local PASTED = 10 -- lines that come at once and may be more than a window shows

--- Fold what was pasted into the draft, if no window shows all of it: `zo` opens it.
---@param chat winnow.Chat
function M.fold(chat)
  local count = vim.api.nvim_buf_line_count(chat.buf)
  local more = count - (chat.counted or count)
  chat.counted = count
  if more < PASTED or chat.section then
    return
  end
  local first = vim.api.nvim_buf_get_mark(chat.buf, '[')[1]
  local last = vim.api.nvim_buf_get_mark(chat.buf, ']')[1]
  if first - 1 <= chat:heading_row() or last - first + 1 < more then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    local height = vim.api.nvim_win_get_height(win)
    if last - first + 1 > height then
      folds.rows(win, first - 1, last - 1)
      chat.pastes = true
      vim.api.nvim_win_call(win, function() -- else there is nothing but the fold
        vim.fn.winrestview({ topline = math.max(1, first - math.floor(height / 2)) })
      end)
    end
  end
end

return M
