"""Random memories written through a Nexus, and the twin's reading of them from raw FIND rows.

One subject, three actors, five Predicates that declare every slot rule, and what can happen to a claim: it is
retracted, superseded, archived; its Evidence is corrected; the Concepts it names are merged. Nothing here reads a
belief: claims are rebuilt from the elements that `FIND(?a)` returns.
"""

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import kipql
from kipql.belief.core import BASELINE, MEMORY_DEFAULT, STRUCTURAL, Candidate, Claim, Policy, SlotRules
from kipql.belief.core.claims import MODES
from kipql.belief.core.policy import Weights
from kipql.errors import KipError
from kipql.times import format_instant, parse_instant, parse_interval

DAY = 86_400_000
FIRST = parse_instant("2026-01-01T00:00:00.000Z")
DAYS = 12

SUBJECTS = ("C-1", "C-1", "C-1", "C-2")
ACTORS = ("C-1", "C-1", "C-3", "C-4", "C-5")
CONTEXTS = ("C-6", "C-7", "C-8")
COLORS, TOOLS = ("C-9", "C-10", "C-11"), ("C-12",)
EVIDENCE = ("E-1", "E-2", "E-3", "E-4")
MERGES = (("C-2", "C-1"), ("C-5", "C-4"), ("C-8", "C-7"), ("C-11", "C-9"))

_STRING = {"literal_types": ["string"]}
_DECLARED: dict[str, dict[str, Any]] = {
    "town": {"functional": True, "object": _STRING},
    "likes": {"functional_by": "object_type", "object": {"kinds": ["Concept"]}},
    "alive": {"functional": True, "boolean_completeness": True, "object": {"literal_types": ["boolean"]}},
    "grade": {"functional": True, "complete": True, "open_world": False, "object": _STRING},
    "nick": {"object": _STRING},
    "badge": {"functional": True, "temporal_conflict": "none", "object": _STRING},
}
PREDICATES = tuple(_DECLARED)
_PACKAGE = {
    "manifest": {"package_id": "kip://test/twin", "version": "1.0.0"},
    "definitions": {
        "concept_types": {"Color": {"description": "A color."}, "Tool": {"description": "A tool."}},
        "predicates": {name: {"description": name, **declared} for name, declared in _DECLARED.items()},
    },
}
_SETUP = """MUTATE {
  CREATE CONCEPT ?c1 {TYPE "Person" NAME "Ada"}    CREATE CONCEPT ?c2 {TYPE "Person" NAME "Ada L."}
  CREATE CONCEPT ?c3 {TYPE "Person" NAME "Bob"}    CREATE CONCEPT ?c4 {TYPE "Person" NAME "Carol"}
  CREATE CONCEPT ?c5 {TYPE "Person" NAME "Carla"}  CREATE CONCEPT ?c6 {TYPE "Tool" NAME "work"}
  CREATE CONCEPT ?c7 {TYPE "Tool" NAME "home"}     CREATE CONCEPT ?c8 {TYPE "Tool" NAME "flat"}
  CREATE CONCEPT ?c9 {TYPE "Color" NAME "red"}     CREATE CONCEPT ?c10 {TYPE "Color" NAME "blue"}
  CREATE CONCEPT ?c11 {TYPE "Color" NAME "crimson"} CREATE CONCEPT ?c12 {TYPE "Tool" NAME "saw"}
  CREATE EVIDENCE ?e1 {SET FIELDS {evidence_class: "message", payload: "one"}}
  CREATE EVIDENCE ?e2 {SET FIELDS {evidence_class: "message", payload: "two"}}
  CREATE EVIDENCE ?e3 {SET FIELDS {evidence_class: "document", payload: "a copy of one"}
    SET STRUCTURAL {("source", ?e1)}}
  CREATE EVIDENCE ?e4 {SET FIELDS {evidence_class: "message", payload: "three"}}
}"""


_IMPORTING = {
    "policy_id": "test:importing",
    "eligibility": {"modes": {"imported": {"default": "include"}}},
    "precedence": {"order": ["recency", "first_person_testimony"]},
    "method": {"score_model": "noisy_or"},
}
_WEIGHTED = {
    "policy_id": "test:weighted",
    "precedence": {"order": ["recency"]},
    "method": {"score_model": "weighted"},
    "weights": {"accept_at": 0.4, "reject_at": 0.4, "default_trust": 0.8, "unstated": 0.5},
}
POLICIES = (
    BASELINE,
    STRUCTURAL,
    MEMORY_DEFAULT,
    MEMORY_DEFAULT,
    Policy(
        "test:importing",
        modes=MODES | {"imported"},
        precedence=("recency", "first_person_testimony"),
        scored=True,
    ),
    Policy("test:weighted", precedence=("recency",), scored=True, weights=Weights(0.4, 0.4, 0.8, 0.5)),
)


