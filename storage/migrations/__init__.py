"""Numbered migrations, forward only; each is recorded in the transaction that applies it."""
