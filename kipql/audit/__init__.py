"""Audits: `.kql` scripts whose statements carry `//!` directives, run against a memory.

A named check expects to find nothing unless it says otherwise; what it finds is a finding with a place, a
severity, a message and the row. What can not run is never a clean result.
"""
