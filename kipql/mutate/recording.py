"""Recording repair: the source is right, what was recorded from it is not (§57.8).

The wrong extraction is invalidated, never rewritten and never written as its actor's withdrawal; a terminal
`recording_repair` Activity says which, from which source, and what replaces it. Projection leaves it out from this
commit on, and what was derived from it needs review.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import parse
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    ENGINE,
    Activity,
    Assertion,
    Evidence,
    element_id,
    kind_of,
    parse_id,
)
from kipql.mutate import references
from kipql.mutate.context import WriteContext, unplaced
from kipql.schema.contracts import Contract
from kipql.spans import NOWHERE
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store import Transaction, View

_SHAPE = Contract({"$ref": "urn:kip:2.0:schema:cognitive-records#/$defs/RecordingRepair"})
_FACET = "kip://profiles/cognitive-memory/RecordingRepair"


def repair(tx: "Transaction", write: WriteContext, given: Mapping[str, Json]) -> dict[str, Json]:
    """Invalidate extractions of one source, and answer `{repair_ref, invalidated_refs, replacement_refs}`.

    given   a RecordingRepair; its replacements exist already, in this transaction or before it

    Raises ConstraintViolation for another shape, a locator that names nothing, an extraction or replacement that does
    not rest on the source or that speaks for another actor or context; NotFoundOrNotVisible, DigestMismatch,
    VersionConflict; NotAuthorized for what another recorder wrote.
    """
    _SHAPE.check(given, "a RecordingRepair")
    source = _source(tx.base, given)
    wrong = [_wrong(tx, write, ref, source, given["expected_versions"]) for ref in given["invalidated_refs"]]
    right = [_right(tx.view, ref, source, wrong, given["reason"]) for ref in given["replacement_refs"]]
    activity = _activity(tx, write, given, [source, *wrong], right)
    for code in wrong:
        tx.put(code, replace(tx.view.record(code), repaired_by=activity))
        write.touched.setdefault(code, NOWHERE)
    done = {
        "repair_ref": element_id(activity),
        "invalidated_refs": [element_id(code) for code in wrong],
        "replacement_refs": [element_id(code) for code in right],
    }
    tx.control("recording", done)
    return done


# --- what is checked ----------------------------------------------------------------------------------


def _source(view: "View", given: Mapping[str, Json]) -> int:
    code = _found(view, given["source_ref"])
    record = view.record(code)
    if not isinstance(record, Evidence):
        raise KipError("ConstraintViolation", f"source_ref must be Evidence, not {element_id(code)}")
    if record.content_digest != given["source_digest"]:
        raise KipError(
            "DigestMismatch",
            f"{element_id(code)} has the digest {record.content_digest}, not {given['source_digest']}",
            details={"found": record.content_digest},
        )
    _check_locator(record, given["source_locator"])
    return code


def _check_locator(source: Evidence, locator: str) -> None:
    """A byte range or a JSON Pointer must lie in a payload that is still here; another selector is taken as it is."""
    payload = source.payload if isinstance(source.payload, Mapping) else {}
    inline = payload.get("inline")
    if inline is None:
        return
    if locator.startswith("bytes:") and isinstance(inline, str):
        first, dash, last = locator.removeprefix("bytes:").partition("-")
        whole = first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal() and dash
        if not whole or not int(first) < int(last) <= len(inline.encode()):
            raise KipError("ConstraintViolation", f"{locator!r} is no range of bytes of the source")
    elif locator.removeprefix("#").startswith("/") and not isinstance(inline, str) and not _points(inline, locator):
        raise KipError("ConstraintViolation", f"{locator!r} points at nothing in the source")


def _points(value: Json, pointer: str) -> bool:
    for token in pointer.removeprefix("#").split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


def _wrong(tx: "Transaction", write: WriteContext, ref: str, source: int, versions: Mapping[str, int]) -> int:
    """An extraction to invalidate: the recorder's own, from this source, in the version that was looked at."""
    code = _found(tx.base, ref)
    record = tx.base.record(code)
    if kind_of(code) not in (ASSERTION, CONCEPT):
        raise KipError(
            "ConstraintViolation", f"{ref} is no extraction", hint="Evidence is corrected, not repaired (§57.2)"
        )
    if record.origin.principal_id != write.principal and write.principal != ENGINE.principal_id:
        raise KipError(
            "NotAuthorized",
            f"{ref} was recorded by another Principal",
            hint="a recorder repairs its own recordings; the owner repairs any (§57.8)",
            details={"permission": "repair_recording"},
        )
    if versions.get(ref) != record.version:
        raise KipError(
            "VersionConflict",
            f"{ref} is at version {record.version}, not {versions.get(ref)}",
            details={"expected": versions.get(ref), "found": record.version},
        )
    if record.repaired_by is not None:
        raise KipError("ConstraintViolation", f"{ref} was invalidated by {element_id(record.repaired_by)} before")
    if not _rests_on(tx.base, code, source):
        raise KipError("ConstraintViolation", f"{ref} does not rest on {element_id(source)}")
    return code


