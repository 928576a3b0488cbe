"""Final-state validation of one record (specification §9-§20, §53.1).

Each check takes the record as the transaction leaves it and as it was before (None when it is new), and raises
the first breach it finds. Values that the model stores parsed (times, intervals) were checked when parsed. A
purged stub carries nothing that could be checked.
"""

from typing import Any, NoReturn

from kipql.errors import KipError
from kipql.model import (
    A_KIND,
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Proposition,
    element_id,
    kind_of,
)
from kipql.schema import core
from kipql.schema.elements import Elements, check_element, check_literal
from kipql.schema.environment import Environment
from kipql.schema.facets import check_facets
from kipql.schema.fields import check_shape
from kipql.schema.structural import check_structural
from kipql.values import json_type


def check(env: Environment, new: AnyRecord, old: AnyRecord | None, elements: Elements) -> None:
    """The check of the record's own kind."""
    _CHECKS[type(new)](env, new, old, elements)


def check_concept(env: Environment, new: Concept, old: Concept | None, elements: Elements) -> None:
    """Type, identity fields, attributes, Facets and Structural Fields (§10)."""
    if new.state == "purged":
        return
    definition = env.concept_type(new.schema)
    if old is None:
        env.write_version(definition)
    elif new.schema != old.schema or new.key != old.key:
        _immutable("key" if new.schema == old.schema else "schema_ref", "Concept")
    if old is None or new.key is not old.key or new.name is not old.name or new.aliases is not old.aliases:
        _check_identity(new)
    before = old.attributes if old is not None else None
    check_shape(definition.shape, new.attributes, before, elements, definition.local_name)
    check_facets(env, CONCEPT, new, old, elements)
    check_structural(env, CONCEPT, new, old, elements)


def _check_identity(concept: Concept) -> None:
    _text(concept.key, "key", empty=False)
    _text(concept.name, "name")
    _text(concept.canonical_id, "canonical_id", empty=False)
    for alias in concept.aliases:
        _text(alias, "an alias", empty=False)
        if alias is None:
            raise KipError("TypeMismatch", "an alias must be a string, not null")


def check_proposition(env: Environment, new: Proposition, old: Proposition | None, elements: Elements) -> None:
    """The ends against the Predicate's declarations (§12, §20.15)."""
    if new.state == "purged":
        return
    if old is None:
        predicate = env.predicate(new.predicate)
        env.write_version(predicate)
        if new.subject < 0:
            _check_subject(new, elements)
        else:
            check_element(predicate.subject, new.subject, elements, f"the subject of {predicate.local_name}")
        if new.object < 0:
            value, what = elements.literal(new.object), f"the object of {predicate.local_name}"
            check_literal(predicate.object, value, what)
            if predicate.value_schema is not None and not isinstance(value, dict):
                predicate.value_schema.check(value, what)
        else:
            check_element(predicate.object, new.object, elements, f"the object of {predicate.local_name}")
    elif (new.subject, new.predicate, new.object) != (old.subject, old.predicate, old.object):
        _immutable("tuple", "Proposition")
    _check_extensions(env, PROPOSITION, new, old, elements)


def _check_subject(new: Proposition, elements: Elements) -> None:
    """A subject is never a Literal (§8.4); a reference that this Space can not resolve is unknown, not wrong."""
    if not isinstance(elements.literal(new.subject), dict):
        raise KipError("ConstraintViolation", "the subject of a Proposition can not be a Literal")


_ASSERTED = (
    "proposition",
    "asserted_by",
    "stance",
    "mode",
    "confidence",
    "asserted_at",
    "valid",
    "evidence",
    "context",
)


def check_assertion(env: Environment, new: Assertion, old: Assertion | None, elements: Elements) -> None:
    """The epistemic payload (§13); it never changes after creation (§13.7)."""
    if new.state == "purged":
        return
    if old is None:
        _check_commitment(new, elements)
    elif any(getattr(new, name) != getattr(old, name) for name in _ASSERTED):
        raise KipError(
            "EpistemicRevisionRequired",
            "an Assertion's payload does not change",
            hint="record a new Assertion; SUPERSEDING says that the old one was wrong",
        )
    if new.status not in core.ASSERTION_STATUSES:
        _unregistered("lifecycle status", new.status, core.ASSERTION_STATUSES)
    _check_extensions(env, ASSERTION, new, old, elements)


def _check_commitment(new: Assertion, elements: Elements) -> None:
    if kind_of(new.proposition) != PROPOSITION or new.proposition < 0:
        _wrong_kind("proposition", new.proposition, "a Proposition")
    if kind_of(new.asserted_by) != CONCEPT or new.asserted_by < 0:
        _wrong_kind("asserted_by", new.asserted_by, "a Concept")
    if new.stance not in core.STANCES:
        _unregistered("stance", new.stance, core.STANCES)
    if new.mode not in core.MODES:
        _unregistered("mode", new.mode, core.MODES)
    confidence = new.confidence
    if confidence is not None:
        if isinstance(confidence, bool) or not isinstance(confidence, int | float):
            raise KipError("TypeMismatch", f"confidence must be a number, not {json_type(confidence)}")
        if not 0 <= confidence <= 1:
            raise KipError("ConstraintViolation", f"confidence lies in [0, 1], not {confidence}")
    if new.evidence:
        _check_core(ASSERTION, "evidence", new.evidence, elements)
    for code in new.context:
        if kind_of(code) != CONCEPT or code < 0:
            _wrong_kind("context_refs", code, "a Concept")


_OBSERVED = ("evidence_class", "content_digest", "media_type", "observed_at", "source", "generated_by")


