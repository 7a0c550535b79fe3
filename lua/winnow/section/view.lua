--- What an open section looks like beyond its text: rules, hints and the verdict. A function of
--- the text and of the last verdict, drawn anew after every change.
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local marker = require('winnow.section.marker')
local window = require('winnow.window')

local M = {}

local HINT = 'delete unwanted options with dd, <CR> confirms, <Esc><Esc> cancels'
local OWN = 'write your answer below, <CR> confirms, <Esc><Esc> cancels'
local ENDS = ('"enough" behind %s ends the questions'):format(grammar.OWN)
local CLARIFY = '<CR> on one takes it, dd drops it; ' .. ENDS
local OPTION = '•' -- before each option; as wide as `dress.lua` has wrapped rows hang
local RULE = 120 -- columns of a rule, where the window has them
local namespace = vim.api.nvim_create_namespace('winnow.section_view')
local listed = vim.api.nvim_create_namespace('winnow.section_view.options')
local peeks = vim.api.nvim_create_namespace('winnow.section_view.preview')

---@alias winnow.Chunk { [1]: string, [2]: string } text and its colour

---@class winnow.Fenced a body, where it is now; the rows are those of its fences
---@field first integer
---@field last integer
---@field info string

---@class winnow.Body a fenced block whose lines the user may edit
---@field mark integer extmark from fence to fence
---@field info string

---@param chunks winnow.Chunk[]
---@return integer columns
local function display_width(chunks)
  local width = 0
  for _, chunk in ipairs(chunks) do
    width = width + vim.fn.strdisplaywidth(chunk[1])
  end
  return width
end

--- The rest of a rule.
---@param used integer columns that it has already
---@param width integer columns of the window
---@return string
local function rule(used, width)
  return grammar.RULE:rep(math.min(RULE, width) - used)
end

--- Break a text into pieces that fit a width.
---@param text string
---@param width integer columns
---@return string[]
function M.wrapped(text, width)
  local pieces, piece = {}, ''
  for _, word in ipairs(vim.split(text, ' ', { plain = true })) do
    local longer = piece == '' and word or piece .. ' ' .. word
    if piece ~= '' and vim.fn.strdisplaywidth(longer) > width then
      table.insert(pieces, piece)
      piece = word
    else
      piece = longer
    end
  end
  table.insert(pieces, piece)
  return pieces
end

--- Texts as lines of their own, in the colour of a hint.
---@param texts string[]
---@param lead? string what each begins with
---@return winnow.Chunk[][]
function M.in_lines(texts, lead)
  return vim.tbl_map(function(text)
    return { { (lead or '') .. text, 'WinnowHint' } }
  end, texts)
end

---@param part winnow.Part
---@return string
local function part_group(part)
  return part.decided and 'WinnowDecided' or 'WinnowUndecided'
end

---@param part winnow.Part
---@return string
local function dot_of(part)
  return part.decided and grammar.DECIDED or grammar.UNDECIDED
end

---@class winnow.Shown what the foot says
---@field parts winnow.Part[]
---@field offer string
---@field waiting integer

--- The verdict; in its place, what a second press would do.
---@param section winnow.Section
---@return winnow.Shown
local function shown_of(section)
  if section.pending then
    return { parts = { { text = section.pending, decided = false } }, offer = '', waiting = 0 }
  end
  return section
end

--- The verdict on the foot's own line, or nil when it is too wide for that.
---@param shown winnow.Shown
---@param width integer columns
---@return winnow.Chunk[]?
local function foot_line(shown, width)
  local chunks = { { grammar.RULE:rep(2) .. ' ', 'WinnowFoot' } }
  if #shown.parts > 1 then
    local dots = vim.iter(shown.parts):map(dot_of)
    table.insert(chunks, { dots:join('') .. ' ', 'WinnowFoot' })
  end
  for i, part in ipairs(shown.parts) do
    table.insert(chunks, { (i > 1 and ' · ' or '') .. part.text, part_group(part) })
  end
  if shown.offer ~= '' then
    table.insert(chunks, { ' · ' .. shown.offer, 'WinnowHint' })
  end
  if shown.waiting > 0 then
    table.insert(chunks, { (' · %d more waiting'):format(shown.waiting), 'WinnowHint' })
  end
  local used = display_width(chunks)
  if used > width then
    return nil
  end
  table.insert(chunks, { ' ' .. rule(used + 1, width), 'WinnowFoot' })
  return chunks
