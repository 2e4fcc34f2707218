"""Projections: records in, text and sections out. Pure."""
