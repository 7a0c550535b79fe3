--- Leave a module to LuaJIT's interpreter. What runs once for a key pays for traces that it hardly
--- ever takes: each edit has another way through short loops, and compiling that was a tenth of a
--- `dd` in a form. What goes through thousands of lines is to be compiled.
return function()
  if jit then -- Neovim may be built with plain Lua
    jit.off(debug.getinfo(2, 'f').func, true)
  end
end
