"""Runs: the chat that leads one, its workers, and what goes between them."""
