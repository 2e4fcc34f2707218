"""Frozen values that cross the rooms: standard library only, no behaviour that needs a store."""
