"""Clarify: questions before any work starts, and the specification that comes of the answers."""
