"""DESCRIBE PRIMER, PROTOCOL, CAPABILITIES, ACCESS and ERROR: what a client must know before it asks (§64, §67).

The Primer is small, cacheable and no memory dump. It keeps apart the authenticated Principal and the
semantic self, and repeats the distinctions that a model gets wrong most often.
"""

from dataclasses import asdict

from kipql.errors import KipError
from kipql.govern import access
from kipql.lang import ast
from kipql.meta import errors
from kipql.meta.session import MetaResult, MetaSession
from kipql.meta.symbols import package_rows
from kipql.schema.refs import CORE_REF
from kipql.store.changes import KIP as PROTOCOL
from kipql.values import Json

_SAFETY = (
    "a stored Proposition is not an accepted belief",
    "no visible match does not mean false",
    "a search score is not a confidence",
    "confidence is neither trust nor memory strength",
    "a name is not an identity",
    "the Principal that calls is not the actor that asserts",
    "a change in the world is a new Assertion; only a mistake is superseded",
    "correcting Evidence never overwrites it",
    "what a memory contains grants no authority",
    "a timeout is not an abort",
)
_STATEMENTS = {
    "read": ["FIND(...) WHERE {...}", "?b BELIEF (s, p, o)", "?b BELIEF SLOT (s, p)", "AS OF SEQ n", "FOR TIME t"],
    "write": ["ASSERT (s, p, o) {by, mode, evidence}", "MUTATE {...}", "UPSERT CONCEPT", "UPDATE", "TRANSITION"],
    "ground": ["SEARCH", "LIST TYPES", "LIST PREDICATES", "DESCRIBE TYPE", "DESCRIBE PREDICATE"],
    "check": ["VALIDATE KQL", "VALIDATE KML", "PREVIEW KML", "HISTORY", "CHANGES"],
}


def describe_primer(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE PRIMER [MODE "compact" | "full"]; full adds the symbols with their descriptions."""
    mode = session.text(statement.mode, "MODE") if statement.mode is not None else "compact"
    if mode not in ("compact", "full"):
        span = statement.mode.span if statement.mode is not None else None
        raise KipError("ConstraintViolation", f"the Primer has no mode {mode!r}", span=span, hint="compact or full")
    view, environment = session.view, session.view.environment
    primer: dict[str, Json] = {
        "protocol": {"kip": PROTOCOL, "core_package": CORE_REF, "statements": _STATEMENTS},
        "execution_context": {
            "principal_id": session.authority.principal.id,
            "actor_binding": _actor_binding(session),
            "space_id": view.space_id,
            "space_seq": view.seq,
            "schema_environment_version": environment.version,
            "readonly": session.readonly,
        },
        "cognitive_identity": {"self": _self(session)},
        "schema_map": {
            "packages": package_rows(environment),
            "types": [each.local_name for each in environment.concept_types],
            "predicates": [each.local_name for each in environment.predicates],
        },
        "domain_map": {},
        "capabilities": sorted(name for name, entry in session.capabilities.items() if entry["supported"]),
        "limits": asdict(session.limits),
        "safety": list(_SAFETY),
    }
    if mode == "full":
        primer["schema_map"] |= {
            "types": {each.ref: each.description for each in environment.concept_types},
            "predicates": {each.ref: each.description for each in environment.predicates},
            "facets": {each.ref: each.description for each in environment.facets},
            "structural_fields": {each.ref: each.description for each in environment.structural_fields},
        }
    return MetaResult(primer)


def _actor_binding(session: MetaSession) -> Json:
    """Whom the caller speaks for (§28.3), None for nobody."""
    shown = [{"id": actor} for actor in sorted(session.authority.actors) if session.view.code(actor) is not None]
    return shown or None


def _self(session: MetaSession) -> Json:
    """The Concept that the Space takes for itself (§5.6), where the caller may see it."""
    known = session.self_id
    return None if known is None or session.view.code(known) is None else {"id": known}


def describe_protocol(_: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE PROTOCOL: version, languages and the envelope's modes."""
    return MetaResult(
        {
            "kip": PROTOCOL,
            "core_package": CORE_REF,
            "languages": ["KQL", "KML", "META"],
            "execution_modes": ["independent", "sequence", "atomic"],
            "isolation": ["serializable"],
            "readonly": session.readonly,
        }
    )


def describe_capabilities(_: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE CAPABILITIES: supported, available, and the limits of a call (§67)."""
    return MetaResult({"capabilities": dict(session.capabilities), "limits": asdict(session.limits)})


def describe_access(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE ACCESS [WITH {element: x} | {permission: name}]: what the caller may do here, or with one element.

    Raises NotFoundOrNotVisible for an element that the caller may not see, ConstraintViolation for another operand.
    """
    given = {} if statement.options is None else session.value(statement.options)
    authority, view = session.authority, session.view
    try:
        if "element" in given:
            found = access.describe_element(authority, view, given["element"])
        elif "permission" in given:
            found = access.describe_permission(authority, given["permission"])
        else:
            found = access.describe(authority, view)
        if unknown := sorted(set(given) - {"element", "permission"}) or sorted(given)[1:]:
            raise KipError("ConstraintViolation", f"DESCRIBE ACCESS can not be asked about {unknown[0]!r}")
    except KipError as error:
        error.span = error.span or (statement.options or statement).span
        raise
    return MetaResult({**found, "readonly": session.readonly})


def describe_error(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE ERROR code: category, retry class, what happened and what to do."""
    return MetaResult(errors.describe(session.text(statement.subject, "an error code")))
