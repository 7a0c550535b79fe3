"""The edges: Claude, the scripted agent, Neovim, SQLite. Each implements one port."""
