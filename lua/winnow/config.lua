--- The options: what they may be, and which are in force.
local M = {}

-- Requires nothing here: `setup` runs while Neovim starts.

---@class winnow.PlaceOption
---@field name string
---@field command? string[] gives a shell there, as `{ 'ssh', 'big' }` does; none: here
---@field cwd? string the folder there
---@field cli? string Claude Code there; none: what is found
---@field env? table<string, string> for Claude Code there
---@field slots? integer how many workers at a time; none: 3

---@class winnow.Config
---@field agent 'claude'|'scripted'|'auto' who answers; `auto`: Claude if it has credentials
---@field cli_path string the Claude Code executable; empty: the one that comes with the SDK
---@field model string model of new chats; empty: Claude Code's default
---@field effort string how much effort the model makes in new chats; empty: its own
---@field mode string permission mode of new chats; empty: Claude Code's default
---@field scenario string scenario file of the scripted agent; empty: the tour
---@field replay string file with answers to give instead of you; empty: you are asked
---@field keep_hours number hours until a question without an answer is forgotten; 0: never
---@field questions 'tool'|'text'|'both' how Claude asks in new chats
---@field compact 'auto'|'off'|'ask' what is done before the context is full
---@field max_budget number US dollars that a chat may cost in all; 0: no limit
---@field form_hours number hours for which choices in Claude's text stay open over restarts
---@field completion_auto boolean a menu opens by itself in chats, where Neovim can do that
---@field code_actions boolean buffers with a language server have actions of ours
---@field root_markers string[] what marks a project's directory, whose chat is also its folders'
---@field alert ''|'bell'|'osc9'|'osc777' how the terminal calls when something waits out of sight
---@field run_workers number how many workers of a run work at a time
---@field run_silence number seconds without a sign of life of a worker; 0: never told
---@field run_budget number US dollars that a run may cost; 0: as much as it likes
---@field clarify_folder string where specifications go, from the chat's directory
---@field clarify_prompts string folder with your own templates; empty: none
---@field clarify_one_by_one boolean each question of a round has a section of its own
---@field run_worktree boolean each task of a run has a git worktree of its own
---@field run_uncommitted boolean a worktree begins with what is not committed, too
---@field run_gate string command that must pass on what is merged; empty: none
---@field tools table<string, boolean> which of the editor's tools Claude has; one not named: it has
---@field test_command string runs a test for Claude; empty: none can be run
---@field places winnow.PlaceOption[] where workers of a run may run, beside here
local defaults = {
  agent = 'claude',
  cli_path = '',
  model = '',
  effort = '',
  mode = '',
  scenario = '',
  replay = '',
  keep_hours = 0,
  questions = 'tool',
  compact = 'auto',
  max_budget = 0,
  form_hours = 24,
  completion_auto = false,
  code_actions = true,
  root_markers = { '.git', '.hg', '.jj', '.svn' },
  alert = '',
  run_workers = 3,
  run_budget = 0,
  run_silence = 600,
  clarify_folder = 'specs',
  clarify_prompts = '',
  clarify_one_by_one = false,
  run_worktree = false,
  run_uncommitted = false,
  run_gate = '',
  tools = {},
  test_command = '',
  places = {},
}

--- The permission modes of Claude Code.
M.modes = { 'default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions' }

--- What Claude can ask of the editor, see |winnow-editor|.
M.tools = {
  'diagnostics',
  'buffers',
  'read_buffer',
  'definition',
  'references',
  'symbols',
  'quickfix',
  'rename',
  'fill_quickfix',
  'jump',
  'run_test',
}

-- Options that are one of a few words.
local CHOICES = {
  agent = { 'claude', 'scripted', 'auto' },
  alert = { '', 'bell', 'osc9', 'osc777' },
  compact = { 'auto', 'off', 'ask' },
  effort = { '', 'low', 'medium', 'high', 'xhigh', 'max' },
  mode = vim.list_extend({ '' }, M.modes),
  questions = { 'tool', 'text', 'both' },
}

--- Whether this is a path from the directory that Neovim stands in: a file of some project.
---@param path string
---@return boolean
local function is_relative(path)
  path = vim.fn.expand(path)
  return path:find('/', 1, true) ~= nil and not require('winnow.python').is_absolute(path)
end

-- What a place says of itself.
local PLACE = {
  name = 'string',
  command = 'table',
  cwd = 'string',
  cli = 'string',
  env = 'table',
  slots = 'number',
}

