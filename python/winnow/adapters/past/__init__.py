"""What the files of a chat's folder held before."""