end

--- The verdict as lines of its own, one or more for each question.
---@param shown winnow.Shown
---@param width integer columns
---@return winnow.Chunk[][]
local function foot_lines(shown, width)
  local lines = {}
  for _, part in ipairs(shown.parts) do
    local dot = dot_of(part) .. ' '
    for _, piece in ipairs(M.wrapped(part.text, width - 3)) do
      table.insert(lines, { { dot .. piece, part_group(part) } })
      dot = '  '
    end
  end
  for _, piece in ipairs(shown.offer ~= '' and M.wrapped(shown.offer, width - 3) or {}) do
    table.insert(lines, { { '  ' .. piece, 'WinnowHint' } })
  end
  if shown.waiting > 0 then
    table.insert(lines, { { ('%d more waiting'):format(shown.waiting), 'WinnowHint' } })
  end
  return lines
end

--- Take back all that was drawn.
---@param buf integer
function M.clear(buf)
  for _, space in ipairs({ namespace, listed, peeks }) do
    vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
  end
end

--- Where the bodies of a section are now.
---@param section winnow.Section
---@return winnow.Fenced[]
function M.bodies(section)
  return vim.tbl_map(function(body)
    local at =
      vim.api.nvim_buf_get_extmark_by_id(section.chat.buf, namespace, body.mark, { details = true })
    return { first = at[1] or -1, last = at[3] and at[3].end_row or -1, info = body.info }
  end, section.bodies)
end

--- The rows of a section that something is drawn on.
---@param section winnow.Section
---@param first integer
---@return { row: integer, line: string }[] heads
---@return { row: integer, hint: string }[] asked the last row of each question's text
---@return integer? foot
---@return winnow.Fenced[] bodies
---@return integer[] options
local function find(section, first)
  local heads, asked, foot, bodies, options = {}, {}, nil, {}, {}
  local open ---@type winnow.Fenced? a body that goes on
  local lines, marked = section:lines()
  for _, one in ipairs(marked) do
    local row, line, found = first + one.at - 1, lines[one.at], one.marker
    local slot = found.slot
    if open then -- one whose end is gone goes on to the next line of ours
      open.last = row
      table.insert(bodies, open)
      open = nil
    end
    if slot == grammar.BEGIN then
      open = { first = row, last = row, info = line:match('^`*(%w*)') }
    elseif slot == grammar.HEAD then
      table.insert(heads, { row = row, line = line })
    elseif slot == grammar.ASKED then
      asked[found.question] = { row = row, hint = OWN }
    elseif slot == grammar.FOOT then
      foot = row
    elseif tonumber(slot) then
      table.insert(options, row)
      if asked[found.question] then
        asked[found.question].hint = HINT
      end
    end
  end
  return heads, vim.tbl_values(asked), foot, bodies, options
end

--- The rest of a head's rule.
---@param head { row: integer, line: string }
---@param width integer columns of the window
---@return vim.api.keyset.set_extmark? nil: the head has no room for it
local function head_rule(head, width)
  local used = vim.fn.strdisplaywidth(marker.strip(head.line)) + 1
  if vim.fn.strdisplaywidth(head.line) <= width then
    -- At a column of the window: text after a marker would wrap as if that were visible.
    return { virt_text = { { rule(used, width), 'WinnowHead' } }, virt_text_win_col = used }
  end
end

