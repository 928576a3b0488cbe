"""META: what a memory says about itself (specification §63-§69). It reads; it never writes."""

from kipql.meta.run import run
from kipql.meta.session import MetaResult, MetaSession

__all__ = ["MetaResult", "MetaSession", "run"]
