"""What a touch of the canon costs: 10,000 touches over 5,000 articles (docs/canon.md).

    python -m benchmarks.canon

Each touch names a file that nobody named before, two folders below its article; with Assets it also commits one. The
probes of a touch are those that EXPLAIN counts, for canons of different sizes: they are the segments of the path.
"""

from collections.abc import Iterable
from time import perf_counter

import kipql
from kipql import Nexus
from kipql.memory import Canon, SurfacePolicy, canon_chain
from kipql.memory.canon.queries import query

ARTICLES, TOUCHES = 5_000, 10_000
SIZES = (500, 5_000, 20_000)


def folders(count: int) -> list[str]:
    """The addresses of the articles."""
    return [f"src/mod{n // 50}/part{n % 50}" for n in range(count)]


def filled(nexus: Nexus, addresses: Iterable[str]) -> None:
    """Load an article for each address."""
    nexus.load(
        {
            "kind": "concept",
            "type": "CanonArticle",
            "key": f":{one}",
            "attributes": {"mount": "", "address": one, "capsule": f"about {one}", "scope": ""},
        }
        for one in addresses
    )


def measured(*, make_assets: bool) -> str:
    """One line of figures."""
    known = folders(ARTICLES)
    with kipql.open(packages=["kip://kipql/agent@1.0.0"]) as nexus:
        filled(nexus, known)
        session = Canon(nexus, policy=SurfacePolicy(budget_chars=None, make_assets=make_assets)).session("run")
        began = perf_counter()
        for n in range(TOUCHES):
            session.touch([f"{known[n % ARTICLES]}/deep/file{n}.py"])
        touched = perf_counter()
        session.flush()
        flushed = perf_counter()
        stats = session.stats
    each = (touched - began) / TOUCHES * 1_000
    kind = "with Assets" if make_assets else "reading only"
    return (
        f"{kind}: {each:.3f} ms a touch, {stats.queries} queries for {stats.touched} touches, "
        f"one flush of {ARTICLES} lines {(flushed - touched) * 1_000:.0f} ms"
    )


def probes(count: int) -> str:
    """What one touch looks at in a canon of so many articles."""
    with kipql.open(packages=["kip://kipql/agent@1.0.0"]) as nexus:
        filled(nexus, folders(count))
        keys = canon_chain("src/mod7/part7/deep/file.py")
        counted = nexus.explain(query("governing"), {"keys": keys}).rpartition("\n")[2]
    return f"{count} articles: {counted} for a path of {len(keys)} segments"


if __name__ == "__main__":
    for size in SIZES:
        print(probes(size))
    print(measured(make_assets=False))
    print(measured(make_assets=True))
