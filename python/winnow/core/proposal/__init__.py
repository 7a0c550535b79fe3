"""What an agent wants to do, as text to be edited, and the way back to a tool's input."""