--- What is wrong with a place.
---@param place any
---@param known table<string, true> the names of those before
---@return string? problem
local function problem_of_place(place, known)
  if
    type(place) ~= 'table'
    or type(place.name) ~= 'string'
    or not place.name:match('^[%w_.-]+$')
  then
    return 'each of the places must have a name of letters, digits, ".", "_" and "-"'
  elseif known[place.name] then
    return ('there are two places named %s'):format(place.name)
  end
  known[place.name] = true
  for key, value in pairs(place) do
    if type(value) ~= PLACE[key] then
      local want = PLACE[key] and 'must be a ' .. PLACE[key] or 'is nothing that a place has'
      return ('%s of the place %s %s'):format(key, place.name, want)
    end
  end
  local slots, words = place.slots or 1, vim.list_extend({}, place.command or {})
  vim.list_extend(words, vim.tbl_values(place.env or {}))
  if slots < 0 or slots % 1 ~= 0 then
    return ('slots of the place %s must be a whole number'):format(place.name)
  elseif not vim.iter(words):all(function(word)
    return type(word) == 'string'
  end) then
    return ('command and env of the place %s must hold strings'):format(place.name)
  elseif (place.name == 'here') ~= (#(place.command or {}) == 0) then
    return 'every place but "here" must have a command that gives a shell there'
  end
end

--- What is wrong with the places.
---@param places any[]
---@return string? problem
local function problem_of_places(places)
  local known = {}
  for _, place in ipairs(places) do
    local problem = problem_of_place(place, known)
    if problem then
      return problem
    end
  end
end

--- What is wrong with the choice of tools.
---@param tools table<any, any>
---@return string? problem
local function problem_of_tools(tools)
  for name, on in pairs(tools) do
    if not vim.list_contains(M.tools, name) then
      return ('tools has no %q, only %s'):format(tostring(name), table.concat(M.tools, ', '))
    elseif type(on) ~= 'boolean' then
      return ('%s of the tools must be true or false'):format(name)
    end
  end
end

---@param key any
---@param value any
---@return string? problem one sentence
local function problem_of(key, value)
  if defaults[key] == nil then
    return ('unknown option %q'):format(tostring(key))
  elseif type(value) ~= type(defaults[key]) then
    return ('%s must be a %s, not a %s'):format(key, type(defaults[key]), type(value))
  elseif CHOICES[key] and not vim.list_contains(CHOICES[key], value) then
    local choices = table.concat(vim.tbl_map(vim.inspect, CHOICES[key]), ', ')
    return ('%s must be one of %s, not %q'):format(key, choices, value)
  elseif key == 'run_workers' and (value < 1 or value % 1 ~= 0) then
    return ('run_workers must be a whole number from 1, not %s'):format(value)
  elseif
    vim.list_contains({ 'run_budget', 'run_silence', 'max_budget' }, key)
    and (value < 0 or value ~= value)
  then
    return ('%s must not be negative: %s'):format(key, value)
  elseif key == 'places' then
    return problem_of_places(value)
  elseif key == 'tools' then
    return problem_of_tools(value)
  elseif key == 'cli_path' and is_relative(value) then
    return ('cli_path must be absolute or a name on the PATH, not %q'):format(value)
  end
end

--- The places as the host gets them.
---@param config winnow.Config
---@return winnow.Place[]
function M.places(config)
  return vim.tbl_map(function(place)
    return {
      name = place.name,
      command = place.command or {},
      cwd = place.cwd or '',
      cli = place.cli or '',
      env = next(place.env or {}) and place.env or vim.empty_dict(),
      slots = place.slots or 3,
    }
  end, config.places)
end

--- The tools of the editor that Claude has.
---@param config winnow.Config
---@return string[]
function M.offered(config)
  return vim.tbl_filter(function(name)
    local can = name ~= 'run_test' or config.test_command ~= ''
    return can and config.tools[name] ~= false
  end, M.tools)
end

--- Check options and name what is wrong with them.
---@param options any
---@return string[] problems one sentence each
function M.problems(options)
  if type(options) ~= 'table' then
    return { ('the options must be a table, not a %s'):format(type(options)) }
  end
  local found = {}
  for key, value in pairs(options) do
    found[#found + 1] = problem_of(key, value)
  end
  table.sort(found)
  return found
end

local told = '' -- problems that the user knows of

--- Name problems.
---@param problems string[]
local function tell(problems)
  told = table.concat(problems, '; ')
  require('winnow.say')('winnow: ' .. told, 'error')
end

--- Change some, unless something is wrong with them, which is said.
---@param options? table see |winnow-configuration|
function M.set(options)
  options = options == nil and {} or options
  local problems = M.problems(options)
  if #problems > 0 then
    tell(problems)
    return
  end
  local before = type(vim.g.winnow) == 'table' and vim.g.winnow or {}
  vim.g.winnow = vim.tbl_extend('force', before, options)
end

--- The options in force: what is wrong in `vim.g.winnow` is named once, and is none of them.
---@return winnow.Config
function M.get()
  local given = vim.g.winnow == nil and {} or vim.g.winnow
  local problems = M.problems(given)
  if #problems > 0 and table.concat(problems, '; ') ~= told then
    tell(problems)
  end
  local config = vim.deepcopy(defaults)
  for key, value in pairs(type(given) == 'table' and given or {}) do
    if not problem_of(key, value) then
      config[key] = value
    end
  end
  return config
end

return M
