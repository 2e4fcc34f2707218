"""Forgetting: what a request means, what goes with it, and that no byte of it is left."""