@dataclass
class Memory:
    """A memory, the Predicates it is about, and the trust the host set: (from which sequence, actor, weight)."""

    nexus: kipql.Nexus
    predicates: list[str]
    trust: list[tuple[int, str, float]] = field(default_factory=list)


def rules(predicate: str) -> SlotRules:
    declared = _DECLARED[predicate]
    return SlotRules(
        functional=declared.get("functional", False),
        functional_by="functional_by" in declared,
        open_world=declared.get("open_world", True),
        complete=declared.get("complete", False),
        boolean_completeness=declared.get("boolean_completeness", False),
        temporal_conflict=declared.get("temporal_conflict") != "none",
    )


def objects(predicate: str) -> tuple[Any, ...]:
    return {"likes": COLORS + TOOLS, "alive": (True, False)}.get(predicate, ("x", "x", "y", "y", "z"))


def instant(draw: random.Random) -> str:
    return format_instant(FIRST + draw.randint(0, DAYS) * DAY)


# -- writing --------------------------------------------------------------------------------------------


def write(draw: random.Random) -> Memory:
    """A memory of up to thirty commits about one or two Predicates; what a step may not do is refused and left out."""
    nexus = kipql.open()
    nexus.install_packages([_PACKAGE])
    nexus.install_policy(_IMPORTING)
    nexus.install_policy(_WEIGHTED)
    nexus.execute(_SETUP)
    plain = draw.random() < 0.4
    memory = Memory(nexus, draw.sample(("town", "nick") if plain else PREDICATES, draw.choice((1, 1, 2))))
    claimed = 0
    for _ in range(draw.choice((6, 12, 20, 30))):
        step = draw.random()
        try:
            if step < 0.75 or not claimed:
                _assert(nexus, draw, draw.choice(memory.predicates), claimed, plain)
                claimed += 1
            elif step > 0.95:
                actor, weight = draw.choice(("C-3", "C-4")), draw.choice((0.0, 0.3, 0.6, 1.0))
                nexus.govern.trust.set(actor, weight)
                memory.trust.append((nexus.space_seq, actor, weight))
            else:
                nexus.execute(_step(draw, claimed, plain))
        except KipError as refused:
            if refused.code not in _REFUSALS:
                raise
    return memory


_REFUSALS = ("SupersessionMismatch", "InvalidLifecycleTransition", "ConstraintViolation", "IdentityMergeConflict")


def _assert(nexus: kipql.Nexus, draw: random.Random, predicate: str, claimed: int, plain: bool) -> None:
    """One ASSERT. A plain memory has what most memories have: testimony, exact dates, no contexts."""
    members: dict[str, Any] = {
        "by": draw.choice(ACTORS),
        "mode": draw.choice(("stated",) * 5 + ("observed",) + (() if plain else ("inferred", "predicted", "imported"))),
        "stance": draw.choice(("support",) * 8 + ("reject", "uncertain")),
        "at": instant(draw),
    }
    if draw.random() < 0.5:
        members["confidence"] = draw.choice((0.2, 0.5, 0.9))
    if draw.random() < 0.4:
        members["evidence"] = draw.sample(EVIDENCE, 1 if plain else draw.choice((1, 1, 2)))
    if draw.random() < (0.05 if plain else 0.3):
        members["context"] = draw.sample(CONTEXTS, draw.choice((1, 1, 2)))
    valid = {name: bound for name in ("from", "until") if (bound := _bound(draw, name, plain)) is not None}
    if valid:
        members["valid"] = valid
    superseding = f' SUPERSEDING "A-{draw.randint(1, claimed)}"' if claimed and draw.random() < 0.1 else ""
    parameters = {"s": draw.choice(SUBJECTS), "o": draw.choice(objects(predicate)), **members}
    if predicate == "likes":
        parameters["o"] = {"id": parameters["o"]}
    body = ", ".join(f"{name}: :{name}" for name in members)
    nexus.execute(f'ASSERT (:s, "{predicate}", :o) {{{body}}}{superseding}', parameters)


