"""Text: what an agent says made safe to show, and the markers on our own lines."""
