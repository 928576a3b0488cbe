"""KML: statements become plans, plans become records, and the final state is validated (specification §51-§61)."""

from kipql.mutate.context import Outcome, WriteContext
from kipql.mutate.finish import finish
from kipql.mutate.ingest import ingest
from kipql.mutate.load import load
from kipql.mutate.run import run

__all__ = ["Outcome", "WriteContext", "finish", "ingest", "load", "run"]
