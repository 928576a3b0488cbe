"""The wire shape of projections (§27.2, §47.3, §21.12): what a BELIEF or BELIEF SLOT variable reads as.

`Names` turns the identities that `core` worked on into ids; nothing here decides anything.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kipql.belief.core import Belief, RootGroup, Side, Slot
from kipql.belief.core.conflicts import Precedence
from kipql.belief.core.ledger import Entry, ledger
from kipql.times import format_bound, format_instant, parse_instant

LEVELS = ("none", "summary", "ledger")


@dataclass(frozen=True, slots=True)
class Names:
    """How identities read on the wire: `id` of an element, `value` of a candidate's object."""

    id: Callable[[Hashable], str]
    value: Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Shown:
    """A projection on its way to the wire.

    basis       of the slot, and of every belief in it
    level       of the explanation
    belief      the candidate it is about; None for the whole slot
    asked       the id of the Proposition that was asked for, when it is not the candidate's first
    subject     of the slot, as it reads
    historical  whether the explanation names what stood once (§49)
    """

    slot: Slot
    basis: Mapping[str, Any]
    names: Names
    level: str
    belief: Belief | None = None
    asked: str | None = None
    subject: object = None
    predicate_ref: str = ""
    historical: bool = False

    @property
    def one(self) -> Belief:
        """The candidate."""
        assert self.belief is not None
        return self.belief


Member = Callable[[Shown], Any]


def _proposition_id(shown: Shown) -> str | None:
    key = shown.one.candidate.key
    return shown.asked or (None if key is None else shown.names.id(key))


def _dependency_validity(shown: Shown) -> dict[str, Any]:
    dependency = shown.one.dependency
    return validity_json(dependency.status, dependency.reasons, shown.basis)


def validity_json(status: str, reasons: tuple[str, ...], basis: Mapping[str, Any]) -> dict[str, Any]:
    """A DependencyValidity: only what is current may be acted on without a review (§57.6)."""
    return {
        "status": status,
        "action_eligible": status == "current",
        "reasons": list(reasons),
        "basis": copied_basis(basis),
    }


BELIEF: Mapping[str, Member] = {
    "status": lambda shown: shown.one.status,
    "candidate_status": lambda shown: shown.one.candidate_status,
    "slot_status": lambda shown: shown.one.slot_status,
    "leading": lambda shown: shown.one.leading,
    "proposition_id": _proposition_id,
    "conflict_refs": lambda shown: _ids(shown.one.conflict_refs, shown.names),
    "conflict_reasons": lambda shown: list(shown.one.conflict_reasons),
    "support": lambda shown: _side(shown.one.support, shown.names),
    "opposition": lambda shown: _side(shown.one.opposition, shown.names),
    "uncertainty": lambda shown: _uncertainty(shown.one.reasons),
    "precedence": lambda shown: _precedence(shown.one.precedence, shown.names),
    "dependency_validity": _dependency_validity,
    "basis": lambda shown: copied_basis(shown.basis),
    "explanation": lambda shown: _explanation(shown, shown.one),
}
"""What a BELIEF variable reads as, member by member (§27.2)."""

SLOT: Mapping[str, Member] = {
    "status": lambda shown: shown.slot.status,
    "subject": lambda shown: shown.subject,
    "predicate_ref": lambda shown: shown.predicate_ref,
    "accepted_values": lambda shown: [shown.names.value(value) for value in shown.slot.accepted_values],
    "candidate_projections": lambda shown: [
        whole(BELIEF, replace(shown, belief=belief)) for belief in shown.slot.beliefs
    ],
    "uncertainty": lambda shown: _uncertainty(shown.slot.reasons),
    "basis": lambda shown: copied_basis(shown.basis),
    "explanation": lambda shown: _explanation(shown, None),
}
"""What a BELIEF SLOT variable reads as, member by member (§47.3)."""


def whole(members: Mapping[str, Member], shown: Shown) -> dict[str, Any]:
    """Every member."""
    return {name: member(shown) for name, member in members.items()}


