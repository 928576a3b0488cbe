"""What the cases came to, counted while they run."""

from collections import Counter

OUTCOMES = ("passed", "executed", "skipped", "failed")

TALLY: Counter[tuple[str, str]] = Counter()
"""(fixture, outcome) -> cases."""