def _bound(draw: random.Random, name: str, plain: bool) -> Any:
    if draw.random() < (0.4 if name == "from" else 0.85):
        return None
    one, other = sorted((instant(draw), instant(draw)))
    ranges = ({"earliest": one, "latest": other}, {"earliest": one}, {"latest": other})
    return one if plain else draw.choice((one, one, *ranges))


def _step(draw: random.Random, claimed: int, plain: bool) -> str:
    one = f'"A-{draw.randint(1, claimed)}"'
    source, target = draw.choice(MERGES)
    if plain:
        return f'TRANSITION {one} TO "retracted"'
    return draw.choice(
        (
            f'TRANSITION {one} TO "retracted"',
            f'TRANSITION {one} TO "archived"',
            f'MERGE CONCEPT "{source}" INTO "{target}"',
            f"""MUTATE {{ CREATE EVIDENCE ?new {{SET FIELDS {{evidence_class: "message", payload: "corrected"}}}}
                TRANSITION "{draw.choice(EVIDENCE)}" TO "corrected" BY ?new }}""",
        )
    )


# -- reading, raw ---------------------------------------------------------------------------------------


class Raw:
    """The elements of a memory at a sequence, by id, and the trust in force there."""

    def __init__(self, memory: Memory, seq: int) -> None:
        def read(pattern: str, item: str) -> dict[str, dict[str, Any]]:
            rows = memory.nexus.query(f"FIND({item}) WHERE {{ {pattern} }} AS OF SEQ :seq", {"seq": seq}).rows
            return {element["id"]: element for element in rows}

        self.concepts = read("?c CONCEPT {state: ?state}", "?c")
        self.propositions: dict[str, dict[str, Any]] = {}
        for predicate in memory.predicates:
            self.propositions |= read(f'?p PROPOSITION (?s, "{predicate}", ?o)', "?p")
        self.evidence = read("?e EVIDENCE {}", "?e")
        self.assertions = read("?a ASSERTION {}", "?a")
        self.trust: dict[Hashable, float] = {actor: weight for since, actor, weight in memory.trust if since <= seq}

    def canonical(self, term: Any) -> Any:
        if isinstance(term, dict):
            term = term["id"]
        while term in self.concepts and self.concepts[term]["merged_into"] is not None:
            term = self.concepts[term]["merged_into"]
        return term

    def candidates(self, subject: str, predicate: str, also: Any = None) -> list[Candidate]:
        """The candidates of a slot, `also` among them if it was never stored."""
        by_object: dict[Any, list[str]] = {} if also is None else {self.canonical(also): []}
        for proposition_id, one in sorted(self.propositions.items(), key=lambda item: int(item[0][2:])):
            named = one["predicate_ref"].rsplit("/", 1)[1]
            if named == predicate and self.canonical(one["subject"]) == self.canonical(subject):
                by_object.setdefault(self.canonical(one["object"]), []).append(proposition_id)
        return [
            Candidate(
                ids[0] if ids else None,
                value,
                tuple(self.claim(a) for a in self.assertions.values() if a["proposition"]["id"] in ids),
                self.concepts[value]["schema_ref"] if value in self.concepts else None,
                value if isinstance(value, bool) else None,
            )
            for value, ids in by_object.items()
        ]

    def claim(self, one: dict[str, Any]) -> Claim:
        cited = [edge["id"] for edge in one["evidence"]]
        actor = self.canonical(one["asserted_by"])
        return Claim(
            one["id"],
            actor,
            one["stance"],
            one["mode"],
            parse_instant(one["asserted_at"]),
            one["confidence"],
            parse_interval({name: bound for name, bound in one["valid_time"].items() if bound is not None}),
            frozenset(map(self.canonical, one["context_refs"])),
            one["lifecycle"]["status"],
            roots=frozenset(root for each in cited for root in self.roots(each)) if cited else None,
            dependency="unverifiable" if one["mode"] == "inferred" else "current",
        )

    def roots(self, evidence: str) -> set[str]:
        """Evidence made from other Evidence stands for that one; corrected Evidence stands for nothing (§22.4, §23)."""
        one = self.evidence[evidence]
        if one["lifecycle"]["status"] == "corrected":
            return set()
        sources = [edge["id"] for edge in one["source"] if edge["id"] in self.evidence]
        return {root for source in sources for root in self.roots(source)} if sources else {evidence}