def _right(view: "View", ref: str, source: int, wrong: list[int], reason: str) -> int:
    """A replacement: a claim from the same source, of the same actor and context unless those were what was wrong."""
    code = _found(view, ref)
    record = view.record(code)
    if not isinstance(record, Assertion) or code in wrong:
        raise KipError("ConstraintViolation", f"{ref} can replace nothing: it is no other Assertion")
    if not _rests_on(view, code, source):
        raise KipError("ConstraintViolation", f"the replacement {ref} does not cite {element_id(source)}")
    claims = [claim for each in wrong if isinstance(claim := view.record(each), Assertion)]
    if reason == "extraction_error" and claims:
        actors = {view.canonical(claim.asserted_by) for claim in claims}
        contexts = {_context(view, claim) for claim in claims}
        if view.canonical(record.asserted_by) not in actors or _context(view, record) not in contexts:
            raise KipError(
                "ConstraintViolation",
                f"the replacement {ref} speaks for another actor or context",
                hint='a wrong actor is an "attribution_error"',
            )
    return code


def _context(view: "View", claim: Assertion) -> frozenset[int]:
    return frozenset(view.canonical(code) for code in claim.context)


def _rests_on(view: "View", code: int, source: int) -> bool:
    """Whether an element cites the source, or an Activity that read it put the element out."""
    record = view.record(code)
    if isinstance(record, Assertion) and any(edge.target == source for edge in record.evidence):
        return True
    producers = [view.record(producer) for producer in view.referrers(code, "outputs")]
    read = (edge.target for each in producers if isinstance(each, Activity) for edge in each.inputs)
    return source in read


def _found(view: "View", ref: str) -> int:
    code = references.lookup(view, ref)
    if code is None:
        raise KipError("NotFoundOrNotVisible", f"{ref} is not there or not visible")
    return code


# --- the record ---------------------------------------------------------------------------------------


def _activity(
    tx: "Transaction", write: WriteContext, given: Mapping[str, Json], read: list[int], made: list[int]
) -> int:
    """The terminal Activity of the repair, written as any other."""
    from kipql.mutate.run import run

    parameters: dict[str, Any] = {"facet": _FACET, **given}
    edges = [("inputs", code) for code in read] + [("outputs", code) for code in made]
    lines = []
    for number, (field, code) in enumerate(edges):
        parameters[f"end{number}"] = element_id(code)
        lines.append(f'("{field}", :end{number})')
    members = ", ".join(f"{name}: :{name}" for name in given)
    statement = parse(
        'CREATE ACTIVITY ?repair { SET FIELDS {activity_class: "recording_repair", status: "completed"} '
        f"SET FACET :facet {{{members}}} SET STRUCTURAL {{{' '.join(lines)}}} }}"
    )
    try:
        outcome = run(statement, tx, parameters, write)  # type: ignore[arg-type]  # a CREATE is KML
    except KipError as error:
        error.span = None
        raise unplaced(error) from None
    made_code = parse_id(outcome.handles["repair"])
    assert made_code is not None and kind_of(made_code) == ACTIVITY
    return made_code
