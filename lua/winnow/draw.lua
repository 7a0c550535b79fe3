--- What is drawn over the text of a chat: hidden markers, coloured tool lines. Done line by line
--- while Neovim draws, so no edit, paste or undo can leave a line as it should not be.
local cover = require('winnow.cover')
local fold = require('winnow.chat.fold')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local queued = require('winnow.chat.queued')
local record = require('winnow.chat.record')
local seen = require('winnow.section.seen')
local tool = require('winnow.chat.tool')
local view = require('winnow.section.view')

local M = {
  pages = {}, ---@type table<integer, true> buffers that read like a chat, but are none
}

local namespace = vim.api.nvim_create_namespace('winnow.draw')

-- How a line starts, and its colour.
local GROUPS = {
  [grammar.TOOL] = 'WinnowTool',
  [grammar.THOUGHT] = 'WinnowOutput',
  [grammar.OUTPUT] = 'WinnowOutput',
  [grammar.NOTICE] = 'WinnowNotice',
  [grammar.STOPPED] = 'WinnowNotice',
  [grammar.ENDED] = 'WinnowStatus',
  [grammar.REPLAYED] = 'WinnowNotice',
  [grammar.KEPT] = 'WinnowDecided',
  [grammar.REFUSED] = 'WinnowUndecided',
}

-- Whose words follow.
local SPEAKERS = {
  [grammar.YOU] = 'WinnowYou',
  [grammar.CLAUDE] = 'WinnowClaude',
  [grammar.ORCHESTRATOR] = 'WinnowYou',
  [grammar.WORKER] = 'WinnowClaude',
}

-- How a line of a diff starts, and its colour.
local DIFF = {
  ['+'] = 'WinnowAdded',
  ['-'] = 'WinnowRemoved',
  ['@'] = 'WinnowHunk',
  [' '] = 'WinnowContext',
}

-- Of the buffer that is drawn now:
local frontmatter_end = -1 -- last row of it
local heading = 0 -- row of the draft's
local pastes = false -- some of what was pasted is folded
local section ---@type { id: string, first: integer, after: integer }? the open one
local told = { row = -1 } ---@type { row: integer, output?: boolean } the line above, while drawing
local bodies = {} ---@type winnow.Fenced[]

--- The body that a row is in, from its fence to the marker below the other one.
---@param row integer
---@return winnow.Fenced?
local function body_at(row)
  for _, body in ipairs(bodies) do
    if row >= body.first and row <= body.last then
      return body
    end
  end
end

--- Where a row stands in a body.
---@param row integer
---@param line string
---@return integer? index 0: one of its fences
---@return winnow.Fenced? body
local function index_in_body(row, line)
  local body = body_at(row)
  if not body or row == body.last then
    return nil -- below its other fence
  elseif row == body.last - 1 and vim.startswith(line, '```') then
    return 0, body
  end
  return row - body.first, body
end

--- The colour of a line of a diff. The two lines that name the file are its first ones; further
--- down, `--- ` is a line `-- ` that is removed.
---@param line string
---@param index integer 1: the first below the fence
---@return string?
local function diff_group(line, index)
  if index <= 2 and (vim.startswith(line, '--- ') or vim.startswith(line, '+++ ')) then
    return 'WinnowFile'
  end
  return DIFF[line:sub(1, 1)]
end

--- The colour of a body's line.
---@param line string
---@param index integer 0: the fence
---@param info string what the body is, as the fence has it
---@return string?
local function body_group(line, index, info)
  if index == 0 then
    return 'WinnowHint'
  elseif info == 'diff' then
    return diff_group(line, index)
  end
end

--- The colour of a line of the transcript. Behind a bar only a tool's output has one: a table that
--- Claude draws begins with the same character.
---@param buf integer
---@param row integer
---@param line string
---@return string?
local function line_group(buf, row, line)
  local start = line:sub(1, 3) -- each of the starts is three bytes long
  local output = start == grammar.TOOL or start == grammar.THOUGHT
  if start == grammar.OUTPUT then
    output = told.output
    if told.row ~= row - 1 then
      output = fold.is_output(buf, row)
    end
  end
  told = { row = row, output = output }
  if start == grammar.TOOL and tool.failed(line) then
    return 'WinnowFailed'
  end
  return (start ~= grammar.OUTPUT or output) and GROUPS[start] or SPEAKERS[line]
end

--- Hide the markers of a line, and what edits have left of them.
---@param buf integer
---@param row integer
---@param line string
---@param id? string of the open section, if the line is its own: else what looks like the rest of a
--- marker is none
local function hide_markers(buf, row, line, id)
  for _, span in ipairs(marker.spans(line, id)) do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
      end_col = span[2],
      conceal = marker.is_within(line, span) and '' or ' ', -- what `A` appends stands apart
      ephemeral = true,
      priority = 200,
    })
  end
