--- What an open section looks like beyond its text: rules, hints and the verdict. A function of
--- the text and of the last verdict, drawn anew after every change.
local foot = require('winnow.section.foot')
local frontmatter = require('winnow.chat.frontmatter')
local grammar = require('winnow.grammar')
local hints = require('winnow.hints')
local marker = require('winnow.section.marker')
local window = require('winnow.window')
require('winnow.interpreted')()

local M = {}

local HINT = 'delete unwanted options with dd, <CR> confirms, <Esc><Esc> cancels'
local OWN = 'write your answer below, <CR> confirms, <Esc><Esc> cancels'
local ENDS = ('"enough" behind %s ends the questions'):format(grammar.OWN)
local CLARIFY = '<CR> on one takes it, dd drops it; ' .. ENDS
local OPTION = '•' -- before each option; as wide as `dress.lua` has wrapped rows hang
local namespace = vim.api.nvim_create_namespace('winnow.section_view')
local listed = vim.api.nvim_create_namespace('winnow.section_view.options')
local peeks = vim.api.nvim_create_namespace('winnow.section_view.preview')

---@class winnow.Fenced a body, where it is now; the rows are those of its fences
---@field first integer
---@field last integer
---@field info string

---@class winnow.Body a fenced block whose lines the user may edit
---@field mark integer extmark from fence to fence
---@field info string

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

---@class winnow.Found
---@field tick integer 'changedtick' of the text
---@field heads { row: integer, line: string }[]
---@field asked { row: integer, hint: string }[] the last row of each question's text
---@field foot? integer
---@field bodies winnow.Fenced[]
---@field options integer[]
---@field width? integer columns of the window when it was drawn
---@field pristine? boolean

--- The rows of a section that something is drawn on.
---@param section winnow.Section
---@param first integer
---@return winnow.Found
local function find(section, first)
  local heads, asked, last, bodies, options = {}, {}, nil, {}, {}
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
      last = row
    elseif tonumber(slot) then
      table.insert(options, row)
      if asked[found.question] then
        asked[found.question].hint = HINT
      end
    end
  end
  return {
    heads = heads,
    asked = vim.tbl_values(asked),
    foot = last,
    bodies = bodies,
    options = options,
  }
end

--- The rest of a head's rule.
---@param head { row: integer, line: string }
---@param width integer columns of the window
---@return vim.api.keyset.set_extmark? nil: the head has no room for it
local function head_rule(head, width)
  local used = vim.fn.strdisplaywidth(marker.strip(head.line)) + 1
  if vim.fn.strdisplaywidth(head.line) <= width then
    -- At a column of the window: text after a marker would wrap as if that were visible.
    return { virt_text = { { foot.rule(used, width), 'WinnowHead' } }, virt_text_win_col = used }
  end
end

--- The mark of an option: drawn, so that `^` is where the label begins.
---@type vim.api.keyset.set_extmark
local LISTED = {
  virt_text = { { OPTION .. ' ', 'WinnowMark' } },
  virt_text_pos = 'inline',
  right_gravity = false,
  undo_restore = false,
}

---@class winnow.Drawn a mark of a section
---@field id integer
---@field look vim.api.keyset.set_extmark

--- Whether a mark of this look is where it is to be.
---@param buf integer
---@param id integer
---@param row integer
---@param look vim.api.keyset.set_extmark
---@return boolean
local function is_at(buf, id, row, look)
  local spans = look.end_row or look.end_col
  local at = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, id, { details = spans ~= nil })
  if at[1] ~= row or at[2] ~= 0 then
    return false
  end
  local last, col = look.end_row or row, look.end_col or 0
  return not spans or at[3].end_row == last and at[3].end_col == col
end

--- Draw marks, each of which has a place of its own in the list. One that is there stays: to set it
--- anew would have its line drawn anew.
---@param buf integer
---@param old winnow.Drawn[]
---@param wanted winnow.Wanted[]
---@return winnow.Drawn[]
local function put_all(buf, old, wanted)
  local drawn = {} ---@type winnow.Drawn[]
  for i, mark in ipairs(wanted) do
    local row, look = mark[1], mark[2]
    local before = old[i]
    local stays = before and is_at(buf, before.id, row, look) and vim.deep_equal(before.look, look)
    local id = before and before.id
    if not stays then
      local put = vim.tbl_extend('error', look, { id = id })
      id = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, put)
    end
    drawn[i] = { id = id, look = look }
  end
  for i = #wanted + 1, #old do
    vim.api.nvim_buf_del_extmark(buf, namespace, old[i].id)
  end
  return drawn
end

--- Draw the marks of options, as far as they are not there. All are looked at: `u` may leave one
--- where nothing was edited.
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

--- The same, looked for once as long as the text is the same.
---@param section winnow.Section
---@param first integer
---@return winnow.Found
local function found_in(section, first)
  local tick = vim.api.nvim_buf_get_changedtick(section.chat.buf)
  local found = section.found
  if not found or found.tick ~= tick then
    found = find(section, first)
    list(section.chat.buf, found.options)
    found.tick = section.tick == tick and tick or -1 -- that of 'inccommand' comes again
    section.found = found
  end
  return found
end

--- Lines above a row were deleted. Their marks stand there now and would, until all is drawn anew,
--- move the column that `j` keeps; with `invalidate`, Neovim would draw the whole window anew.
---@param buf integer
---@param row integer
function M.deleted(buf, row)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local found = marker.of(line)
  local own = found and tonumber(found.slot) and 1 or 0
  local marks = vim.api.nvim_buf_get_extmarks(buf, listed, { row, 0 }, { row, 0 }, {})
  for i = own + 1, #marks do
    vim.api.nvim_buf_del_extmark(buf, listed, marks[i][1])
  end
end

--- Draw what does not hang on the verdict, once as long as the text is the same.
---@param section winnow.Section
---@param found winnow.Found
---@param width integer columns
local function draw_text(section, found, width)
  if found.width == width and found.pristine == section.pristine then
    return
  end
  found.width, found.pristine = width, section.pristine
  local buf, wanted = section.chat.buf, {} ---@type integer, winnow.Wanted[]
  for _, body in ipairs(found.bodies) do
    table.insert(wanted, { body.first, { end_row = body.last } })
  end
  for _, head in ipairs(found.heads) do
    table.insert(wanted, { head.row, { end_col = #head.line, hl_group = 'WinnowHead' } })
    table.insert(wanted, { head.row, head_rule(head, width) or {} })
  end
  local clarifies = section.pristine and frontmatter.read(buf).clarify
  for _, last in ipairs(section.pristine and found.asked or {}) do
    local hint = clarifies and last.hint == HINT and #found.bodies == 0 and CLARIFY or last.hint
    table.insert(wanted, { last.row, { virt_lines = hints.in_lines(hints.wrapped(hint, width)) } })
  end
  section.drawn = put_all(buf, section.drawn, wanted)
  section.bodies = {}
  for i, body in ipairs(found.bodies) do
    section.bodies[i] = { mark = section.drawn[i].id, info = body.info }
  end
end

--- Draw a section.
---@param section winnow.Section
function M.draw(section)
  local width = window.text_width(section.chat.buf)
  local first, after = section:rows()
  local found = found_in(section, first)
  draw_text(section, found, width)
  local verdict = foot.looks(section, found.foot, after - 1, width)
  section.foot_drawn = put_all(section.chat.buf, section.foot_drawn, verdict)
end

return M
