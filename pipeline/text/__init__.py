"""Text: what is removed from it, what it is cut into, what it costs."""
