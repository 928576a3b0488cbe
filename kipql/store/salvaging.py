"""A snapshot of which some sections are damaged, as far as its records say everything that was lost.

Postings are made of records: where only their sections are wrong, the commits are read from the records, and a journal
is written that says them all. What is wrong with a record, a column or a commit is not guessed at: a checksum is of a
whole section, and a record that reads well may say something else than it said.
"""

from array import array
from pathlib import Path

from kipql.errors import KipError
from kipql.store import snapshot
from kipql.store.codec import Invalid
from kipql.store.dumping import Rebuilt, lines
from kipql.store.environments import SchemaLoader
from kipql.store.files import Files
from kipql.store.freeze import DENSE, LISTS, TERMS, TEXTS
from kipql.store.snapshot import Snapshot
from kipql.store.store import Store

_POSTINGS = ("slots.", "merged_from", "referrers.", "ever_left.", "types",
             *(f"{name}." for name in (*DENSE, *TERMS, *LISTS, *TEXTS)))  # fmt: skip


def is_posting(section: str) -> bool:
    """Whether what a section says is said by the records too."""
    return section.startswith(_POSTINGS)


def salvage(path: Path, target: Path, space_id: str, schema: SchemaLoader) -> Snapshot | None:
    """Write a journal of all that a damaged snapshot says to a folder that does not exist yet; the snapshot, None when
    more than postings is wrong with it. Raises OSError, MemoryFormatUnsupported."""
    broken: list[str] = []
    try:
        found = snapshot.read(Files(), path, broken)
        if not broken or not all(map(is_posting, broken)):
            return None
        store = Store(space_id=space_id, schema=schema)
        store._take_up(_without_postings(found))
        store.newest = store._latest()
        rebuilt = Rebuilt(target)
        try:
            for number, line in enumerate(lines(store)):
                rebuilt.put(line, number)
        finally:
            rebuilt.close(durable=True)
    except KipError as error:
        if error.code == "MemoryFormatUnsupported":
            raise
        return None
    except (Invalid, LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return found


def _without_postings(found: Snapshot) -> Snapshot:
    """The snapshot with postings that hold nothing."""
    sections = dict(found.sections)
    for name in [name for name in sections if is_posting(name)]:
        kind = found.kinds[name]
        sections[name] = [] if kind == "m" else bytearray() if kind == "b" else array(kind)
        if name.endswith(".starts"):
            sections[name].append(0)
    sections["types"] = array("i", bytes(4 * len(sections["objects.0.starts"]) - 4))
    sections["slots.nexts"] = array("i", (-1,)) * len(sections["propositions.subjects"])
    return found._replace(sections=sections)
