"""Articles: resolving a path to the nearest one, reading and writing one.

An article is prose that is rewritten in place: the last write wins, the memory keeps the earlier wordings. Writing
never refuses prose; what it has to say about it is advice (`lint`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.answers import Answer
from kipql.memory.canon import journal, lint, prose
from kipql.memory.canon.address import above, key, normal, without_extension
from kipql.memory.canon.assets import ensure_assets
from kipql.memory.canon.form import Form
from kipql.memory.canon.paths import Files
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
SCOPES = ("asset", "rule")
_CREATE = """CREATE CONCEPT ?art {{
  TYPE "kip://kipql/agent/CanonArticle"
  SET FIELDS {{ key: :key, name: :address }}
  SET ATTRIBUTES {{ mount: :mount, address: :address, capsule: :capsule, body: :body, updated: :updated, scope: :scope, front: :front }}
  {governs}
}}"""  # noqa: E501
_UPDATE = """UPDATE :id SET ATTRIBUTES {
  capsule: :capsule, body: :body, updated: :updated, scope: :scope, front: :front
}"""
_GOVERN = 'UPDATE :id SET STRUCTURAL { ("kip://kipql/agent/governs", :asset) }'
_LET_GO = 'UPDATE :id UNSET STRUCTURAL { ("kip://kipql/agent/governs", :asset) }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Article(Answer):
    """`read`: the article that governs a path. `governs` is the address that was asked for; `journal` has the names
    of the newest entries about the article's address, and there are `earlier` more."""

    found: bool
    mount: str
    address: str | None
    governs: str
    capsule: str = ""
    body: str = ""
    updated: str = ""
    scope: str = ""
    journal: list[str] = field(default_factory=list)
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Answer):
    """`write`: `status` is created, updated or unchanged. `advice` is what to look at again, `notes` are no faults."""

    status: str
    mount: str
    address: str
    advice: list[str]
    notes: list[str]
    seq: int | None


@dataclass(frozen=True, slots=True)
class Stored:
    """An article as the memory has it."""

    id: str
    state: str
    capsule: str
    body: str
    updated: str
    scope: str
    front: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """What a write asks for: what is blank stays as it is. `governs` says whether the asset is there to be governed;
    None leaves that to the scope. `updated` is a day; else it is today's, when something changes."""

    capsule: str | None = None
    body: str | None = None
    scope: str | None = None
    front: Mapping[str, Any] | None = None
    governs: bool | None = None
    updated: str | None = None


def stored(reader: "Nexus | Transaction", name: str, as_of: int | None = None) -> Stored | None:
    """The article with a key, archived ones included."""
    text = query("article") if as_of is None else f"{query('article')} AS OF SEQ :as_of"
    rows = reader.query(text, {"key": name, "as_of": as_of}).rows
    if not rows:
        return None
    identity, state, capsule, body, updated, scope, front = rows[0]
    carried = front if isinstance(front, Mapping) else {}
    return Stored(identity, state, _text(capsule), _text(body), _text(updated), _text(scope), carried)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def chain(mount: str, normalised: str, files: Files) -> list[str]:
    """The keys that may answer for a normal path, nearest first.

    A name that an article has as it is was no file's: its extension stays, unless there is a file of that name.
    """
    plain = without_extension(normalised)
    whole = [normalised] if plain != normalised and not files.has(normalised) else []
    return [key(mount, one) for one in (*whole, *above(plain))]


def nearest(found: Iterable[str], keys: list[str]) -> str | None:
    """The first of `keys` that is among what was found."""
    known = set(found)
    return next((one for one in keys if one in known), None)


def write(
    nexus: "Nexus",
    mount: str,
    address: str,
    change: Change,
    today: str,
    form: Form = Form(),  # noqa: B008 - frozen
) -> Written:
    """Create or rewrite the article at an address, in one transaction. Raises ConstraintViolation for an unknown scope,
    for an address whose article was archived, and for a new article without what the form requires."""
    check(change)
    name = key(mount, address)
    with nexus.transaction() as tx:
        before = stored(tx, name)
        if before is not None and before.state != "active":
            raise kipql.KipError(
                "ConstraintViolation",
                f"the article {address} is {before.state}, and its address is not given out again",
                hint="write what holds now to the article above it",
            )
        after = _merged(before, change, today)
        missing, unfit = form.faults({**after.front, **_attributes(after), "address": address})
        if missing and before is None:
            raise kipql.KipError("ConstraintViolation", " ".join(missing), hint="the schema of this canon requires it")
        orphan = after.scope != "rule" and change.governs is False
        draft = _draft(tx, mount, address, before, after, orphan=orphan)
        status = "unchanged" if before == after else "created" if before is None else "updated"
        if before is None:
            _create(tx, mount, address, after, change)
        elif status == "updated":
            tx.execute(_UPDATE, {"id": before.id, **_attributes(after)})
        if before is not None:
            _scope(tx, mount, address, before.id, after, change)
    receipt = tx.receipt
    assert receipt is not None
    return Written(
        status=status,
        mount=mount,
        address=address,
        advice=[*lint.advice(draft), *missing, *unfit],
        notes=lint.notes(draft),
        seq=receipt.space_seq,
    )


