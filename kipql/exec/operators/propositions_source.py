"""Proposition patterns as source (specification §43.2): slot, pair, exact tuple or scan, by what is known.

Without merges in the view a known endpoint is one code; with merges it is every code of its identity.
"""

from dataclasses import dataclass

from kipql.exec.direct import bounded, left_out, slot_rows
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.operators.elements_source import watched
from kipql.exec.symbols import lineage_local
from kipql.exec.terms import canonical_terms, constant_terms, known_proposition, symbol_cell
from kipql.exec.write import bind, term
from kipql.model import PROPOSITION
from kipql.plan import nodes


@dataclass(frozen=True, slots=True)
class End:
    """An endpoint of a tuple: free, one code, or several.

    one   a local with one code, when that is what is known
    many  a local with the codes
    """

    one: str | None = None
    many: str | None = None

    @property
    def known(self) -> bool:
        return self.one is not None or self.many is not None

    @property
    def codes(self) -> str:
        return self.many or f"({self.one},)"

    def holds(self, cell: str) -> str:
        """A condition: a stored endpoint is this one."""
        return f"{cell} == {self.one}" if self.one is not None else f"{cell} in {self.many}"


def end_of(term_: nodes.Term, code: Emitter, scope: Scope) -> End:
    """What is known of an endpoint here; a bound variable's codes are worked out on the spot."""
    if isinstance(term_, nodes.Variable):
        if term_.name not in scope:
            return End()
        cell = term(term_.name, code, scope)
        if not code.merges:
            if code.shapes[term_.name] == "term":
                return End(one=cell)
            many = code.fresh("k")
            code.line(f"{many} = () if {cell} is None else ({cell},)")
            return End(many=many)
        many = code.fresh("k")
        code.line(f"{many} = () if {cell} is None else {code.member('same')}({cell})")
        return End(many=many)
    merges = repr(code.merges)
    if isinstance(term_, nodes.Canonical):
        text = f"{code.helper(canonical_terms)}(view, {code.value(term_.slot)}, {merges})"
        return End(many=code.local(text, "k"))
    element = code.element(term_)
    if element is not None:
        return End(one=element)
    where = code.constant(term_.slot.where, "at")
    admits = f"{term_.literal}, {term_.element}"
    text = f"{code.helper(constant_terms)}(view, {code.value(term_.slot)}, {admits}, {merges}, {where})"
    return End(many=code.local(text, "k"))


