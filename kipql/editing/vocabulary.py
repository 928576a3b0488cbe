"""The words of a memory: the symbols of its Schema Environment, the keys and names of its Concepts.

Symbols are asked once for each version of the environment. Keys and names are asked again when the memory moved: at
once where there are few Concepts, else in the background, and until then those known before are used.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.limits import Limits
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.nexus import Nexus

FEW = 2_000  # Concepts that are asked for while somebody waits
MOST = 50_000  # keys, and names, that are kept
OFFERED = 40


@dataclass(frozen=True, slots=True)
class Symbols:
    """Short names, ordered; `attributes` by the Concept Type that declares them, `facet_fields` by the Facet."""

    types: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    facet_fields: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Held:
    """Words of one member at a sequence: (word, short name of the Type), ordered."""

    seq: int
    words: list[tuple[str, str]]


class Vocabulary:
    """The words of one memory, as its reader may see them."""

    def __init__(self, nexus: "Nexus") -> None:
        self.nexus = nexus
        self._symbols: tuple[int, Symbols] | None = None
        self._past: tuple[int, Symbols] | None = None
        self._held: dict[str, _Held] = {}
        self._asking: set[str] = set()
        self._lock = threading.Lock()

    @property
    def symbols(self) -> Symbols:
        """The symbols now. Raises KipError when they may not be read."""
        version = int(self.nexus.stats()["schema_environment_version"])
        if self._symbols is None or self._symbols[0] != version:
            self._symbols = version, _asked(asking(self.nexus))
        return self._symbols[1]

    def symbols_at(self, seq: int | None) -> Symbols:
        """The symbols at a sequence, None for now. Raises KipError."""
        if seq is None:
            return self.symbols
        environment = self.nexus.query("DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ :seq", {"seq": seq}).one()
        version = int(environment["schema_environment_version"])
        if self._past is None or self._past[0] != version:
            self._past = version, _asked(asking(self.nexus, seq))
        return self._past[1]

    def stored(self, member: str, prefix: str, type_: str | None) -> list[str]:
        """Keys (`key`) or names (`name`) that begin with a prefix, of a Type where one is given."""
        held = self._fresh(member)
        if held is None:
            return []
        found: dict[str, None] = {}
        at = bisect_left(held.words, (prefix, ""))
        while at < len(held.words) and len(found) < OFFERED and held.words[at][0].startswith(prefix):
            word, of = held.words[at]
            if type_ is None or of == type_.rpartition("/")[2]:
                found[word] = None
            at += 1
        return list(found)

    def ask(self, member: str, seconds: float = 10.0) -> None:
        """Look the keys or names up now; those known before stay when that takes too long or is not allowed."""
        seq = self.nexus.space_seq
        text = f"FIND(?c.{member}, ?c.schema_ref) WHERE {{ ?c CONCEPT {{}} FILTER(IS_NOT_NULL(?c.{member})) }}"
        with suppress(KipError):
            rows: list[Any] = self.nexus.query(f"{text} LIMIT {MOST}", limits=Limits(seconds=seconds)).rows
            words = sorted({(str(word), str(ref).rpartition("/")[2]) for word, ref in rows})
            self._held[member] = _Held(seq, words)

    def _fresh(self, member: str) -> _Held | None:
        held, seq = self._held.get(member), self.nexus.space_seq
        if held is None or held.seq != seq:
            if self.nexus.stats()["elements"]["concept"] <= FEW:
                self.ask(member)
            else:
                self._ask_behind(member)
        return self._held.get(member)

    def _ask_behind(self, member: str) -> None:
        with self._lock:
            if member in self._asking:
                return
            self._asking.add(member)

        def run() -> None:
            try:
                self.ask(member)
            finally:
                self._asking.discard(member)

        threading.Thread(target=run, name="kipql-words", daemon=True).start()


Ask = Callable[[str, dict[str, Json]], list[Any]]


def asking(nexus: "Nexus", seq: int | None = None) -> Ask:
    """How to ask a META statement for its rows: now, or in the state of a sequence, which a snapshot token
    names (§78)."""
    if seq is None:
        return lambda text, given: list(nexus.query(text, given).rows)
    of = {"command": f'FIND(COUNT(?x)) WHERE {{ ?x CONCEPT {{id: "C-1"}} }} AS OF SEQ {seq}'}
    read = {"snapshot_token": _answer(nexus, of)["snapshot"]["snapshot_token"]}

    def ask(text: str, given: dict[str, Json]) -> list[Any]:
        found = _answer(nexus, {"command": text, "parameters": given}, read)["results"][0]["result"]
        return found if isinstance(found, list) else [found]

    return ask


def _answer(nexus: "Nexus", operation: dict[str, Json], read: dict[str, Json] | None = None) -> Any:
    reply: Any = nexus.request({"kip": "2.0", "operations": [operation], **({"read": read} if read else {})})
    wrong = reply.get("error") or next((each["error"] for each in reply["results"] if each.get("error")), None)
    if wrong is not None:
        raise KipError(wrong["code"], wrong["message"], hint=wrong.get("hint"))
    return reply


def _asked(ask: Ask) -> Symbols:
    def listed(what: str, member: str = "local_name") -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(row[member]) for row in ask(f"LIST {what}", {})))

    types, facets = listed("TYPES"), listed("FACETS")
    return Symbols(
        types,
        listed("PREDICATES"),
        facets,
        listed("STRUCTURAL FIELDS"),
        listed("SCHEMA PACKAGES", "package_ref"),
        {name: _declared(ask, "TYPE", name) for name in types},
        {name: _declared(ask, "FACET", name) for name in facets},
    )


def _declared(ask: Ask, what: str, name: str) -> tuple[str, ...]:
    """The attributes of a Type, the fields of a Facet."""
    try:
        definition = ask(f"DESCRIBE {what} :name", {"name": name})[0]["definition"]
    except KipError:  # a short name that two packages define
        return ()
    return tuple(sorted((definition.get("attributes") or definition).get("fields") or ()))