def copied_basis(basis: Mapping[str, Any]) -> dict[str, Any]:
    """A basis that the caller may keep and change."""
    return {**basis, "policy": dict(basis["policy"]), "context_refs": list(basis["context_refs"])}


def _ids(keys: tuple[Hashable, ...], names: Names) -> list[str]:
    return [names.id(key) for key in keys if key is not None]


def _side(side: Side, names: Names) -> dict[str, Any]:
    return {
        "score": side.score,
        "score_semantics": side.score_semantics,
        "assertion_ids": [names.id(claim.key) for claim in side.claims],
        "root_groups": [_group(group, names) for group in side.groups],
    }


def _group(group: RootGroup, names: Names) -> dict[str, Any]:
    return {
        "actors": [{"id": names.id(actor)} for actor in group.actors],
        "assertion_ids": [names.id(claim) for claim in group.claims],
        "contribution": group.contribution,
        "evidence": [names.id(evidence) for evidence in group.evidence],
    }


def _uncertainty(reasons: tuple[str, ...]) -> dict[str, Any]:
    # The level stays null: no shipped policy grades uncertainty (§21.10), the reasons say what it is.
    return {"level": None, "reasons": list(reasons)}


def _precedence(precedence: Precedence | None, names: Names) -> dict[str, Any] | None:
    if precedence is None:
        return None
    by = precedence.outranked_by
    return {
        "rule": precedence.rule,
        "prevailed_over": _ids(precedence.prevailed_over, names),
        "outranked_by": None if by is None else names.id(by),
    }


def _explanation(shown: Shown, belief: Belief | None) -> dict[str, Any] | None:
    """Null at level none; counts at summary; every Assertion at ledger (§49.1).

    `historical` is there when it was asked for, at every level: the Assertions that stood once, and decide nothing.
    """
    slot, level, names = shown.slot, shown.level, shown.names
    if level == "none" and not shown.historical:
        return None
    entries = ledger(slot, parse_instant(shown.basis["valid_at"]))
    if belief is not None and not belief.conflict_refs and belief.precedence is None:
        entries = tuple(entry for entry in entries if slot.bears_on(entry.candidate, belief))
    found: dict[str, Any] = {"level": level}
    if level != "none":
        found |= {
            "considered": len(entries),
            "counted": sum(entry.counts for entry in entries),
            "verdicts": dict(sorted(Counter(entry.verdict for entry in entries).items())),
            "rule": next((one.precedence.rule for one in slot.beliefs if one.precedence is not None), None),
        }
    if level == "ledger":
        found["entries"] = [_entry(entry, names) for entry in entries]
    if shown.historical:
        found["historical"] = [_entry(entry, names) for entry in entries if entry.historical]
    return found


def _entry(entry: Entry, names: Names) -> dict[str, Any]:
    claim, effective = entry.claim, entry.effective
    return {
        "assertion_id": names.id(claim.key),
        "proposition_id": None if entry.candidate.key is None else names.id(entry.candidate.key),
        "value": names.value(entry.candidate.value),
        "actor": {"id": names.id(claim.actor)},
        "stance": claim.stance,
        "mode": claim.mode,
        "confidence": claim.confidence,
        "asserted_at": format_instant(claim.asserted_at),
        "counts": entry.counts,
        "verdict": entry.verdict,
        "valid_time": {"from": format_bound(claim.valid.start), "until": format_bound(claim.valid.end)},
        "effective_time": None
        if effective is None
        else {"from": format_bound(effective.start), "until": format_bound(effective.end)},
        "ended_by": None
        if effective is None or effective.line is None
        else {"line": effective.line, "assertion_ids": [names.id(key) for key in effective.cut_by]},
        "revised_by": _ids(claim.revised_by, names),
        "root_group": entry.root_group,
        "precedence": _precedence(entry.precedence, names),
        "dependency": claim.dependency,
        "dependency_reasons": list(claim.reasons),
    }
