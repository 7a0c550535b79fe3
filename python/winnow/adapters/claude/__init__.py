"""Claude Code as an agent. The only room that knows the SDK."""
