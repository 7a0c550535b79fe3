"""Winnow: chat with Claude in a Neovim buffer, and answer its questions by deleting lines."""

__version__ = "0.1.0"
