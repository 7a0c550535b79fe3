"""What changed in the files since a baseline, and what the user makes of it."""
