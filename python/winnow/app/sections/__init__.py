"""The sections of a chat: what is asked, edited, answered and closed in them."""
