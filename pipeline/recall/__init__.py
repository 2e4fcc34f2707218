"""Recall: candidates, fusion, budget; and the follower that keeps the index up with its rows."""
