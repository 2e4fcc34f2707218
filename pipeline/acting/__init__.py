"""What the user asks of a record: that it holds, or that something else holds in its place."""
