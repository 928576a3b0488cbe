"""Assets: a file or directory as articles, entries and rules speak of it.

An Asset is made by the first article, entry or touch that names it; its key is that of an article about it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import kipql
from kipql.memory.canon.address import key
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

AT_ONCE = 200


def known_assets(reader: "Nexus | Transaction", keys: Iterable[str]) -> dict[str, str]:
    """The ids of the Assets among some keys."""
    return dict(reader.query(query("assets"), {"keys": list(keys)}).rows)


def ensure_assets(tx: "Transaction", places: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The ids of Assets by key, those that were missing made."""
    wanted = {key(mount, address): (mount, address) for mount, address in places}
    found = known_assets(tx, wanted) if wanted else {}
    missing = [(name, place) for name, place in wanted.items() if name not in found]
    for start in range(0, len(missing), AT_ONCE):
        found |= make_assets(tx, missing[start : start + AT_ONCE])
    return found


def make_assets(writer: "Nexus | Transaction", missing: "list[tuple[str, tuple[str, str]]]") -> dict[str, str]:
    """Make Assets of (key, (mount, address)); their ids by key. One that somebody made meanwhile stays as it is."""
    receipt = writer.execute(*_made(missing))
    assert isinstance(receipt, kipql.Receipt)
    return {name: receipt.handles[f"a{at}"] for at, (name, _) in enumerate(missing)}


def _made(missing: list[tuple[str, tuple[str, str]]]) -> tuple[str, dict[str, str]]:
    lines: list[str] = []
    parameters: dict[str, str] = {}
    for at, (name, (mount, address)) in enumerate(missing):
        lines.append(
            f'UPSERT CONCEPT ?a{at} {{ MATCH {{type: "kip://kipql/agent/Asset", key: :k{at}}} '
            f"SET FIELDS {{name: :a{at}}} SET ATTRIBUTES {{mount: :m{at}, address: :a{at}}} }}"
        )
        parameters |= {f"k{at}": name, f"m{at}": mount, f"a{at}": address}
    return "MUTATE {\n" + "\n".join(lines) + "\n}", parameters
