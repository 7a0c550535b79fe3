--- What is special to the lists that need no module of their own.
---@type table<string, winnow.ListKind>
return {
  mcp = { hint = 'dd switches off, u on · :w does it', undoes = true },
  rules = { hint = 'dd revokes · :w does it' },
  tasks = { hint = '<CR> opens, K looks · dd stops · :w does it', wraps = true },
  todo = { hint = 'change, add, dd or move lines · :w has Claude told', wraps = true },
  usage = { wraps = true },
}
