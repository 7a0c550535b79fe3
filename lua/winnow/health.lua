--- `:checkhealth winnow`

local config = require('winnow.config')
local host = require('winnow.host')
local python = require('winnow.python')
local trim = require('winnow.trim')
local health = vim.health

local M = {}

local function check_neovim()
  health.start('Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok(version)
  else
    health.error(version .. ' is too old', 'Install Neovim 0.10 or newer')
  end
  for _, language in ipairs({ 'markdown', 'markdown_inline' }) do
    local found, added = pcall(vim.treesitter.language.add, language)
    -- Neovim 0.10 returns nothing: there, a missing parser is an error.
    if found and (added or vim.fn.has('nvim-0.11') == 0) then
      health.ok('treesitter parser: ' .. language)
    else
      health.warn(
        'no treesitter parser for ' .. language .. ': chats are less colourful',
        'Install it, for example with `:TSInstall ' .. language .. '`'
      )
    end
  end
end

local function check_configuration()
  health.start('Configuration')
  local problems = config.problems(vim.g.winnow == nil and {} or vim.g.winnow)
  for _, problem in ipairs(problems) do
    health.error(problem, 'See |winnow-configuration|')
  end
  if #problems == 0 then
    health.ok('no unknown option')
  end
end

local function check_editor()
  health.start('The editor as a tool')
  local options = config.get()
  local on = config.offered(options)
  local off = vim.tbl_filter(function(name)
    return not vim.list_contains(on, name)
  end, config.tools)
  health.ok('Claude has: ' .. (#on > 0 and table.concat(on, ', ') or 'none'))
  if #off > 0 then
    health.info('off: ' .. table.concat(off, ', '))
  end
  if options.test_command == '' then
    health.info('run_test needs the option test_command')
  end
  local servers = vim.tbl_map(function(client)
    return client.name
  end, require('winnow.editor.server').all({}))
  health.info('language servers: ' .. (#servers > 0 and table.concat(servers, ', ') or 'none'))
end

---@param path string
---@return table|nil report see python/winnow/health.py
---@return string|nil problem
local function ask(path)
  local cli = python.cli(config.get().cli_path)
  local command = { path, '-I', python.root .. '/python/winnow/health.py', cli }
  local started, process = pcall(vim.system, command, { text = true, cwd = python.folder() })
  if not started then
    return nil, process
  end
  local result = process:wait(30000)
  if result.code ~= 0 then
    return nil, result.stderr ~= '' and trim.both(result.stderr) or 'no answer within 30 s'
  end
  return vim.json.decode(result.stdout, { luanil = { object = true } })
end

---@param report table
---@param remedy string
local function check_packages(report, remedy)
  for _, name in ipairs({ 'pynvim', 'claude-agent-sdk', 'msgspec' }) do
    local version = report.packages[name]
    if version then
      health.ok(('%s %s'):format(name, version))
    else
      health.error(name .. ' is missing', remedy)
    end
  end
end

---@param report table
---@param remedy string
local function check_claude(report, remedy)
  health.start('Claude')
  local cli = report.cli
  if cli.version then
    health.ok(('CLI %s: %s'):format(cli.version, cli.path))
  elseif cli.path == '' then
    health.error('no Claude Code CLI', { remedy, 'Or put `claude` on your PATH' })
  else
    health.error('the CLI does not run: ' .. cli.path, 'Run it in a terminal to see why')
  end
  local credentials = report.credentials
  if credentials then
    health.ok(('credentials: %s, from %s'):format(credentials.kind, credentials.source))
  else
    health.warn('no credentials: chats are with the scripted agent', {
      'Log in: run `claude` in a terminal and type /login',
      'Or set ANTHROPIC_API_KEY before starting Neovim',
    })
  end
end

local function check_host()
  health.start('Host')
  local called, milliseconds, problem = pcall(host.ping)
  if called and milliseconds then
    health.ok(('answers in %.1f ms'):format(milliseconds))
  else
    health.error(
      ('does not answer: %s'):format(problem or milliseconds or 'no reason given'),
      'See `:Winnow log`, then try `:Winnow restart`'
    )
  end
end

local function check_folders()
  health.start('Folders')
  for _, kind in ipairs({ 'data', 'state' }) do
    local path = vim.fn.stdpath(kind) .. '/winnow'
    pcall(vim.fn.mkdir, path, 'p', tonumber('700', 8))
    if vim.fn.filewritable(path) == 2 then
      health.ok('writable: ' .. path)
    else
      health.error('not writable: ' .. path, 'Check who owns it, and whether the disk is full')
    end
  end
end

function M.check()
  check_neovim()
  check_configuration()
  check_editor()
  check_folders()

  health.start('Python')
  local found, problem = python.find()
  if not found then
    health.error(problem or '')
    return
  end
  local report, failure = ask(found.path)
  if not report then
    health.error(('%s does not run: %s'):format(found.path, failure), found.remedy)
    return
  end
  health.ok(('%s: %s (%s)'):format(report.python, found.path, found.why))
  check_packages(report, found.remedy)
  check_claude(report, found.remedy)
  check_host()
end

return M
