"""What goes along with a message, beside the user's words."""
