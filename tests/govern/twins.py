"""Two memories: one that holds things which a reader may not see, and one that never held them.

In the first, `high` (the owner) writes what `low` may not see, between the statements of `low`; in the second, `low`
alone tells its story. What `low` sees of the first must be what the second holds, ids aside.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

import kipql
from kipql.errors import KipError
from kipql.model import KINDS, PREFIXES, element_id
from tests.properties.engine import Clock, unstamped
from tests.properties.memories import claim, record, statements
from tests.properties.vocabulary import KEYS, NAMES, PACKAGE, TYPE_OF_KEY, reference

READING = ("discover", "read", "search", "project", "read_history")
WRITING = (
    "create", "update", "assert", "record_attributed_assertion", "retract_own", "supersede_own", "archive",
    "tombstone", "merge_identity", "manage_retention", "derive",
)  # fmt: skip
LOW = "low"
_ID = re.compile(r"\b([CPAEX])-([1-9][0-9]*)\b")


def founding(keys: tuple[str, ...]) -> str:
    """Concepts with these keys, each knowing the next, said by the first."""
    made = [
        f'CREATE CONCEPT ?{key} {{ TYPE "{TYPE_OF_KEY[key[0]]}" NAME "{NAMES[at % 2]}" SET FIELDS {{key: "{key}"}} '
        f'SET ATTRIBUTES {{size: {at % 3}, color: "{("red", "green")[at % 2]}"}} }}'
        for at, key in enumerate(keys)
    ]
    said = [
        f'ASSERT (?{one}, "knows", ?{other}) {{by: ?{keys[0]}, mode: "stated", confidence: 0.5}}'
        for one, other in pairwise(keys)
    ]
    return f"MUTATE {{ {' '.join(made)} {' '.join(said)} }}"


@dataclass(slots=True)
class Twins:
    """`mixed` holds what is hidden too; `plain` never did. `commits` pairs their sequences."""

    mixed: kipql.Nexus
    plain: kipql.Nexus
    clock: Clock
    commits: list[tuple[int, int]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def low(self) -> kipql.Nexus:
        """The mixed memory as `low` sees it."""
        return self.mixed.as_principal(LOW)

    def say(self, number: int, statement: str) -> None:
        """`low` says something: in the mixed memory, and in the plain one if it was let.

        A claim that something hidden has superseded can not be moved again, whatever `low` sees of it: writes meet
        the true state. That is not said."""
        self.clock.set(number)
        if self._meets_the_truth(statement):
            return
        text = self.ids_to_plain(statement)
        try:
            status = self.low.execute(statement).status
        except KipError as error:
            assert error.code != "InternalError", (statement, error)
            self.told.append(f"low refused: {statement}: {error.code}")
            return
        self.told.append(f"low: {statement}")
        self.plain.execute(text)
        if status == "committed":
            self.commits.append((self.mixed.space_seq, self.plain.space_seq))

    def hide(self, number: int, statement: str) -> None:
        """`high` says something that `low` may not see."""
        self.clock.set(number)
        before = self.mixed._session.space.view().bounds
        try:
            self.mixed.execute(statement)
        except KipError:
            return
        self.told.append(f"high: {statement}")
        after = self.mixed._session.space.view().bounds
        made = [element_id(row * 8 + kind) for kind in range(5) for row in range(before[kind], after[kind])]
        if made:
            self.mixed.govern.classify(made, "secret")

    def _meets_the_truth(self, statement: str) -> bool:
        seen, whole = self.low._session.view(), self.mixed._session.space.view()
        codes = [seen.code(match[0]) for match in _ID.finditer(statement)]
        return any(seen.record(code) != whole.record(code) for code in codes if code is not None)

    # ids

    def pairs(self) -> dict[str, str]:
        """Ids that `low` sees in the mixed memory -> ids of the plain one: both in the order of creation."""
        seen, plain = self.low._session.view(), self.plain._session.view()
        found = {}
        for kind in range(len(KINDS)):
            ours, theirs = list(seen.rows(kind)), list(plain.rows(kind))
            assert len(ours) == len(theirs), (KINDS[kind], ours, theirs, self.told)
            for one, other in zip(ours, theirs, strict=True):
                found[element_id(one * 8 + kind)] = element_id(other * 8 + kind)
        return found

    def ids_to_plain(self, text: str) -> str:
        """A statement with the ids of the plain memory; what `low` does not see is there under no id."""
        known = self.pairs()
        return _ID.sub(lambda match: known.get(match[0], f"{match[1]}-99999"), text)

    def to_plain(self, value: Any) -> Any:
        """A value from the mixed memory with the ids of the plain one; an id that `low` may not see is a failure."""
        known = self.pairs()

        def mapped(item: Any) -> Any:
            if isinstance(item, str):
                return _ID.sub(lambda match: known[match[0]], item) if _ID.search(item) else item
            if isinstance(item, dict):
                return {mapped(name): mapped(member) for name, member in item.items()}
            if isinstance(item, list | tuple):
                return type(item)(mapped(member) for member in item)
            return item

        return mapped(value)


def twins() -> Twins:
    """Two empty memories, governed the way that `low` sees what is not secret."""
    clock = Clock()
    mixed = kipql.open(packages=[PACKAGE], clock=clock)
    plain = kipql.open(packages=[PACKAGE], clock=clock, principal=LOW)
    mixed.govern.labels("public", "secret")
    mixed.govern.grant(LOW, *READING, *WRITING, "read_raw_origin", up_to="public")
    return Twins(mixed, plain, clock)


def elements(view: Any) -> list[dict[str, Any]]:
    """Every element of a view, without the stamps that tell one memory from the other."""
    return [stampless(view.element(row * 8 + kind)) for kind in range(len(PREFIXES)) for row in view.rows(kind)]


def stampless(value: Any) -> Any:
    """A value without moments, and without the ids that name a commit: sequences are the Space's own."""
    return without(unstamped(value), "decision_id", "op_id")


