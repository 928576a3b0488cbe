"""kipql: the embeddable engine for KIP 2.0, the Knowledge Interaction Protocol.

    import kipql

    with kipql.open("brain.kip") as nexus:
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        nexus.query('FIND(?p.name) WHERE { ?p {type: "Person"} }').rows

Names are loaded when first used (PEP 562), so `import kipql` costs a few milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kipql.errors import CODES, KipError
    from kipql.govern.principals import Principal
    from kipql.lang import classify, format, parse, split
    from kipql.limits import Limits
    from kipql.nexus import Nexus, open
    from kipql.plan.caveats import Caveat
    from kipql.runtime.loading import Loaded
    from kipql.runtime.prepared import Statement
    from kipql.runtime.receipt import Receipt
    from kipql.runtime.result import Result
    from kipql.runtime.transaction import Transaction
    from kipql.runtime.undump import load_dump
    from kipql.schema.packages import Package
    from kipql.spans import Span

__version__ = "0.1.0"

_HOME = {
    "CODES": "kipql.errors",
    "Caveat": "kipql.plan.caveats",
    "KipError": "kipql.errors",
    "Limits": "kipql.limits",
    "Loaded": "kipql.runtime.loading",
    "Nexus": "kipql.nexus",
    "Package": "kipql.schema.packages",
    "Principal": "kipql.govern.principals",
    "Receipt": "kipql.runtime.receipt",
    "Result": "kipql.runtime.result",
    "Span": "kipql.spans",
    "Statement": "kipql.runtime.prepared",
    "Transaction": "kipql.runtime.transaction",
    "classify": "kipql.lang",
    "format": "kipql.lang",
    "load_dump": "kipql.runtime.undump",
    "open": "kipql.nexus",
    "parse": "kipql.lang",
    "split": "kipql.lang",
}

__all__ = [
    "CODES",
    "Caveat",
    "KipError",
    "Limits",
    "Loaded",
    "Nexus",
    "Package",
    "Principal",
    "Receipt",
    "Result",
    "Span",
    "Statement",
    "Transaction",
    "__version__",
    "classify",
    "format",
    "load_dump",
    "open",
    "parse",
    "split",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'kipql' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
