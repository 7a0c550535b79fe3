"""A section: the form that is shown, what is left of it, and what that means."""
