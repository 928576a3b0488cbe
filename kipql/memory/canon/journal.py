"""The journal: one entry for one thing that happened, word for word, never rewritten.

An entry is an Event whose key is its file name, `<date>-<slug>[-n].md`; its text is Evidence, which nothing can
change. Names are given out inside the writing transaction: the first one free, and one that was removed stays taken.
Entries are `about` Assets; the order is by `logged`, then by n, not by name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import kipql
from kipql.memory.answers import Answer
from kipql.memory.canon.address import key
from kipql.memory.canon.assets import ensure_assets
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

_SLUG = 80
_NUMBERED = re.compile(r"(\d{4}-\d{2}-\d{2}-.+)-([2-9]|[1-9]\d{1,8})\.md", re.ASCII)
_APART = re.compile(r"[^a-z0-9]+")
_CREATE = """MUTATE {{
  CREATE EVIDENCE ?src {{ CLIENT KEY :source_key SET FIELDS {{ evidence_class: "document", payload: :body, observed_at: :logged }} }}
  CREATE CONCEPT ?j {{
    TYPE "kip://profiles/cognitive-memory/Event"
    CLIENT KEY :entry_key
    SET FIELDS {{ key: :entry_name, name: :slug }}
    SET ATTRIBUTES {{ event_class: "journal_entry", summary: :slug, logged: :logged, seq: :seq, stem: :stem{more} }}
    SET STRUCTURAL {{ {about} ("kip://kipql/agent/has_message", ?src) }}
  }}
}}"""  # noqa: E501
Place = tuple[str, str]  # a mount and an address in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Answer):
    """`journal`: the name that the entry got, and the sequence it is recorded at."""

    name: str
    logged: str
    subject: list[str]
    seq: int | None


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry to be made. `name` is given for one that has it already, such as a file."""

    text: str
    about: tuple[Place, ...]
    slug: str
    logged: str
    extra: tuple[tuple[str, str], ...] = ()
    name: str | None = None


def slug_of(text: str | None) -> str:
    """A text as part of a file name: lower case, everything but ASCII letters and digits as `-`.

    >>> slug_of("Vendor cap!"), slug_of("???")
    ('vendor-cap', 'entry')
    """
    return _APART.sub("-", (text or "").lower()).strip("-")[:_SLUG].strip("-") or "entry"


def append(nexus: "Nexus", draft: Draft) -> tuple[str, int | None]:
    """Make an entry; its name and sequence. Raises ConstraintViolation for an empty text."""
    if not isinstance(draft.text, str) or not draft.text.strip():
        raise kipql.KipError("ConstraintViolation", "a journal entry has no text")
    stem = f"{draft.logged[:10]}-{draft.slug}"
    with nexus.transaction() as tx:
        assets = ensure_assets(tx, draft.about)
        about = [assets[key(mount, address)] for mount, address in draft.about]
        if draft.name is not None:
            name = draft.name
            if not _create(tx, draft, name, *_numbered(name), about):
                raise kipql.KipError("IdentityConflict", f"{name} was purged, and a name is never given out twice")
        else:
            name = _first_free(tx, draft, stem, about)
    assert tx.receipt is not None
    return name, tx.receipt.space_seq


def _first_free(tx: "Transaction", draft: Draft, stem: str, about: list[str]) -> str:
    number = _next(tx, stem)
    while True:
        name = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
        if not tx.query(query("journal_name"), {"name": name}).rows and _created(tx, draft, name, stem, number, about):
            return name
        number += 1


def _created(tx: "Transaction", draft: Draft, name: str, stem: str, number: int, about: list[str]) -> bool:
    """Whether the entry was made. The keys of an entry that was purged are still that one's: nothing is made then."""
    try:
        return _create(tx, draft, name, stem, number, about)
    except kipql.KipError as error:
        if error.code in ("ClientKeyConflict", "IdentityConflict"):
            return False
        raise


def _next(tx: "Transaction", stem: str) -> int:
    """The first number of a stem that is not given out."""
    count, most = tx.query(query("journal_taken"), {"stem": stem}).one()
    if not count or most is None or count == most:
        return int(most or 0) + 1
    taken = set(tx.query(query("journal_numbers"), {"stem": stem}).rows)
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def _create(tx: "Transaction", draft: Draft, name: str, stem: str, number: int, about: list[str]) -> bool:
    """Make an entry; whether it is there now."""
    entries = " ".join(f'("kip://profiles/cognitive-memory/about", :about{at})' for at in range(len(about)))
    parameters: dict[str, object] = {f"about{at}": asset for at, asset in enumerate(about)}
    parameters |= {
        "source_key": f"journal:{name}:source",
        "entry_key": f"journal:{name}",
        "entry_name": name,
        "slug": draft.slug,
        "body": draft.text,
        "logged": draft.logged,
        "seq": number,
        "stem": stem,
    }
    more = ""
    for at, (member, value) in enumerate(draft.extra):
        more += f", {member}: :extra{at}"
        parameters[f"extra{at}"] = value
    tx.execute(_CREATE.format(about=entries, more=more), parameters)
    return bool(tx.query(query("journal_name"), {"name": name}).rows)


def _numbered(name: str) -> tuple[str, int]:
    """The stem and the n of a name, 1 where it has none."""
    found = _NUMBERED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name.removesuffix(".md"), 1)


def names_about(reader: "Nexus | Transaction", mount: str, address: str) -> list[str]:
    """The names of the entries about exactly an address, newest first."""
    return [name for name, _ in reader.query(query("journal"), {"key": key(mount, address)}).rows]


def texts_about(reader: "Nexus | Transaction", mount: str, address: str) -> tuple[tuple[str, str], ...]:
    """(name, text) of the entries about exactly an address, oldest first."""
    rows = reader.query(query("journal_about"), {"key": key(mount, address)}).rows
    return tuple((name, text) for name, text in rows if isinstance(text, str))


def distinct(places: Iterable[Place]) -> tuple[Place, ...]:
    """Places, each once."""
    return tuple(dict.fromkeys(places))
