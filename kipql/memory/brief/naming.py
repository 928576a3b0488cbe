"""Who or what a question is about: an entity that it names, then the counterparty, then nobody.

Names are kept in the language they arrived in and others are aliases, so a question is probed in all the forms that the
caller gives, in one batch. A name that fits several Concepts is told as ambiguous and none of them is chosen.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import kipql
from kipql.memory.brief.reading import Ask, Found, Reading

_PROBES = 16
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
RECORDS = frozenset(
    (
        *("Event", "Experience", "ExperienceStep", "Insight", "Commitment", "Skill", "SkillRevision", "SleepTask"),
        *("Watch", "SelfModel", "WorkingState", "Pin", "CanonArticle"),
    )
)
_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "MYANMAR", "KHMER")
_FUNCTION_WORDS = """
a about after all also am an and any are as at be been before being but by can could did do does for from
had has have he her him his how i if in into is it its me might more most much my no not of on or our over shall
she should so some than that the their them then there these they this those to under up us was we were what when where
which who whom whose why will with would you your
"""
FUNCTION = frozenset(_FUNCTION_WORDS.split())
_CAPITALS = re.compile(r"[A-Z][\w'’\-]*(?:\s+[A-Z][\w'’\-]*)*")
_QUOTED = re.compile(r"[\"“«「]([^\"”»」]{1,80})[\"”»」]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Concept that a question may mean."""

    id: str
    name: str | None
    key: str | None
    aliases: tuple[str, ...]
    schema_ref: str
    score: float | None = None

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name or self.key or self.id

    @property
    def names(self) -> tuple[str, ...]:
        """All it can be called by."""
        return tuple(name for name in (self.name, self.key, *self.aliases) if name)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"id": self.id, "name": self.name, "key": self.key, "type": self.schema_ref.rsplit("/", 1)[-1]}


@dataclass(frozen=True, slots=True)
class Subject:
    """`how` is named, counterparty, given, self or none.

    `others` are those that the first name fits where it fits several, `also` what else the question names, `hits` what
    grounding found, best first.
    """

    chosen: Candidate | None
    how: str
    others: tuple[Candidate, ...] = ()
    hits: tuple[Candidate, ...] = ()
    also: tuple[Candidate, ...] = ()

    @property
    def id(self) -> str | None:
        """The chosen Concept."""
        return self.chosen.id if self.chosen is not None else None

    @property
    def ambiguous(self) -> bool:
        """Whether a name fits several and none was chosen."""
        return self.chosen is None and len(self.others) > 1


def ground(reading: Reading, forms: Sequence[str], limit: int = 50) -> list[Candidate]:
    """The Concepts that any of the forms might mean, best first; one batch, whatever the number of forms."""
    asks = [
        Ask("ground", {"text": form, "limit": limit, "candidates": limit + 1})
        for form in dict.fromkeys(forms)
        if form.strip()
    ]
    best: dict[str, Candidate] = {}
    for found in reading.batch(*asks):
        for candidate in _candidates(found):
            known = best.get(candidate.id)
            if known is None or (candidate.score or 0) > (known.score or 0):
                best[candidate.id] = candidate
    return sorted(best.values(), key=lambda one: -(one.score or 0))


def resolve(reading: Reading) -> Subject:
    """The subject of the question of a recall."""
    asked = reading.asked
    if asked.subject is not None:
        return _given(reading, asked.subject)
    texts = (asked.query, *asked.forms)
    hits = ground(reading, [*texts, *dict.fromkeys(piece for text in texts for piece in pieces(text))])
    named = _named(texts, hits)
    counterparty = _of_key(reading, asked.context.counterparty)
    if not named:
        how = "none" if counterparty is None else "counterparty"
        return Subject(counterparty, how, hits=tuple(hits))
    first, also = named[0], tuple(one[0] for one in named[1:] if len(one) == 1)
    if len(first) == 1:
        return Subject(first[0], "named", hits=tuple(hits), also=also)
    meant = [one for one in first if counterparty is not None and one.id == counterparty.id]
    if meant:
        return Subject(meant[0], "named", hits=tuple(hits), also=also)
    return Subject(None, "none", tuple(first), tuple(hits), also)


