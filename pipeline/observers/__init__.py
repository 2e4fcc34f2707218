"""Observers: they read packages and propose; nothing they say holds by itself."""
