"""Measuring kipql beside SQLite: the same data, the same answers, alternating in one run."""