def pieces(text: str) -> Iterator[str]:
    """What may be a name, likeliest first: quoted texts, capitalised runs, then words that say something."""
    found = [*_QUOTED.findall(text), *_CAPITALS.findall(text)]
    found += [word for word in _WORD.findall(text) if folded(word) not in FUNCTION and len(word) > 1]
    kept = dict.fromkeys(piece for piece in found if folded(piece) not in FUNCTION)
    yield from list(kept)[:_PROBES]


def folded(text: str) -> str:
    """A text without case and compatibility forms, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name as words of its own; in scripts without blanks, anywhere."""
    return bool(_spans(text, name))


def without(text: str, names: Sequence[str]) -> str:
    """A text, folded, without these names; longer names go first."""
    left = folded(text)
    for name in sorted(names, key=len, reverse=True):
        for first, end in reversed(_spans(left, name)):
            left = f"{left[:first]} {left[end:]}"
    return left


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a script that writes no blanks."""
    return any(unicodedata.name(letter, "").startswith(_SCRIPTS) for letter in text)


def _named(texts: Sequence[str], hits: Sequence[Candidate]) -> list[list[Candidate]]:
    """Those that a question names, in the order it names them; several in one place share a name.

    A name inside a longer one is not meant: "Ada" is not, where "Ada Lovelace" is a name of somebody. Records of the
    memory itself (Events, Commitments, Skills, ...) are found by what they say, and are nobody's name.
    """
    hits = [hit for hit in hits if hit.schema_ref.rsplit("/", 1)[-1] not in RECORDS]
    places: dict[tuple[int, int, int], list[Candidate]] = {}
    for number, text in enumerate(texts):
        for hit in hits:
            for span in {span for name in hit.names for span in _spans(text, name)}:
                places.setdefault((number, *span), []).append(hit)
    kept = [
        place
        for place in sorted(places)
        if not any(
            number == place[0] and first <= place[1] and place[2] <= end and end - first > place[2] - place[1]
            for number, first, end in places
        )
    ]
    named: dict[tuple[str, ...], list[Candidate]] = {}
    for place in kept:
        named.setdefault(tuple(sorted(hit.id for hit in places[place])), places[place])
    return list(named.values())


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    """Where a text has a name as words of its own; in scripts without blanks, anywhere."""
    whole, part = folded(text), folded(name)
    if not part:
        return []
    pattern = re.escape(part)
    if not is_unspaced(part):
        pattern = rf"(?<!\w){pattern}(?!\w)"
    return [match.span() for match in re.finditer(pattern, whole)]


def _given(reading: Reading, reference: str) -> Subject:
    """A subject that the caller names exactly: by id, else by key."""
    found = reading.ask("entity", subject=reference)
    if found.rows:
        identity, schema_ref, name, key, aliases = found.rows[0][:5]
        return Subject(Candidate(identity, name, key, tuple(aliases or ()), schema_ref), "given")
    return Subject(_of_key(reading, reference), "given")


def _of_key(reading: Reading, key: str | None) -> Candidate | None:
    """The one Concept with this key. Raises IdentitySelectorRequired where the key is of several Types."""
    if key is None:
        return None
    found = list(_candidates(reading.ask("counterparty", key=key)))
    if len(found) > 1:
        types = ", ".join(one.schema_ref for one in found)
        raise kipql.KipError(
            "IdentitySelectorRequired", f"the key {key!r} belongs to several Concepts: {types}", hint="give its id"
        )
    return found[0] if found else None


def _candidates(found: Found) -> Iterator[Candidate]:
    for identity, name, key, aliases, schema_ref, *score in found.rows:
        yield Candidate(identity, name, key, tuple(aliases or ()), schema_ref, score[0] if score else None)
