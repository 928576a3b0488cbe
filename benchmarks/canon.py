"""What a touch of the canon costs: 10,000 touches over 5,000 articles (docs/canon.md).

    python -m benchmarks.canon

Each touch names a file that nobody named before, three segments below its article; with Assets it also commits one.
"""

from time import perf_counter

import kipql
from kipql.memory import Canon, SurfacePolicy

ARTICLES, TOUCHES = 5_000, 10_000


def measured(*, make_assets: bool) -> str:
    """One line of figures."""
    folders = [f"src/mod{n // 50}/part{n % 50}" for n in range(ARTICLES)]
    with kipql.open(packages=["kip://kipql/agent@1.0.0"]) as nexus:
        nexus.load(
            {
                "kind": "concept",
                "type": "CanonArticle",
                "key": f":{one}",
                "attributes": {"mount": "", "address": one, "capsule": f"about {one}", "scope": ""},
            }
            for one in folders
        )
        session = Canon(nexus, policy=SurfacePolicy(budget_chars=None, make_assets=make_assets)).session("run")
        began = perf_counter()
        for n in range(TOUCHES):
            session.touch([f"{folders[n % ARTICLES]}/deep/file{n}.py"])
        touched = perf_counter()
        session.flush()
        flushed = perf_counter()
    each = (touched - began) / TOUCHES * 1_000
    kind = "with Assets" if make_assets else "reading only"
    return f"{kind}: {each:.3f} ms a touch, one flush of {ARTICLES} lines {(flushed - touched) * 1_000:.0f} ms"


if __name__ == "__main__":
    print(measured(make_assets=False))
    print(measured(make_assets=True))
