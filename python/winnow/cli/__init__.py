"""Winnow from the shell, without Neovim: one module for each subcommand."""