end

--- Colour an option: what is sent back, and what describes it. A note on it has no colour.
---@param buf integer
---@param row integer
---@param line string
---@param id? string of the open section, if the line is its own
local function draw_option(buf, row, line, id)
  local label, stop = nil, 0 ---@type integer?, integer
  if id then
    label, stop = marker.option(line, id)
  end
  for group, span in pairs({
    WinnowLabel = label and { 0, label },
    WinnowDescription = label and { label, stop },
  }) do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
      end_col = span[2],
      hl_group = group,
      ephemeral = true,
      priority = 200, -- above Markdown: it is what the agent wrote, letter for letter
    })
  end
end

--- Show what is signed in a record without its signs.
---@param buf integer
---@param row integer
---@param line string
local function draw_record(buf, row, line)
  for _, text in ipairs(record.signed(buf, row, line)) do
    ---@param first integer
    ---@param last integer
    ---@param look vim.api.keyset.set_extmark
    local function put(first, last, look)
      local mark = { end_col = last, ephemeral = true, priority = 200 }
      vim.api.nvim_buf_set_extmark(buf, namespace, row, first, vim.tbl_extend('error', mark, look))
    end
    put(text.first, text.last, { hl_group = text.group })
    put(text.first, text.first + text.sign, { conceal = '' })
    put(text.last - text.sign, text.last, { conceal = '' })
  end
end

--- Colour a line as a whole.
---@param buf integer
---@param row integer
---@param line string
---@return string? group
---@return integer? index of the line in a body, if it is in one
local function colour(buf, row, line)
  local index, body = index_in_body(row, line)
  local group
  if index then
    group = body_group(line, index, body and body.info or '')
  elseif row <= frontmatter_end then
    group = 'WinnowStatus'
  else
    group = line_group(buf, row, line)
  end
  if group then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      end_col = #line,
      hl_group = group,
      ephemeral = true,
      priority = 200, -- above Markdown, which such a line is not
    })
  end
  return group, index
end

--- Colour the bar of a message that waits; its number is shown once.
---@param buf integer
---@param row integer
---@param line string
local function draw_queued(buf, row, line)
  local number, text = queued.read(line)
  if not number then
    return
  end
  local above = row > 0 and vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1]
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    end_col = #line - #text,
    hl_group = 'WinnowQueued',
    ephemeral = true,
    priority = 200,
  })
  for at = 0, above and queued.read(above) == number and #tostring(number) - 1 or -1 do
    local look = { end_col = at + 1, conceal = ' ', ephemeral = true }
    vim.api.nvim_buf_set_extmark(buf, namespace, row, at, look)
  end
end

---@param win integer
---@param buf integer
---@param row integer
local function draw_line(_, win, buf, row)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if not line then
    return
  end
  if row == 0 and frontmatter_end > 0 then
    cover.summarise(win, buf)
  end
  local group, index = colour(buf, row, line)
  if index == 0 then
    cover.fence(win, buf, row, line, group)
  end
  if SPEAKERS[line] then
    cover.introduce(win, buf, row, line)
  end
  local tools = vim.startswith(line, grammar.TOOL) or line == grammar.THOUGHT .. ' Thinking'
  if tools or pastes and not group then
    cover.fit(win, buf, row, line, group)
  end
  draw_record(buf, row, line)
  if row > heading then
    draw_queued(buf, row, line)
  end
  if line:find('[=\226]') then -- what a marker, or the rest of one, must hold
    local ours = section and row >= section.first and row < section.after
    local id = ours and not (index and index > 0) and section.id or nil
    hide_markers(buf, row, line, id)
    draw_option(buf, row, line, id)
  end
end

--- Start drawing.
---@param chat_of fun(buf: integer): winnow.Chat?
function M.start(chat_of)
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, win, buf, top, bottom)
      local chat = chat_of(buf)
      if not chat and not M.pages[buf] then
        return false
      end
      section, bodies, told = nil, {}, { row = -1 }
      if chat and chat.section then
        local first, after = chat.section:rows()
        if top < after and bottom >= first then
          seen.drawn(chat.section, win)
        end
        section = { id = chat.section.id, first = first, after = after }
        bodies = view.bodies(chat.section)
      end
      heading = chat and chat:heading_row() or math.huge
      pastes = chat ~= nil and chat.pastes or false
      frontmatter_end = chat and select(2, frontmatter.read(buf)) or -1
    end,
    on_line = draw_line,
  })
end

return M
