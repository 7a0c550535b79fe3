"""Git, as a program: worktrees for agents, and their way back."""