def without(value: Any, *names: str) -> Any:
    """A value without some members, wherever they stand."""
    if isinstance(value, dict):
        return {name: without(member, *names) for name, member in value.items() if name not in names}
    if isinstance(value, list | tuple):
        return type(value)(without(item, *names) for item in value)
    return value


# --- stories ------------------------------------------------------------------------------------------


@st.composite
def _hidden_statement(draw: st.DrawFn, hidden: tuple[str, ...]) -> str:
    """Something that changes nothing `low` may see: it makes elements, or touches hidden ones."""
    secret = st.sampled_from(hidden)
    match draw(st.integers(0, 10)):
        case 0:
            key = draw(st.sampled_from(("r6", "r7", "p3", "a3")))
            return (
                f'CREATE CONCEPT ?c {{ TYPE "{TYPE_OF_KEY[key[0]]}" NAME "{draw(st.sampled_from(NAMES))}" '
                f'SET FIELDS {{key: "{key}"}} SET ATTRIBUTES {{size: 7}} }}'
            )
        case 1 | 2:
            return draw(claim())
        case 3 | 4:
            source, target = draw(st.sampled_from(KEYS)), draw(secret)
            return (
                f'UPDATE ?x SET STRUCTURAL {{ ("seen_with", ?y) }} WHERE {{ ?x {reference(source)} '
                f"?y {reference(target)} }}"
            )
        case 5 | 6 | 7:
            other = draw(secret)
            one = draw(st.sampled_from([key for key in KEYS if key[0] == other[0]]))
            source, target = (one, other) if draw(st.integers(0, 3)) else (other, one)
            return f"MERGE CONCEPT ?s INTO ?t WHERE {{ ?s {reference(source)} ?t {reference(target)} }}"
        case 8:
            first, second = [key for key in KEYS if key not in hidden][:2]
            return (
                f'ASSERT ({reference(first)}, "knows", {reference(second)}) '
                f'{{by: {reference(first)}, mode: "stated", stance: "reject"}} SUPERSEDING "A-1"'
            )
        case 9:
            return draw(record())
        case _:
            key = draw(secret)
            return f"UPDATE ?x SET ATTRIBUTES {{size: 9}} WHERE {{ ?x {reference(key)} }}"


@st.composite
def _visible_statement(draw: st.DrawFn, hidden: tuple[str, ...]) -> str:
    """Anything, more often than not about what is visible."""
    text = draw(statements)
    if draw(st.integers(0, 3)):
        for key in hidden:
            other = draw(st.sampled_from([other for other in KEYS if other not in hidden]))
            text = text.replace(reference(key), reference(other))
    return text


@st.composite
def stories(draw: st.DrawFn) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Which keys are hidden, and what is said by whom."""
    hidden = tuple(sorted(draw(st.sets(st.sampled_from(KEYS[1:]), min_size=2, max_size=5))))
    said = draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("low"), _visible_statement(hidden)),
                st.tuples(st.just("high"), _hidden_statement(hidden)),
            ),
            min_size=4,
            max_size=18,
        )
    )
    return hidden, said


def tell(story: tuple[tuple[str, ...], list[tuple[str, str]]]) -> Twins:
    """Two memories that lived through a story."""
    hidden, said = story
    made = twins()
    made.say(1, founding(tuple(key for key in KEYS if key not in hidden)))
    made.hide(2, founding(hidden))
    for number, (who, statement) in enumerate(said, 10):
        (made.say if who == "low" else made.hide)(number, statement)
    return made