def check_evidence(env: Environment, new: Evidence, old: Evidence | None, elements: Elements) -> None:
    """Class, payload and origin (§15); they never change after creation, but a payload may be purged (§60.6)."""
    if new.state == "purged":
        return
    if old is None:
        _required(new.evidence_class, "evidence_class")
        _text(new.media_type, "media_type", empty=False)
        _text(new.content_digest, "content_digest", empty=False)
        _check_core(EVIDENCE, "source", new.source, elements)
        _check_core(EVIDENCE, "generated_by", new.generated_by, elements)
    elif any(getattr(new, name) != getattr(old, name) for name in _OBSERVED) or (
        new.payload != old.payload and new.payload != {"mode": "purged"}
    ):
        raise KipError(
            "EvidenceCorrectionRequired",
            "Evidence does not change",
            hint='record new Evidence and TRANSITION the old one TO "corrected" BY it',
        )
    if new.status not in core.EVIDENCE_STATUSES:
        _unregistered("lifecycle status", new.status, core.EVIDENCE_STATUSES)
    _check_extensions(env, EVIDENCE, new, old, elements)


_PROVENANCE = (
    "activity_class",
    "started_at",
    "ended_at",
    "parameters_digest",
    "inputs",
    "outputs",
    "associated_actors",
)


def check_activity(env: Environment, new: Activity, old: Activity | None, elements: Elements) -> None:
    """Class, status and provenance (§16); all of it is final once the Activity was terminal (§16.6)."""
    if new.state == "purged":
        return
    _required(new.activity_class, "activity_class")
    if new.status not in core.ACTIVITY_STATUSES:
        _unregistered("Activity status", new.status, core.ACTIVITY_STATUSES)
    if old is not None and old.status in core.TERMINAL_STATUSES:
        if new.status != old.status or any(getattr(new, name) != getattr(old, name) for name in _PROVENANCE):
            raise KipError("ActivityTerminal", f"the Activity is {old.status}: its provenance is final")
    else:
        _text(new.parameters_digest, "parameters_digest", empty=False)
        for name in ("inputs", "outputs", "associated_actors"):
            edges = getattr(new, name)
            if old is None or edges != getattr(old, name):
                _check_core(ACTIVITY, name, edges, elements)
    _check_extensions(env, ACTIVITY, new, old, elements)


def _check_core(kind: int, name: str, edges: tuple[Edge, ...], elements: Elements) -> None:
    """The references of one Core structural field (§20.13)."""
    field = core.CORE_FIELDS[kind, name]
    if field.single and len(edges) > 1:
        raise KipError("ConstraintViolation", f"{name} holds at most one reference")
    for target, role in ((edge.target, edge.role) for edge in edges):
        if target < 0 or kind_of(target) not in field.targets:
            _wrong_kind(name, target, " or ".join(A_KIND[k] for k in sorted(field.targets)))
        if role is not None and not field.cited:
            raise KipError("ConstraintViolation", f"{name} takes no role")
        if role is not None and role not in core.EVIDENCE_ROLES:
            _unregistered("Evidence role", role, core.EVIDENCE_ROLES)
        if not elements.exists(target):
            raise KipError("NotFoundOrNotVisible", f"{name} points to {element_id(target)}, which is not here")


_TOPOLOGY = {
    ASSERTION: ("EpistemicRevisionRequired", "an Assertion"),
    EVIDENCE: ("EvidenceCorrectionRequired", "Evidence"),
    PROPOSITION: ("ImmutableField", "a Proposition"),
}


def _check_extensions(env: Environment, kind: int, new: AnyRecord, old: AnyRecord | None, elements: Elements) -> None:
    """Facets and package-defined structure of a record; the structure of a record is final too (§17.5)."""
    if new.facets or (old is not None and old.facets):
        check_facets(env, kind, new, old, elements)
    if old is not None and new.structural != old.structural:
        if kind in _TOPOLOGY:
            code, whose = _TOPOLOGY[kind]
            raise KipError(code, f"the Structural References of {whose} do not change")
        if isinstance(old, Activity) and old.status in core.TERMINAL_STATUSES:
            raise KipError("ActivityTerminal", f"the Activity is {old.status}: its references are final")
    if new.structural or kind in env.record_demands:
        check_structural(env, kind, new, old, elements)


def _immutable(name: str, kind: str) -> NoReturn:
    raise KipError("ImmutableField", f"the {name} of a {kind} never changes")


def _unregistered(what: str, value: object, registry: frozenset[str]) -> NoReturn:
    if not isinstance(value, str):
        raise KipError("TypeMismatch", f"a {what} must be a string, not {json_type(value)}")
    raise KipError(
        "ConstraintViolation", f"{value!r} is not a {what}", hint=f"it is one of {', '.join(sorted(registry))}"
    )


def _wrong_kind(field: str, code: int, wanted: str) -> NoReturn:
    found = "a Literal" if code < 0 else element_id(code)
    raise KipError("ConstraintViolation", f"{field} must be {wanted}, not {found}")


def _required(value: object, what: str) -> None:
    if value is None:
        raise KipError("ConstraintViolation", f"{what} is required")
    _text(value, what, empty=False)


def _text(value: object, what: str, *, empty: bool = True) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise KipError("TypeMismatch", f"{what} must be a string, not {json_type(value)}")
    if not value and not empty:
        raise KipError("ConstraintViolation", f"{what} can not be empty")


_CHECKS: dict[type, Any] = {
    Concept: check_concept,
    Proposition: check_proposition,
    Assertion: check_assertion,
    Evidence: check_evidence,
    Activity: check_activity,
}
