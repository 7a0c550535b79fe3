"""What a chat does beside talking: one file each, and `all` has the list of them."""
