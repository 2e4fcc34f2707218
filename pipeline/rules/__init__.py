"""Rules: pure functions over records, the same answer for the same input."""
