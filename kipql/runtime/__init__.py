"""The runtime: sessions, transactions, the request envelope (specification §70-§83)."""
