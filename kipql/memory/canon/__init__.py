"""Canon: addressed articles and a journal for agents that work on files; see `canon.Canon`."""

from kipql.memory.canon.address import address, ancestor_chain, canon_chain
from kipql.memory.canon.canon import Canon
from kipql.memory.canon.paths import paths_in
from kipql.memory.canon.surfacing import CanonSession, SurfacePolicy

__all__ = ["Canon", "CanonSession", "SurfacePolicy", "address", "ancestor_chain", "canon_chain", "paths_in"]
