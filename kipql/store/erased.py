"""Whether what was purged is gone from a Space's files (§60.3, §60.6).

Every frame, every snapshot and every posting is read as a program would that looks for what an element said. What is
proven is about these files: not about backups, about dumps made before, or about blocks that a file system or a
disk keeps behind them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kipql.errors import KipError
from kipql.model import AnyRecord, Evidence, Proposition, element_id
from kipql.store import snapshot
from kipql.store.changes import is_purged
from kipql.store.codec import unpack
from kipql.store.environments import Environments, SchemaLoader
from kipql.store.examining import DAMAGE, NOTE, Finding, frames_of, snapshot_names
from kipql.store.files import Files
from kipql.store.graph import Graph
from kipql.store.journal import NAME
from kipql.store.lock import NAME as LOCK
from kipql.store.packing import CLASSES, ERASED, MEMBERS, Context, pack_record, unpack_origin
from kipql.store.store import Store
from kipql.store.thaw import Thaw
from kipql.values import Json

# What a stub may say beside what names it: how it stands, never what it said.
_STANDING = {"state", "status", "origin", "retention", "classification", "quarantined", "authority_class"}
_ENTRY = {"op", "kind", "id", "schema_ref", "old_version", "new_version", "refs", "touched", "planes", "state"}


def traces(folder: Path, space_id: str, code: int, schema: SchemaLoader) -> list[Finding]:
    """What is left of a purged element, nothing when it is gone. Raises KipError when the Space can not be read."""
    with Store(folder, space_id=space_id, readonly=True, schema=schema) as store:
        view = store.view()
        if not view.exists(code):
            raise KipError("NotFoundOrNotVisible", f"there is no {element_id(code)} in {space_id}")
        newest = view.record(code)
        if not _gone(newest):
            return [Finding(DAMAGE, folder, None, f"{element_id(code)} was not purged: its state is {newest.state!r}")]
        found = [*_in_journal(store, folder / NAME, code), *_in_graph(store.graph, folder, code)]
        since = _oldest(newest).seq if newest.state == "purged" else 0
    for name in snapshot_names(folder):
        found += _in_snapshot(folder / name, space_id, code, since, schema)
    found += _other_files(folder)
    return found


def holding(folder: Path, text: str) -> Iterator[Finding]:
    """Where the bytes of a text stand in any file of a memory."""
    wanted = text.encode()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = Files().read(path)
        at = data.find(wanted)
        while at >= 0:
            yield Finding(DAMAGE, path, at, "the given text stands here")
            at = data.find(wanted, at + 1)


def _gone(record: AnyRecord) -> bool:
    return record.state == "purged" or (isinstance(record, Evidence) and is_purged(record))


def _oldest(record: AnyRecord) -> AnyRecord:
    while record.prev is not None:
        record = record.prev  # type: ignore[assignment]
    return record


def _in_journal(store: Store, path: Path, code: int) -> Iterator[Finding]:
    graph = store.graph
    stub = _oldest(store.view().record(code))
    for frame in frames_of(path.parent)[0]:
        if not frame.seq:
            continue
        said: Any = unpack(frame.payload)
        context = Context(unpack_origin(said["o"]), refs=said.get("s", []), literal=_erased)
        for members in _said_of(said, code, graph.history.bounds(frame.seq - 1)[code & 7]):
            if left := _residue(context, code & 7, stub, members):
                what = f"commit {frame.seq} still says {', '.join(left)} of {element_id(code)}"
                yield Finding(DAMAGE, path, frame.offset, what)
        for kept, entry in said.get("e", []):
            if kept == code and entry.keys() - _ENTRY:
                yield Finding(DAMAGE, path, frame.offset, f"a change entry of commit {frame.seq} says more than names")
        if stub.state == "purged" and any(item[0] == code for item in said.get("b", [])):
            yield Finding(DAMAGE, path, frame.offset, f"commit {frame.seq} keeps references that were supplied")
        if any(key[3] == code for key in said.get("k", [])):
            what = "its client key is kept, so that the same creation is recognised"
            yield Finding(NOTE, path, frame.offset, what)


def _said_of(said: Mapping[str, Any], code: int, low: int) -> Iterator[list[Json]]:
    row, kind = code >> 3, code & 7
    new = said.get("n", [[]] * 5)[kind]
    if 0 <= row - low < len(new):
        yield new[row - low]
    for changed, members, *_ in said.get("u", []):
        if changed == code and members is not None:
            yield members


def _residue(context: Context, kind: int, stub: AnyRecord, members: list[Json]) -> list[str]:
    """The names of members that say more than the stub does."""
    names = [member.name for member in MEMBERS[CLASSES[kind]]]
    if stub.state != "purged":
        held = dict(zip(names, members, strict=False)).get("payload")
        return [] if held is None or held == {"mode": "purged"} else ["payload"]
    allowed = dict(zip(names, pack_record(context, stub), strict=False))
    pairs = zip(names, members, strict=False)
    return [name for name, value in pairs if value is not None and name not in _STANDING and value != allowed.get(name)]


def _in_graph(graph: Graph, path: Path, code: int) -> Iterator[Finding]:
    """States, postings and tables, as they are in memory or in a snapshot."""
    record: AnyRecord | None = graph.head(code)
    name = element_id(code)
    whole = record is not None and record.state == "purged"
    while record is not None:
        if not _gone(record) if not whole else record.state != "purged":
            yield Finding(DAMAGE, path, None, f"a state of {name} from before the purge is kept (commit {record.seq})")
        if isinstance(record, Proposition) and whole and _kept_literal(graph, record):
            yield Finding(DAMAGE, path, None, f"the Literal of {name} is kept")
        record = record.prev  # type: ignore[assignment]
    if not whole:
        return
    if code & 7 == 0:
        for posting, held in (("keyed", graph.keyed), ("named", graph.named)):
            if any((code >> 3) in rows for _, rows in held.items()):
                yield Finding(DAMAGE, path, None, f"the posting {posting} still leads to {name}")
    if code & 7 in graph.keys and graph.keys[code & 7].get(code >> 3) is not None:
        yield Finding(DAMAGE, path, None, f"the client key of {name} is kept beside it")
    if code in graph.inputs:
        yield Finding(DAMAGE, path, None, f"references that {name} was given are kept")


def _kept_literal(graph: Graph, record: Proposition) -> bool:
    return record.object < 0 and not graph.literals.is_erased(record.object)


def _in_snapshot(path: Path, space_id: str, code: int, since: int, schema: SchemaLoader) -> Iterator[Finding]:
    try:
        found = snapshot.read(Files(), path)
        graph = Graph(space_id)
        environments = Environments(graph.symbols, schema)
        environments.add(0, {})
        Thaw(found, graph).apply(environments)
        if (code >> 3) >= graph.counts()[code & 7]:
            return
        if found.seq < since:
            yield Finding(DAMAGE, path, None, f"a snapshot of commit {found.seq}, from before the purge")
            return
        yield from _in_graph(graph, path, code)
    except KipError as error:
        yield Finding(DAMAGE, path, None, f"what it holds can not be told: {error.message}")


def _other_files(folder: Path) -> Iterator[Finding]:
    for name in Files().names(folder):
        if name not in (NAME, LOCK) and snapshot.seq_of(name) is None:
            yield Finding(DAMAGE, folder / name, None, "a file that is neither journal nor snapshot may hold anything")


def _erased(code: int) -> Any:
    return ERASED
