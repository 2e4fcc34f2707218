"""Handlers: validated params in, results out. Each module serves one noun of the protocol."""