def check(change: Change) -> None:
    """Refuse what is no text, and a scope that is not known."""
    for name in ("capsule", "body", "scope"):
        value = getattr(change, name)
        if value is not None and not isinstance(value, str):
            raise kipql.KipError("TypeMismatch", f"{name} is text, not {type(value).__name__}")
    if change.scope and change.scope.strip() not in SCOPES:
        raise kipql.KipError(
            "ConstraintViolation", f"{change.scope!r} is no scope", hint='write "rule", or "asset" to take that back'
        )


def _merged(before: Stored | None, change: Change, today: str) -> Stored:
    """The article after the write; `updated` moves only when something else does."""
    day = change.updated if change.updated and _DAY.fullmatch(change.updated) else None
    base = before or Stored("", "active", "", "", day or today, "", {})
    after = replace(
        base,
        capsule=prose.one_line(change.capsule or "") or base.capsule,
        body=change.body if change.body and change.body.strip() else base.body,
        scope=(change.scope or "").strip() or base.scope,
        front=base.front if change.front is None else dict(change.front),
    )
    return after if after == base else replace(after, updated=day or today)


def _attributes(after: Stored) -> dict[str, Any]:
    return {
        "capsule": after.capsule,
        "body": after.body,
        "updated": after.updated,
        "scope": after.scope,
        "front": dict(after.front),
    }


def _create(tx: "Transaction", mount: str, address: str, after: Stored, change: Change) -> None:
    name = key(mount, address)
    asset = ensure_assets(tx, [(mount, address)])[name]
    governs = 'SET STRUCTURAL { ("kip://kipql/agent/governs", :asset) }' if _governs(after, change) is not False else ""
    given = {"key": name, "mount": mount, "address": address, "asset": asset, **_attributes(after)}
    tx.execute(_CREATE.format(governs=governs), given)


def _governs(after: Stored, change: Change) -> bool | None:
    return False if after.scope == "rule" else change.governs


def _scope(tx: "Transaction", mount: str, address: str, identity: str, after: Stored, change: Change) -> None:
    """Let an article that became a rule go of its asset, and the other way round."""
    wanted = _governs(after, change)
    if wanted is None and not (change.scope and change.scope.strip()):
        return
    name = key(mount, address)
    held = name in tx.query(query("governed"), {"key": name}).rows
    if held != (wanted is not False):
        asset = ensure_assets(tx, [(mount, address)])[name]
        tx.execute(_LET_GO if held else _GOVERN, {"id": identity, "asset": asset})


def _draft(
    tx: "Transaction", mount: str, address: str, before: Stored | None, after: Stored, *, orphan: bool
) -> lint.Draft:
    parents = [key(mount, one) for one in above(address)[1:]]
    found = tx.query(query("governing"), {"keys": parents}).rows
    return lint.Draft(
        address=address,
        capsule=after.capsule,
        body=after.body,
        before=None if before is None else before.body,
        entries=journal.texts_about(tx, mount, address),
        parent=bool(found),
        dead=tuple(dead_links(tx, mount, after.body, {key(mount, address)})),
        orphan=orphan,
    )


def dead_links(reader: "Nexus | Transaction", mount: str, body: str, known: Iterable[str] = ()) -> list[str]:
    """The wikilinks of a body that name neither an article nor a journal entry; `known` are keys of articles."""
    targets = {target: _keys(mount, target) for target in prose.links(body)}
    if not targets:
        return []
    asked = [one for keys in targets.values() for one in keys]
    there = {row[0] for row in reader.query(query("governing"), {"keys": asked}).rows} | set(known)
    return [target for target, keys in targets.items() if there.isdisjoint(keys) and not _entry(reader, target)]


def _keys(mount: str, target: str) -> list[str]:
    """The keys that a link may mean: in this mount, or in the one it names."""
    try:
        whole = normal(target)
    except kipql.KipError:
        return []
    names = dict.fromkeys((whole, without_extension(whole)))
    return [key(mount, one) for one in names] + [one for one in names if ":" in one]


def _entry(reader: "Nexus | Transaction", target: str) -> bool:
    name = f"{target.rpartition('/')[2].removesuffix('.md')}.md"
    return bool(reader.query(query("journal_name"), {"name": name}).rows)
