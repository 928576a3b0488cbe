"""The bitemporal graph of one Space: records, postings, views, transactions, and the journal under them."""

from kipql.store.history import Commit
from kipql.store.store import DEFAULT_SPACE, Store
from kipql.store.transaction import Transaction
from kipql.store.view import View

__all__ = ["DEFAULT_SPACE", "Commit", "Store", "Transaction", "View"]
