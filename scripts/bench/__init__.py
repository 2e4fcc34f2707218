"""Benchmarks: each prints machine, versions, medians and ratios, as a table and as JSON."""
