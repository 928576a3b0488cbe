"""Running plans: prepare a query, run it on a view, select for a mutation, explain (architecture §4).

prepared = prepare(find, environment)
rows = prepared.run(view, parameters, budget)
"""

from kipql.exec.explain import explain as explain
from kipql.exec.prepared import Prepared as Prepared
from kipql.exec.prepared import prepare_find as prepare
from kipql.exec.rows import Rows as Rows
from kipql.exec.select import select as select

__all__ = ["Prepared", "Rows", "explain", "prepare", "select"]
