"""The editor as a tool: what Claude can ask Neovim for, and what it reads then."""