def emit(operator: nodes.Triple, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a tuple pattern."""
    subject, object_ = end_of(operator.subject, code, scope), end_of(operator.object, code, scope)
    lineage: str | None = None
    if not isinstance(operator.predicates, nodes.Variable):
        lineages = [lineage_local(symbol, code) for symbol in operator.predicates]
        if len(lineages) == 1:
            lineage = lineages[0]
        else:
            every = code.local(f"frozenset(({', '.join(lineages)}))", "n")
            if operator.link is None or operator.link not in scope:
                lineage = code.fresh("n")
                with code.block(f"for {lineage} in {every}:"):
                    _rows(operator, subject, object_, lineage, code, scope, then)
                return
            lineage = every
    _rows(operator, subject, object_, lineage, code, scope, then)


def _rows(
    operator: nodes.Triple, subject: End, object_: End, lineage: str | None, code: Emitter, scope: Scope, then: Then
) -> None:
    """The loop over candidate rows."""
    row = code.fresh("r")
    link = operator.link
    if link is not None and link in scope:
        cell = term(link, code, scope)
        with code.block(f"if {cell} is not None and {cell} >= 0 and {cell} & 7 == {PROPOSITION}:"):
            code.line(f"{row} = {cell} >> 3")
            _check(operator, subject, object_, lineage, code, scope, row, then, exact=False)
        return
    if subject.known and object_.known and lineage is not None:
        with _each(subject, code) as one, _each(object_, code) as other:
            code.line(f"{row} = {code.member('tuple_row')}({one}, {lineage}, {other})")
            code.charge("1")
            with code.block(f"if {row} is not None:"):
                _check(operator, End(), End(), None, code, scope, row, then, exact=True)
        return
    if subject.known:
        with _each(subject, code) as one:
            text = f"{code.member('outgoing')}({one})" if lineage is None else slot_rows(one, lineage, code)
            _loop(text, code, row)
            with code.block(f"for {row} in rows_{row}:"):
                if lineage is not None:
                    bounded(row, PROPOSITION, code)
                left = End() if lineage is not None else object_
                _check(operator, End(), left, None, code, scope, row, then, exact=True)
        return
    if object_.known:
        with _each(object_, code) as one:
            member = code.member("incoming" if lineage is None else "pairs")
            _loop(f"{member}({one})" if lineage is None else f"{member}({one}, {lineage})", code, row)
            with code.block(f"for {row} in rows_{row}:"):
                _check(operator, End(), End(), None, code, scope, row, then, exact=True)
        return
    text = f"{code.member('by_predicate')}({lineage})" if lineage is not None else f"view.rows({PROPOSITION})"
    with code.block(f"for {row} in {code.helper(watched)}({text}, spend):"):
        _check(operator, End(), End(), None, code, scope, row, then, exact=True)


class _each:
    """A loop over the codes of an endpoint, or nothing where it is one code."""

    def __init__(self, end: End, code: Emitter) -> None:
        self._end, self._code = end, code

    def __enter__(self) -> str:
        if self._end.one is not None:
            self._block = None
            return self._end.one
        name = self._code.fresh("k")
        self._block = self._code.block(f"for {name} in {self._end.many}:")
        self._block.__enter__()
        return name

    def __exit__(self, *_: object) -> None:
        if self._block is not None:
            self._block.__exit__(None, None, None)


def _loop(text: str, code: Emitter, row: str) -> None:
    code.line(f"rows_{row} = {text}")
    code.charge(f"len(rows_{row}) + 1")


def _check(
    operator: nodes.Triple,
    subject: End,
    object_: End,
    lineage: str | None,
    code: Emitter,
    scope: Scope,
    row: str,
    then: Then,
    *,
    exact: bool,
) -> None:
    """What a candidate row must still satisfy, then what it binds. `exact`: the access path gave the Predicate."""
    hidden = left_out(PROPOSITION, code)
    conditions = [] if hidden is None else [f"({hidden} is None or {row} not in {hidden})"]
    if not exact and lineage is not None:
        number = f"{code.member('lineage_of')}[{code.member('predicates')}[{row}]]"
        several = not isinstance(operator.predicates, nodes.Variable) and len(operator.predicates) > 1
        conditions.append(f"{number} {'in' if several else '=='} {lineage}")
    if subject.known:
        conditions.append(subject.holds(f"{code.member('subjects')}[{row}]"))
    if object_.known:
        conditions.append(object_.holds(f"{code.member('objects')}[{row}]"))
    if not conditions:
        _bind_link(operator, code, scope, row, then)
        return
    with code.block(f"if {' and '.join(conditions)}:"):
        _bind_link(operator, code, scope, row, then)


def _bind_link(operator: nodes.Triple, code: Emitter, scope: Scope, row: str, then: Then) -> None:
    """Bind the link, the Predicate variable, the subject and the object, each unless it was known."""
    inner = scope
    link = operator.link
    if link is not None and link not in scope:
        cell = code.fresh("e")
        code.line(f"{cell} = {row} * 8 + {PROPOSITION}")
        inner = {**scope, link: Place(cell, True, row, PROPOSITION)}
    elif link is not None:
        inner = {**scope, link: Place(scope[link].name, True, row, PROPOSITION)}

    def subject(later: Scope) -> None:
        _bind_end(operator, operator.subject, "subjects", code, later, scope, row, object_)

    def object_(later: Scope) -> None:
        _bind_end(operator, operator.object, "objects", code, later, scope, row, then)

    if isinstance(operator.predicates, nodes.Variable):
        _bind_predicate(operator.predicates.name, code, inner, row, subject)
    else:
        subject(inner)


def _bind_predicate(name: str, code: Emitter, scope: Scope, row: str, then: Then) -> None:
    cell = code.fresh("s")
    code.line(f"{cell} = {code.member('predicates')}[{row}]")
    if code.shapes[name] != "symbol":
        code.line(f"{cell} = {code.helper(symbol_cell)}(view, {cell})")
    bind(name, cell, code, scope, then)


def _bind_end(
    operator: nodes.Triple,
    term_: nodes.Term,
    column: str,
    code: Emitter,
    scope: Scope,
    before: Scope,
    row: str,
    then: Then,
) -> None:
    """Bind a free endpoint to the canonical identity of the stored one; one known before was matched already.

    A variable that this same pattern bound a moment ago (the subject, the link) has to agree.
    """
    if not isinstance(term_, nodes.Variable) or term_.name in before:
        then(scope)
        return
    stored, cell = f"{code.member(column)}[{row}]", code.fresh("e")
    if code.merges and term_.name in operator.spread:
        with code.block(f"for {cell} in {code.member('same')}({stored}):"):
            bind(term_.name, cell, code, scope, then)
        return
    code.line(f"{cell} = {code.member('canonical')}({stored})" if code.merges else f"{cell} = {stored}")
    bind(term_.name, cell, code, scope, then)


def emit_known(operator: nodes.KnownProposition, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of `(id: x)`."""
    where = code.constant(operator.slot.where, "at")
    found = code.local(f"{code.helper(known_proposition)}(view, {code.value(operator.slot)}, {where})", "e")
    with code.block(f"if {found} is not None:"):
        bind(operator.link, found, code, scope, then)
