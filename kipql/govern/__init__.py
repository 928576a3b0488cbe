"""Governance: who asks, and what of a store they may see (specification §28-§31)."""
