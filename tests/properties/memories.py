"""Random small memories: lists of KML statements over the vocabulary.

Some statements will be refused (a merge that would cycle, a move from the wrong state, a key taken twice);
that is part of the memory's story, and a refused statement must leave no trace.
"""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.properties.vocabulary import (
    COLORS,
    FIELDS,
    KEYS,
    LITERALS,
    NAMES,
    NUMBERS,
    PEOPLE,
    ROBOTS,
    TYPE_OF_KEY,
    reference,
    text,
)

keys = st.sampled_from(KEYS)


def _object(values: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {text(value)}" for name, value in values.items()) + "}"


attributes: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(("size", "color", "note")), st.none(), min_size=1, max_size=3
).flatmap(
    lambda names: st.fixed_dictionaries(
        {name: st.sampled_from((*NUMBERS, None) if name == "size" else (*COLORS, None)) for name in sorted(names)}
    )
)


@st.composite
def concept(draw: st.DrawFn, handle: str = "?c") -> str:
    key = draw(st.sampled_from(("r4", "r5", "p2", "a2", "r0")))
    values = _object(draw(attributes))
    return (
        f'CREATE CONCEPT {handle} {{ TYPE "{TYPE_OF_KEY[key[0]]}" NAME {text(draw(st.sampled_from(NAMES)))} '
        f'SET FIELDS {{key: "{key}"}} SET ATTRIBUTES {values} }}'
    )


@st.composite
def upsert(draw: st.DrawFn) -> str:
    key = draw(keys)
    return f"UPSERT CONCEPT ?u {{ MATCH {reference(key)} SET ATTRIBUTES {_object(draw(attributes))} }}"


@st.composite
def claim(draw: st.DrawFn) -> str:
    subject = reference(draw(keys))
    predicate = draw(st.sampled_from(("at", "knows", "knows", "weighs")))
    target = text(draw(st.sampled_from(LITERALS))) if predicate == "weighs" else reference(draw(keys))
    if draw(st.integers(0, 4)) == 0:
        return f'ENSURE PROPOSITION ({subject}, "{predicate}", {target})'
    actor = reference(draw(st.sampled_from(PEOPLE)))
    members = [
        f"by: {actor}",
        f'mode: "{draw(st.sampled_from(("stated", "observed")))}"',
        f'stance: "{draw(st.sampled_from(("support", "reject")))}"',
        f"confidence: {draw(st.sampled_from((0.25, 0.5, 1)))}",
    ]
    if draw(st.booleans()):
        members.append(f'valid: {{from: "2026-0{draw(st.integers(1, 9))}-01T00:00:00.000Z"}}')
    superseding = f' SUPERSEDING "A-{draw(st.integers(1, 5))}"' if draw(st.integers(0, 3)) == 0 else ""
    return f'ASSERT ({subject}, "{predicate}", {target}) {{{", ".join(members)}}}{superseding}'


@st.composite
def update(draw: st.DrawFn) -> str:
    where = f"WHERE {{ ?x {reference(draw(keys))} }}"
    match draw(st.integers(0, 5)):
        case 0:
            return f"UPDATE ?x UNSET ATTRIBUTES {{{draw(st.sampled_from(('size', 'color', 'note')))}}} {where}"
        case 1:
            return f'UPDATE ?x SET FACET "Mood" {{level: {draw(st.integers(0, 3))}}} {where}'
        case 2:
            return f"UPDATE ?x SET FIELDS {{name: {text(draw(st.sampled_from(NAMES)))}}} {where}"
        case 3:
            return 'UPDATE ?x SET ATTRIBUTES {size: ADD(?x.attributes.size, 1)} WHERE { ?x {type: "Robot"} }'
        case _:
            return f"UPDATE ?x SET ATTRIBUTES {_object(draw(attributes))} {where}"


@st.composite
def structural(draw: st.DrawFn) -> str:
    field = draw(st.sampled_from(FIELDS))
    entry = f'("{field}", ?y)' + (f" {{index: {draw(st.sampled_from((0, 0, 0, 1)))}}}" if field == "part" else "")
    verb = draw(st.sampled_from(("SET", "SET", "UNSET")))
    if verb == "UNSET":
        entry = f'("{field}", ?y)'
    source, target = reference(draw(keys)), reference(draw(keys))
    return f"UPDATE ?x {verb} STRUCTURAL {{ {entry} }} WHERE {{ ?x {source} ?y {target} }}"


