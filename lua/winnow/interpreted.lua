--- Leave a module to LuaJIT's interpreter. What runs once for a key pays for traces that it hardly
--- ever takes: each edit has another way through short loops, and compiling that was a tenth of a
--- `dd` in a form. A patch of 10,000 lines costs the same either way; a long chat would cost more.
return function()
  if jit then -- Neovim may be built with plain Lua
    jit.off(debug.getinfo(2, 'f').func, true)
  end
end
