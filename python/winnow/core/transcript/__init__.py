"""What happened in a chat, and how it reads."""