@st.composite
def transition(draw: st.DrawFn) -> str:
    match draw(st.integers(0, 4)):
        case 0:
            state = draw(st.sampled_from(("archived", "archived", "tombstoned")))
            return f'TRANSITION ?x TO "{state}" WHERE {{ ?x {reference(draw(keys))} }}'
        case 1:
            return f'TRANSITION "P-{draw(st.integers(1, 6))}" TO "archived"'
        case 2:
            return f'TRANSITION "A-{draw(st.integers(1, 6))}" TO "archived"'
        case _:
            return f'TRANSITION "A-{draw(st.integers(1, 6))}" TO "{draw(st.sampled_from(("retracted", "running")))}"'


@st.composite
def retention(draw: st.DrawFn) -> str:
    kept = draw(st.sampled_from(("short", "long")))
    return f'SET RETENTION ?x {{retention_class: "{kept}"}} WHERE {{ ?x {reference(draw(keys))} }}'


@st.composite
def merge(draw: st.DrawFn) -> str:
    source, target = draw(st.sampled_from(ROBOTS)), draw(st.sampled_from(ROBOTS))
    return f"MERGE CONCEPT ?s INTO ?t WHERE {{ ?s {reference(source)} ?t {reference(target)} }}"


@st.composite
def record(draw: st.DrawFn) -> str:
    number = draw(st.integers(0, 3))
    if draw(st.booleans()):
        payload = text(draw(st.sampled_from(NAMES)))
        return (
            f'CREATE EVIDENCE ?e {{ CLIENT KEY "e{number}" SET FIELDS {{evidence_class: "message", payload: {payload}, '
            f'observed_at: "2026-01-0{number + 1}T00:00:00.000Z"}} }}'
        )
    actor = reference(draw(st.sampled_from(PEOPLE)))
    return (
        f'MUTATE {{ CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "note", payload: {number}}} }} '
        f'CREATE ASSERTION ?a {{ SET FIELDS {{proposition: "P-1", asserted_by: {actor}, stance: "support", '
        f'mode: "observed", confidence: 0.5}} SET STRUCTURAL {{ ("evidence", ?e) {{role: "support"}} }} }} }}'
    )


@st.composite
def together(draw: st.DrawFn) -> str:
    first, second = draw(concept("?c1")), draw(concept("?c2"))
    return f'MUTATE {{ {first} {second} ENSURE PROPOSITION ?p (?c1, "knows", ?c2) }}'


def _founding() -> str:
    edges = {
        "r0": 'SET STRUCTURAL { ("part", ?r1) ("part", ?r2) ("seen_with", ?p0) }',
        "r2": 'SET STRUCTURAL { ("seen_with", ?r0) }',
    }
    made = [
        f'CREATE CONCEPT ?{key} {{ TYPE "{TYPE_OF_KEY[key[0]]}" NAME "{NAMES[number % 2]}" SET FIELDS {{key: "{key}"}} '
        f'SET ATTRIBUTES {{size: {number % 3}, color: "{COLORS[number % 2]}"}} {edges.get(key, "")} }}'
        for number, key in enumerate(KEYS)
    ]
    said = [
        f'ASSERT (?{subject}, "{predicate}", {target}) {{by: ?a0, mode: "stated", confidence: 0.5}}'
        for subject, predicate, target in (
            ("r0", "knows", "?r1"),
            ("r1", "knows", "?r2"),
            ("r0", "at", "?p0"),
            ("r2", "at", "?p0"),
            ("r0", "weighs", "2"),
            ("r1", "weighs", '"red"'),
        )
    ]
    told = 'ENSURE PROPOSITION ?told (?r0, "knows", ?r2) ENSURE PROPOSITION (?a0, "knows", ?told)'
    return f"MUTATE {{ {' '.join(made)} {' '.join(said)} {told} }}"


FOUNDING = _founding()
"""The Concepts of the vocabulary, and a few claims, one of them about a claim."""

statements = st.one_of(
    concept(), upsert(), claim(), claim(), claim(), update(), update(), structural(), structural(), transition(),
    retention(), merge(), record(), together(),
)  # fmt: skip

turns = st.one_of(merge(), merge(), transition(), transition(), claim())

memories = st.tuples(st.lists(statements, min_size=1, max_size=10), st.lists(turns, min_size=2, max_size=5)).map(
    lambda story: [FOUNDING, *story[0][::2], *story[1], *story[0][1::2]]
)
"""The statements of a memory, oldest first. Merges and moves come in the middle: what follows meets them."""