--- The mark of an option: drawn, so that `^` is where the label begins. It goes with its line: on
--- the next one it would, until all is drawn anew, move the column that `j` keeps.
---@type vim.api.keyset.set_extmark
local LISTED = {
  virt_text = { { OPTION .. ' ', 'WinnowMark' } },
  virt_text_pos = 'inline',
  right_gravity = false,
  invalidate = true,
  undo_restore = false,
}

---@class winnow.Drawn a mark of a section
---@field id integer
---@field look vim.api.keyset.set_extmark

--- Draw marks, each of which has a place of its own in the list. One that is there stays: to set it
--- anew would have its line drawn anew.
---@param section winnow.Section
---@param wanted { [1]: integer, [2]: vim.api.keyset.set_extmark }[] row and look
local function put_all(section, wanted)
  local buf, drawn = section.chat.buf, {} ---@type integer, winnow.Drawn[]
  for i, mark in ipairs(wanted) do
    local row, look = mark[1], mark[2]
    local before = section.drawn[i]
    local at = before
      and vim.api.nvim_buf_get_extmark_by_id(buf, namespace, before.id, { details = true })
    local stays = at
      and at[1] == row
      and at[2] == 0
      and (not look.end_col or at[3].end_row == row and at[3].end_col == look.end_col)
      and (not look.end_row or at[3].end_row == look.end_row)
      and vim.deep_equal(before.look, look)
    local id = before and before.id
    if not stays then
      local put = vim.tbl_extend('error', look, { id = id })
      id = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, put)
    end
    drawn[i] = { id = id, look = look }
  end
  for i = #wanted + 1, #section.drawn do
    vim.api.nvim_buf_del_extmark(buf, namespace, section.drawn[i].id)
  end
  section.drawn = drawn
end

--- Draw the marks of options, as far as they are not there.
---@param buf integer
---@param rows integer[]
local function list(buf, rows)
  local missing = {} ---@type table<integer, true>
  for _, row in ipairs(rows) do
    missing[row] = true
  end
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, listed, 0, -1, {})) do
    if missing[mark[2]] and mark[3] == 0 then
      missing[mark[2]] = nil
    else
      vim.api.nvim_buf_del_extmark(buf, listed, mark[1])
    end
  end
  for row in pairs(missing) do
    vim.api.nvim_buf_set_extmark(buf, listed, row, 0, LISTED)
  end
end

--- Draw a section.
---@param section winnow.Section
function M.draw(section)
  local buf = section.chat.buf
  local width = window.text_width(buf)
  local first, after = section:rows()
  local heads, asked, foot, bodies, options = find(section, first)
  local wanted = {} ---@type { [1]: integer, [2]: vim.api.keyset.set_extmark }[]
  ---@param row integer
  ---@param look? vim.api.keyset.set_extmark
  local function put(row, look)
    table.insert(wanted, { row, look or {} })
  end
  for _, body in ipairs(bodies) do
    put(body.first, { end_row = body.last })
  end
  for _, head in ipairs(heads) do
    put(head.row, { end_col = #head.line, hl_group = 'WinnowHead' })
    put(head.row, head_rule(head, width))
  end
  local clarifies = section.pristine and frontmatter.read(buf).clarify
  for _, last in ipairs(section.pristine and asked or {}) do
    local hint = clarifies and last.hint == HINT and #bodies == 0 and CLARIFY or last.hint
    put(last.row, { virt_lines = M.in_lines(M.wrapped(hint, width)) })
  end
  local shown = shown_of(section)
  local verdict = foot_line(shown, width)
  if foot then
    local line = verdict or { { rule(0, width), 'WinnowFoot' } }
    put(foot, { virt_text = line, virt_text_pos = 'overlay' })
  end
  if not (foot and verdict) then
    put(foot or after - 1, { virt_lines = foot_lines(shown, width) })
  end
  list(buf, options)
  put_all(section, wanted)
  section.bodies = {}
  for i, body in ipairs(bodies) do
    section.bodies[i] = { mark = section.drawn[i].id, info = body.info }
  end
end

return M
