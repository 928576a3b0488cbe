"""The first inputs of each corpus, made anew by `python -m tests.fuzz.seeds`; what runs found stands beside them."""

import json
import tempfile
from pathlib import Path
from random import Random

from tests.fuzz.running import CORPUS
from tests.properties.corpus import _documents
from tests.properties.hostile import hostile
from tests.store.small import Writer, commit, grown

_CREATE = 'CREATE CONCEPT ?a { TYPE "Robot" NAME :n }'
_FIND = "FIND(?c.id) WHERE { ?c CONCEPT {} } LIMIT 1"
_REQUESTS: tuple[object, ...] = (
    {"kip": "2.0", "operations": [{"command": _FIND}]},
    {"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}, {"command": "LIST TYPES LIMIT 2", "op_id": "x"}]},
    {"kip": "2.0", "operations": [{"command": _CREATE, "parameters": {"n": "a"}}], "options": {"dry_run": True}},
    {"kip": "2.0", "operations": [{"command": _CREATE, "parameters": {"n": "a"}}, {"command": _FIND}],
     "execution": {"mode": "atomic"}, "request_id": "r-1"},
    {"kip": "2.0", "operations": [{"command": _CREATE, "parameters": {"n": "a"}, "idempotency_key": "k"}]},
    {"kip": "2.0", "ingest": {"evidence": [{"key": "e", "evidence_class": "note", "payload": "x"}]},
     "operations": [{"command": _CREATE, "parameters": {"n": "a"}}]},
    {"kip": "2.0", "operations": [{"command": "PREVIEW :k", "parameters": {"k": _CREATE, "n": "b"}}]},
    {"kip": "2.0", "operations": [{"command": _FIND}], "read": {"snapshot_token": "x"}, "options": {"deadline_ms": 9}},
    {"kip": "2.0", "space": {"id": "kip:space:default"}, "operations": [{"command": _FIND}], "requires": ["kip:x"]},
    {"$install": ["kip://domains/general@1.0.0"]},
)  # fmt: skip


def main() -> None:
    """Write them."""
    for number, text in enumerate(sorted(_documents(), key=lambda text: (len(text), text))[::2]):
        _write("text", f"document-{number:02}", text.encode())
    random = Random(5)
    for number in range(12):
        _write("text", f"hostile-{number:02}", hostile(random)[:2_000].encode("utf-8", "surrogatepass"))
    for number, request in enumerate(_REQUESTS):
        _write("envelope", f"request-{number:02}", json.dumps(request).encode())
    with tempfile.TemporaryDirectory() as folder:
        _spaces(Path(folder))


def _spaces(folder: Path) -> None:
    for seed, commits in ((1, 1), (2, 4), (3, 8)):
        place = folder / str(seed)
        with grown(seed, commits, place) as space:
            _write("journal", f"grown-{commits}", (place / "journal").read_bytes())
            space.snapshot()
            _write("snapshot", f"grown-{commits}", next(place.glob("snapshot-*")).read_bytes())
            commit(space, Writer(seed).transaction)
        _write("journal", f"continued-{commits}", (place / "journal").read_bytes())


def _write(target: str, name: str, data: bytes) -> None:
    (CORPUS / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
