"""Many agents on one goal: what happened, what follows from it, and how that reads."""
