"""The ways in which an agent asks."""
