"""Belief: what to accept, when, and why (specification §21-§27, §57.5-57.7).

`core` is a pure function over frozen records and knows no store; `read` adapts a view to it.
"""
