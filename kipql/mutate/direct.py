"""ASSERT without a plan: the short way for the everyday write, with the same result.

It takes the statement in which every value is a parameter or a literal and nothing is superseded, resolves, checks and
writes. Whatever is unusual or wrong (a retry under a key, an endpoint that is not there, a bad timestamp) makes it
answer None with nothing written: the plan then decides, and reports with a position.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import (
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Assertion,
    Edge,
    Proposition,
    element_code,
    element_id,
)
from kipql.mutate import digests
from kipql.mutate.assertion import FIELD_OF, MEMBERS
from kipql.mutate.claims import MISSING, PLAIN, Unusual, claims_of
from kipql.mutate.context import Outcome, WriteContext
from kipql.mutate.draft import Assigned, Draft, Placement
from kipql.mutate.final import Final
from kipql.mutate.references import lookup
from kipql.schema import rules
from kipql.schema.definitions import PredicateType
from kipql.spans import NOWHERE
from kipql.times import parse_instant, parse_interval
from kipql.values import Json, canonical_literal

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.store import Transaction, View

Value: TypeAlias = Callable[[Mapping[str, Json]], Any]


class Shape(NamedTuple):
    """An ASSERT taken apart once: how to get each of its values from the parameters."""

    subject: Value
    predicate: Value
    object: Value
    members: tuple[tuple[str, Value], ...]
    handle: str | None
    plain: bool  # whether `Claims` takes its members

    def said(self, parameters: Mapping[str, Json]) -> tuple[Any, Any, Any, Any, dict[str, Any], Any]:
        """What `Claims.write` takes of it."""
        said = {name: value(parameters) for name, value in self.members}
        ends = self.subject(parameters), self.predicate(parameters), self.object(parameters)
        return *ends, said["by"], said, said.get("evidence", MISSING)


class Claim(NamedTuple):
    """The values of one ASSERT, before any is resolved. `members` are as ASSERT names them."""

    subject: Any
    predicate: Any
    object: Any
    members: Mapping[str, Any]


def assert_(statement: ast.Assert, tx: "Transaction", parameters: Mapping[str, Json]) -> Outcome | None:
    """Write one plain ASSERT, or answer None having written nothing."""
    shape = shape_of(statement)
    if shape is None:
        return None
    try:
        claim = Claim(
            shape.subject(parameters),
            shape.predicate(parameters),
            shape.object(parameters),
            {name: value(parameters) for name, value in shape.members},
        )
    except KeyError:
        return None
    code = attempt(claim, tx)
    if code is None:
        return None
    return Outcome({} if shape.handle is None else {shape.handle: element_id(code)})


def mutate(
    statement: ast.Mutate, tx: "Transaction", parameters: Mapping[str, Json], write: WriteContext
) -> Outcome | None:
    """Write a MUTATE of plain ASSERTs without handles among them, or answer None having written nothing.

    They refer to what was there before, so one after the other is the same as all at once (§53); a tuple that two of
    them name becomes one Proposition.
    """
    shapes = _shapes_of(statement)
    if shapes is None:
        return None
    handles = [shape.handle for shape in shapes if shape.handle is not None]
    if len(set(handles)) < len(handles):
        return None
    view, mark, known, rows = tx.view, tx.savepoint(), dict[str, int](), []
    claims = claims_of(view.graph, view.schema_entry)
    tx.touch()
    write.budget.spend(len(shapes))
    try:
        for shape in shapes:
            rows.append(claims.write(view, tx.at, *shape.said(parameters), known))  # noqa: PERF401
    except (Unusual, KipError, KeyError):
        tx.restore(mark)
        return None
    return Outcome(
        {shape.handle: f"A-{row + 1}" for shape, row in zip(shapes, rows, strict=True) if shape.handle is not None}
    )


def attempt(claim: Claim, tx: "Transaction") -> int | None:
    """The code of the Assertion that a claim makes; None when the plan must look at it, with nothing written."""
    if PLAIN.issuperset(claim.members):
        view = tx.view
        tx.touch()
        try:
            said = claim.members
            claims, evidence = claims_of(view.graph, view.schema_entry), said.get("evidence", MISSING)
            row = claims.write(
                view, tx.at, claim.subject, claim.predicate, claim.object, said.get("by"), said, evidence
            )
            return element_code(ASSERTION, row)
        except (Unusual, KipError):
            pass
    try:
        return _claimed(claim, tx)
    except (Unusual, KipError):
        return None


def _claimed(claim: Claim, tx: "Transaction") -> int:
    """Resolve, check, then write: when anything is raised, nothing was written."""
    view = tx.view
    environment = view.environment
    predicate = environment.write_version(environment.predicate(claim.predicate))
    subject = _element(view, claim.subject)
    term = _term(view, predicate, claim.object)
    proposition = None if term is None else _stored(view, subject, predicate, term)
    record, key = _assertion(view, tx.at, claim.members)
    code = element_code(PROPOSITION, view.rows(PROPOSITION).stop) if proposition is None else proposition
    made = Assertion(proposition=code, client_key=key, **record)
    elements = Final(view)
    rules.check_assertion(environment, made, None, elements)
    if proposition is None:
        _propose(tx, environment, elements, predicate, subject, term, claim.object)
    written = tx.create(made)
    if key is not None:
        tx.remember(ASSERTION, key, _fingerprint(made, claim.members), written)
    return written


# --- the statement ------------------------------------------------------------------------------------

_shapes: dict[int, tuple[ast.Assert, Shape | None]] = {}
_SHAPES_MOST = 512


def shape_of(statement: ast.Assert) -> Shape | None:
    known = _shapes.get(id(statement))
    if known is not None and known[0] is statement:
        return known[1]
    try:
        shape = _taken_apart(statement)
    except Unusual:
        shape = None
    if len(_shapes) >= _SHAPES_MOST:
        _shapes.clear()
    _shapes[id(statement)] = (statement, shape)
    return shape


_blocks: dict[int, tuple[ast.Mutate, list[Shape] | None]] = {}
_BLOCKS_MOST = 16


def _shapes_of(statement: ast.Mutate) -> list[Shape] | None:
    """The shapes of a MUTATE of plain ASSERTs, None for any other."""
    known = _blocks.get(id(statement))
    if known is not None and known[0] is statement:
        return known[1]
    shapes: list[Shape] | None = []
    try:
        for clause in statement.statements:
            shape = _taken_apart(clause) if type(clause) is ast.Assert else None
            if shape is None or not shape.plain:
                raise Unusual
            shapes.append(shape)  # type: ignore[union-attr]
    except Unusual:
        shapes = None
    if len(_blocks) >= _BLOCKS_MOST:
        _blocks.clear()
    _blocks[id(statement)] = (statement, shapes)
    return shapes


def _taken_apart(statement: ast.Assert) -> Shape:
    target, members = statement.target, statement.members.members
    names = {member.name for member in members}
    if statement.superseding is not None or not isinstance(target, ast.Tuple):
        raise Unusual
    if not names <= set(MEMBERS) or not {"by", "mode"} <= names:
        raise Unusual
    return Shape(
        _value(target.subject),
        _value(target.predicate),
        _value(target.object),
        tuple((member.name, _value(member.value)) for member in members),
        None if statement.handle is None else statement.handle.name,
        PLAIN.issuperset(names),
    )


def _value(node: ast.Node) -> Value:
    match node:
        case ast.Param(name=name):
            return lambda parameters: parameters[name]
        case ast.Literal(value=value):
            return lambda parameters: value
        case ast.Array(items=items):
            parts = tuple(_value(item) for item in items)
            return lambda parameters: [part(parameters) for part in parts]
        case ast.Object(members=members):
            pairs = tuple((member.name, _value(member.value)) for member in members)
            return lambda parameters: {name: part(parameters) for name, part in pairs}
        case _:
            raise Unusual


# --- its parts ----------------------------------------------------------------------------------------


def _element(view: "View", value: Any) -> int:
    """The element that a reference names."""
    code = lookup(view, value)
    if code is None:
        raise Unusual
    return _unmerged(view, code)


def _unmerged(view: "View", code: int) -> int:
    """A reference that a merge redirects is kept as it was given (§11.3), which the plan does."""
    if view.has_merges and view.canonical(code) != code:
        raise Unusual
    return code


def _of_kind(view: "View", value: Any, kind: int) -> int:
    code = _element(view, value)
    if code & 7 != kind:
        raise Unusual
    return code


def _term(view: "View", predicate: PredicateType, value: Any) -> int | None:
    """The term in object position; None for a Literal that no Proposition holds yet."""
    if value.__class__ is dict:
        return _element(view, value)
    if value.__class__ is str and predicate.object.admits_elements:
        code = lookup(view, value)
        if code is not None:
            return _unmerged(view, code)
    return view.literal_code(value)


def _stored(view: "View", subject: int, predicate: PredicateType, term: int) -> int | None:
    lineage = view.lineage_number(predicate.lineage)
    row = None if lineage is None else view.tuple_row(subject, lineage, term)
    if row is None:
        return None
    code = element_code(PROPOSITION, row)
    if view.state(code) != "active":
        raise Unusual
    return code


def _propose(
    tx: "Transaction",
    environment: "Environment",
    elements: Final,
    predicate: PredicateType,
    subject: int,
    term: int | None,
    value: Any,
) -> None:
    """Create the Proposition of a tuple that is not stored."""
    mark = tx.savepoint() if term is None else None
    term = tx.literal(canonical_literal(value)) if term is None else term
    made = Proposition(subject=subject, predicate=predicate.ref, object=term)
    try:
        rules.check_proposition(environment, made, None, elements)
    except KipError:
        if mark is not None:
            tx.restore(mark)
        raise
    tx.create(made)


def _assertion(view: "View", at: int, members: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The fields of the record beside its Proposition, and its client key."""
    record: dict[str, Any] = {"stance": "support", "asserted_at": at}
    key: str | None = None
    for name, value in members.items():
        if name == "by":
            record["asserted_by"] = _of_kind(view, value, CONCEPT)
        elif name == "at":
            record["asserted_at"] = parse_instant(value)
        elif name == "valid":
            record["valid"] = parse_interval(value)
        elif name == "evidence":
            record["evidence"] = _citations(view, value)
        elif name == "context":
            record["context"] = _context(view, value)
        elif name == "key":
            if not isinstance(value, str) or not value or view.client_key(ASSERTION, value) is not None:
                raise Unusual
            key = value
        elif name != "confidence" and not isinstance(value, str):
            raise Unusual
        else:  # mode, stance, confidence: the rules look at them
            record[name] = value
    if "asserted_by" not in record or "mode" not in record:
        raise Unusual
    return record, key


def _citations(view: "View", value: Any) -> tuple[Edge, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(Edge(code, "support") for code in dict.fromkeys(_of_kind(view, item, EVIDENCE) for item in items))


def _context(view: "View", value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise Unusual
    return tuple(sorted({_of_kind(view, item, CONCEPT) for item in value}))


def _fingerprint(made: Assertion, members: Mapping[str, Any]) -> str:
    """What the plan's Draft for the same statement would give."""
    said = Draft(ASSERTION, None, None, NOWHERE)
    paths: dict[Any, Any] = {("fields", "proposition"): made.proposition, ("fields", "stance"): made.stance}
    for name in members:
        if name not in ("key", "evidence", "context"):
            field = FIELD_OF[name]
            paths["fields", field] = made.valid if field == "valid_time" else getattr(made, field)
    paths |= {("edges", "evidence", edge.target): Placement(edge.role) for edge in made.evidence}
    paths |= {("edges", "context", code): Placement() for code in made.context}
    said.created = {path: Assigned(value, NOWHERE) for path, value in paths.items()}
    return digests.fingerprint(said)
