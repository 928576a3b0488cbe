"""A Space's folder, checked from outside: every frame, every snapshot, every record, every posting.

Nothing is changed. What the checksums hold is read again and judged: the Space is rebuilt from its own records in
memory, and every posting must say what the rebuilt one says.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS
from kipql.model import ASSERTION, CONCEPT, PROPOSITION, Concept, element_id
from kipql.store import journal, snapshot
from kipql.store.codec import Invalid
from kipql.store.dumping import COMMIT, OUTCOME, SETUP, lines
from kipql.store.environments import SchemaLoader
from kipql.store.files import Files
from kipql.store.frames import note
from kipql.store.graph import Graph
from kipql.store.journal import Frame, Journal
from kipql.store.store import Store
from kipql.store.suspects import look_through
from kipql.store.view import View
from kipql.store.written import frame

DAMAGE, NOTE = "damage", "note"
_MOST = 20  # findings about postings


class Finding(NamedTuple):
    """One thing that was found: a file and an offset where that is known. A note is no damage."""

    level: str
    path: Path
    offset: int | None
    what: str


class Examined(NamedTuple):
    """One Space as far as it could be read."""

    head: int | None
    frames: int
    snapshots: int
    findings: list[Finding]


def examine(folder: Path, space_id: str, schema: SchemaLoader) -> Examined:
    """Check a Space. Raises OSError."""
    frames, findings = frames_of(folder)
    names = snapshot_names(folder)
    for name in names:
        try:
            snapshot.verify(Files(), folder / name)
            if (wrong := look_through(Files(), folder / name)) is not None:
                raise wrong
        except KipError as error:
            findings.append(Finding(DAMAGE, folder / name, None, error.message.partition(": ")[2] or error.message))
    findings += [
        Finding(NOTE, folder / name, None, "a draft that a crash left; the next writer removes it")
        for name in Files().names(folder)
        if name.endswith(".tmp")
    ]
    head = None
    try:
        with Store(folder, space_id=space_id, readonly=True, schema=schema) as store:
            head = store.head
            for what in _against_itself(store, schema):
                findings.append(Finding(DAMAGE, folder, None, what))
                if len(findings) >= _MOST:
                    break
    except (Invalid, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = f"the records do not rebuild to themselves ({type(error).__name__}: {error})"[:300]
        findings.append(Finding(DAMAGE, folder, None, what))
    except KipError as error:
        known = {(finding.path, finding.offset) for finding in findings}
        path, offset = Path(str(error.details.get("path", folder))), error.details.get("offset")
        if (path, offset) not in known:
            findings.append(Finding(DAMAGE, path, offset, error.message))
    return Examined(head, len(frames), len(names), findings)


def snapshot_names(folder: Path) -> list[str]:
    """The snapshots of a Space, newest first."""
    return sorted((name for name in Files().names(folder) if snapshot.seq_of(name) is not None), reverse=True)


def frames_of(folder: Path) -> tuple[list[Frame], list[Finding]]:
    """The whole frames of a journal up to the first damage, and what is wrong with it. Raises OSError."""
    reader = Journal(folder, Files(), "fsync", DEFAULT_LIMITS.frame, readonly=True)
    found: list[Frame] = []
    findings: list[Finding] = []
    try:
        reader.read()
        found.extend(reader.frames())
    except KipError as error:
        if "offset" not in error.details and error.code != "MemoryDamaged":
            if error.code == "MemoryUnavailable":
                findings.append(Finding(DAMAGE, reader.path, None, error.message))
                return found, findings
            raise
        offset = error.details["offset"]
        what = error.message.partition(f" at offset {offset}: ")[2] or error.message
        after = whole_after(reader.path, offset + 1)
        if after:
            what += f"; {len(after)} whole frames follow it, commits {after[0]} to {after[-1]}"
        findings.append(Finding(DAMAGE, reader.path, offset, what))
    if reader.tail is not None:
        what = f"a torn tail of {reader.tail.length} bytes; the next writer cuts it"
        findings.append(Finding(NOTE, reader.path, reader.tail.offset, what))
    return found, findings


def whole_after(path: Path, start: int) -> list[int]:
    """The sequences of the whole frames that stand anywhere after a place."""
    data = memoryview(Files().read(path))
    found: list[int] = []
    offset = start
    while offset < len(data):
        frame_ = journal._frame_at(data, offset)
        if frame_ is None or not len(frame_.payload):
            offset += 1
            continue
        found.append(frame_.seq)
        offset += len(journal.frame(0, b"")) + len(frame_.payload)
    return found


# the records against the postings


def _against_itself(store: Store, schema: SchemaLoader) -> Iterator[str]:
    again = Store(space_id=store.space_id, schema=schema)
    counts = [0] * 5
    for line in lines(store):
        if SETUP in line:
            again._apply(0, memoryview(note(line[SETUP], line["payload"])))
        elif OUTCOME in line:
            again._apply(0, memoryview(note("idempotency", line[OUTCOME])))
        else:
            again._apply(line[COMMIT], memoryview(frame(line, counts)))
    mine, rebuilt = (
        store.view(),
        View(again.graph, again.environments, store.head, again.graph.history.bounds(store.head)),
    )
    if store.digest(mine) != again.digest(rebuilt):
        yield "the records do not rebuild to themselves"
    yield from _missing(mine.graph, rebuilt.graph)
    others = postings(rebuilt)
    for place, said in postings(mine):
        other = next(others, None)
        if other != (place, said):
            yield f"the posting {place} is not what the records say"


def _missing(graph: Graph, rebuilt: Graph) -> Iterator[str]:
    """Commits that the past is not read by though they changed it; one too many, which a purge leaves, is harmless."""
    for kind in range(5):
        if not set(rebuilt.left_seqs.get(kind, ())) <= set(graph.left_seqs.get(kind, ())):
            yield f"the list of commits that left out of {kind} is not what the records say"
    if not set(rebuilt.identity_seqs) <= set(graph.identity_seqs):
        yield "the list of commits that changed identity is not what the records say"


def postings(view: View) -> Iterator[tuple[str, Any]]:
    """What every posting says, by names that do not depend on how the store numbers things."""
    graph = view.graph
    for name in sorted(graph.symbols.lineages):
        lineage = graph.symbols.lineage(name)
        yield f"predicate {name}", list(view.by_predicate(lineage))
        yield f"type {name}", list(view.of_type(lineage))
    for kind in range(5):
        yield f"left out of {kind}", view.left_out(kind)
        for row in view.rows(kind):
            yield from _of_element(view, row * 8 + kind)
    yield "identity", (view.identity_version, view.decisions())
    yield from _past(view)
    yield "client keys", sorted((name, tuple(held)) for name, held in graph.client_keys.items())


def _past(view: View) -> Iterator[tuple[str, Any]]:
    """What the states before the head are read by, beside the records and the rows of the postings."""
    graph, history = view.graph, view.graph.history
    yield "merges", sorted((target, sorted(rows)) for target, rows in graph.merged_from.items())
    columns, bounds, makers = history.freeze()
    for name, _, column in columns:
        yield f"history {name}", list(column)
    for kind, column in enumerate(bounds):
        yield f"history bounds of {kind}", list(column)
    yield "history makers", list(makers)
    yield "history controls", [(seq, list(map(dict, changes))) for seq, changes in sorted(history.controls.items())]


def _of_element(view: View, code: int) -> Iterator[tuple[str, Any]]:
    graph, name = view.graph, element_id(code)
    yield f"outgoing of {name}", list(view.outgoing(code))
    yield f"incoming of {name}", list(view.incoming(code))
    yield f"by_actor of {name}", list(view.assertions_by(code))
    for field in sorted(graph.fields):
        yield f"referrers of {name} by {field}", view.referrers(code, field)
    row, kind = code >> 3, code & 7
    if kind == PROPOSITION:
        yield from _of_proposition(view, row, name)
    elif kind == ASSERTION:
        hot = view.assertion(row)
        term = hot.object if hot.object >= 0 else None  # a Literal has another number after a purge
        yield f"columns of {name}", (hot._replace(object=0, predicate=0), term, graph.symbols.refs[hot.predicate])
    elif kind == CONCEPT:
        state: Any = view.record(code)
        while isinstance(state, Concept):
            if state.key is not None:
                yield f"keyed by the key of {name}", row in view.keyed(state.key)
            if state.name is not None:
                yield f"named by the name of {name}", row in view.named(state.name)
            state = state.prev


def _of_proposition(view: View, row: int, name: str) -> Iterator[tuple[str, Any]]:
    subject, term = view.subjects[row], view.objects[row]
    lineage = view.lineage_of[view.predicates[row]]
    yield f"of_proposition of {name}", list(view.assertions_of(row))
    yield f"slot of {name}", list(view.slot(subject, lineage))
    yield f"slot_assertions of {name}", list(view.slot_assertions(subject, lineage))
    yield f"live of {name}", list(view.live_assertions(subject, lineage))
    if term < 0 and not view.graph.literals.is_erased(
        term
    ):  # which Literal stands for erased ones is nobody's business
        yield f"incoming of the Literal of {name}", list(view.incoming(term))
        yield f"tuple of {name}", view.tuple_row(subject, lineage, term)
