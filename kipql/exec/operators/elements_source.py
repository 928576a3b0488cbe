"""Element patterns as source (specification §43.1): the access path, then every test it does not already answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext

from kipql.exec import access, fields, hot
from kipql.exec.direct import assertion_rows, bounded, concept_field, keyed_concepts, left_out, record_of
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.operators.elements import (
    constant_holds,
    field_cell,
    has_length,
    has_type,
    is_object,
    merged_by_id,
    referred,
)
from kipql.exec.symbols import lineage_local
from kipql.exec.terms import constant_terms, known_element
from kipql.exec.write import bind, term
from kipql.model import ASSERTION, CONCEPT, PROPOSITION
from kipql.plan import nodes

_STRIDE = 4_096


def emit(operator: nodes.Elements, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of an element pattern."""
    name, kind, row = operator.variable, operator.kind, code.fresh("r")
    if name in scope:
        cell = term(name, code, scope)
        guard = "True" if scope[name].kind == kind else _is_kind(cell, kind)
        with code.block(f"if {guard}:"):
            code.line(f"{row} = {cell} >> 3")
            inner = {**scope, name: _placed(operator, scope[name].name, row, code)}
            _tests(operator, code, inner, row, (), then)
        return
    only = next((test for test in operator.tests if isinstance(test, nodes.IsElement)), None)
    if only is not None:
        found = _known(only, kind, code)
        with code.block(f"if {found} is not None:"):
            code.line(f"{row} = {found} >> 3")
            _found(operator, code, scope, row, (only,), then)
        return
    _scan(operator, code, scope, row, then)


def _scan(operator: nodes.Elements, code: Emitter, scope: Scope, row: str, then: Then) -> None:
    """The rows of the best access path, one after the other."""
    refers = {test.field: test for test in operator.tests if isinstance(test, nodes.Refers)}
    for field in ("proposition", "asserted_by"):
        test = refers.get(field)
        if test is not None and operator.kind == ASSERTION and _term_known(test.term, scope):
            alone = _proposition_row(test, scope)
            if alone is not None:
                _asserted(operator, test, assertion_rows(alone, code), code, scope, row, then)
                return
            with code.block(f"for k in {_referring(test, code, scope)}:"):
                held = (
                    assertion_rows("(k >> 3)", code) if field == "proposition" else f"{code.member('assertions_by')}(k)"
                )
                _asserted(operator, test, held, code, scope, row, then)
            return
    rows, answered = _constant_rows(operator, code)
    few = any(isinstance(test, nodes.Equals) and test.steps == ("key",) for test in answered)
    if few:
        code.line("t += 1")
    with code.block(f"for {row} in {rows}:" if few else f"for {row} in {code.helper(watched)}({rows}, spend):"):
        _found(operator, code, scope, row, answered, then)


def _asserted(
    operator: nodes.Elements, test: nodes.Refers, text: str, code: Emitter, scope: Scope, row: str, then: Then
) -> None:
    """The loop over the Assertions of one Proposition, or of one actor."""
    rows = code.fresh("rows")
    code.line(f"{rows} = {text}")
    code.charge(f"len({rows}) + 1")
    with code.block(f"for {row} in {rows}:"):
        if test.field == "proposition":
            bounded(row, ASSERTION, code)
        _found(operator, code, scope, row, (test,), then)


def _proposition_row(test: nodes.Refers, scope: Scope) -> str | None:
    """The row of the Proposition that a variable certainly is."""
    if test.field != "proposition" or isinstance(test.term, nodes.Constant):
        return None
    place = scope[test.term.name]
    return place.row if place.kind == PROPOSITION and place.sure else None


def _placed(operator: nodes.Elements, cell: str, row: str, code: Emitter) -> Place:
    """Where the element is, with what is read of it."""
    name, kind = operator.variable, operator.kind
    record = record_of(name, cell, code, row) if kind == CONCEPT else None
    packed = hot.unpacked(name, row, code) if kind == ASSERTION else None
    return Place(cell, True, row, kind, record, packed)


def watched(rows: Sequence[int], spend: Callable[[int], None]) -> Iterable[int]:
    """The rows, charged; a long posting in strides, so that the clock is looked at on the way."""
    if len(rows) <= _STRIDE:
        spend(len(rows) + 1)
        return rows
    return _strides(rows, spend)


def _strides(rows: Sequence[int], spend: Callable[[int], None]) -> Iterator[int]:
    for count, row in enumerate(rows, 1):
        if not count % _STRIDE:
            spend(_STRIDE)
        yield row


def _term_known(term_: nodes.Variable | nodes.Constant, scope: Scope) -> bool:
    return isinstance(term_, nodes.Constant) or term_.name in scope


def _referring(test: nodes.Refers, code: Emitter, scope: Scope) -> str:
    """The codes that the reference field may name, as an iterable."""
    if isinstance(test.term, nodes.Constant):
        codes = _constant_codes(test.term, code)
        return f"[k for k in {codes} if k & 7 == {PROPOSITION}]" if test.field == "proposition" else codes
    cell = term(test.term.name, code, scope)
    guard = _is_kind(cell, PROPOSITION) if test.field == "proposition" else f"{cell} is not None and {cell} >= 0"
    if scope[test.term.name].kind == PROPOSITION and test.field == "proposition":
        return f"({cell},)"
    return f"(({cell},) if {guard} else ())"


def _constant_codes(term_: nodes.Constant, code: Emitter) -> str:
    """Codes of a constant in a reference field; a record's reference is not widened by merges."""
    where = code.constant(term_.slot.where, "at")
    return code.local(
        f"{code.helper(constant_terms)}(view, {code.value(term_.slot)}, False, True, False, {where})", "k"
    )


def _constant_rows(operator: nodes.Elements, code: Emitter) -> tuple[str, tuple[nodes.Test, ...]]:
    """The rows of the shortest posting that constants give, before the loops; and the tests it answers."""
    tests, kind = operator.tests, operator.kind
    typed = access.type_test(tests)
    found, answered = [], []
    ids = access.ids_test(tests)
    if ids is not None:
        text = f"{code.helper(access.rows_by_ids)}(view, {kind}, {_listed(ids, code)}, spend)"
        return code.local(text, "rows"), (ids,)
    if kind == CONCEPT:
        key, keys, name = access.key_test(tests), access.keys_test(tests), access.name_test(tests)
        lineage = lineage_local(typed.symbol, code) if typed is not None else "None"
        if key is not None:
            answers = (key, typed) if typed is not None else (key,)
            rows = code.keyed(key.slot, lineage)
            if rows is not None:
                return rows, answers
            read = keyed_concepts if code.direct else access.rows_by_key
            text = f"{code.helper(read)}(view, {code.value(key.slot)}, {lineage})"
            return code.local(text, "rows"), answers
        if keys is not None:
            text = f"{code.helper(access.rows_by_keys)}(view, {_listed(keys, code)}, {lineage}, spend)"
            return code.local(text, "rows"), ()
        if name is not None:
            found.append(f"{code.helper(access.rows_by_name)}(view, {code.value(name.slot)})")
        if typed is not None:
            found.append(f"{code.member('of_type')}({lineage})")
            answered.append(typed)
    for test in access.value_tests(kind, tests):
        steps = code.constant(test.steps, "steps")
        found.append(f"{code.helper(access.rows_by_value)}(view, {kind}, {steps}, {code.value(test.slot)})")
    whole = f"view.rows({kind})"
    if not found:
        return code.local(whole, "rows"), ()
    if found == [f"of_type({lineage_local(typed.symbol, code)})"] if typed is not None else False:
        return code.local(found[0], "rows"), tuple(answered)
    return code.local(f"{code.helper(access.shortest_or)}(view, {kind}, {', '.join(found)})", "rows"), ()


def _listed(test: nodes.KeyIn | nodes.IdIn, code: Emitter) -> str:
    """The list that a key or an id is looked for in, as a local."""
    if isinstance(test.listed, nodes.Const):
        return code.value(test.listed.slot)
    items = [code.value(item.slot) for item in test.listed.items if isinstance(item, nodes.Const)]
    return code.local(f"[{', '.join(items)}]", "keys")


def _is_kind(cell: str, kind: int) -> str:
    return f"{cell} is not None and {cell} >= 0 and {cell} & 7 == {kind}"


def _known(test: nodes.IsElement, kind: int, code: Emitter) -> str:
    where = code.constant(test.slot.where, "at")
    return code.local(f"{code.helper(known_element)}(view, {code.value(test.slot)}, {kind}, {where})", "e")


def _found(
    operator: nodes.Elements, code: Emitter, scope: Scope, row: str, answered: tuple[nodes.Test, ...], then: Then
) -> None:
    """A candidate row of a variable that is still free."""
    cell = code.fresh("e")
    recall = _recall(operator, code, row)
    with code.block(f"if {recall}:") if recall else nullcontext():
        code.line(f"{cell} = {row} << 3" if operator.kind == 0 else f"{cell} = {row} * 8 + {operator.kind}")
        inner = {**scope, operator.variable: _placed(operator, cell, row, code)}
        _tests(operator, code, inner, row, answered, then, recalled=True)


def _recall(operator: nodes.Elements, code: Emitter, row: str) -> str:
    """The condition that default recall lets a row through."""
    if operator.recall == "any":
        return ""
    hidden = left_out(operator.kind, code)
    if hidden is None:
        return ""
    out = f"{hidden} is None or {row} not in {hidden}"
    if operator.recall == "identity" and operator.kind == 0:  # only Concepts are merged
        out += f" or {code.helper(merged_by_id)}(view, {row})"
    return out


def _tests(
    operator: nodes.Elements,
    code: Emitter,
    scope: Scope,
    row: str,
    answered: tuple[nodes.Test, ...],
    then: Then,
    *,
    recalled: bool = False,
) -> None:
    """Every test that the access path did not answer, then what the pattern binds."""
    conditions = [] if recalled or not (recall := _recall(operator, code, row)) else [f"({recall})"]
    later: list[nodes.Binds | nodes.Refers] = []
    for test in operator.tests:
        if any(test is other for other in answered):
            continue
        match test:
            case nodes.Binds():
                later.append(test)
            case nodes.Refers(term=nodes.Variable()):
                later.append(test)
            case _:
                conditions.append(_condition(operator, test, code, row, scope[operator.variable]))
    if conditions:
        with code.block(f"if {' and '.join(conditions)}:"):
            _binds(operator, later, code, scope, row, then)
    else:
        _binds(operator, later, code, scope, row, then)


def _condition(operator: nodes.Elements, test: nodes.Test, code: Emitter, row: str, place: Place) -> str:
    kind = operator.kind
    match test:
        case nodes.IsElement():
            return f"{_known(test, kind, code)} == {row} * 8 + {kind}"
        case nodes.HasType(symbol=symbol):
            return f"{code.helper(has_type)}(view, {row}, {lineage_local(symbol, code)})"
        case nodes.HasLength(steps=steps, length=length):
            reader = code.constant(fields.reader(kind, steps), "read")
            return f"{code.helper(has_length)}({reader}(view, {row}), {length})"
        case nodes.IsObject(steps=steps):
            reader = code.constant(fields.reader(kind, steps), "read")
            return f"{code.helper(is_object)}({reader}(view, {row}))"
        case nodes.Refers(field=field, term=nodes.Constant() as term_):
            return f"{code.helper(referred)}(view, {field!r}, {row}) in {_constant_codes(term_, code)}"
        case nodes.KeyIn():
            reader = code.constant(fields.reader(kind, ("key",)), "read")
            matcher = code.local(f"{code.helper(access.key_matcher)}({_listed(test, code)})", "among")
            return f"{matcher}({reader}(view, {row}))"
        case nodes.IdIn():
            matcher = code.local(f"{code.helper(access.id_matcher)}({kind}, {_listed(test, code)})", "among")
            return f"{matcher}({row})"
        case nodes.Equals():
            return _equals(kind, test, code, row, place)
        case _:
            raise AssertionError(test)


def _equals(kind: int, test: nodes.Equals, code: Emitter, row: str, place: Place) -> str:
    """A field against a constant: values of the constant's class compare inline."""
    known = code.known(test.slot)
    if isinstance(known, str) and (named := hot.is_name(place.packed, test.steps, known, code)) is not None:
        return named
    constant, plain = code.value(test.slot), code.plain_class(test.slot)
    reader = code.constant(fields.reader(kind, test.steps), "read")
    held = code.fresh("x")
    if test.scalar:
        slow = f"{code.helper(fields.is_equal)}({held}, {constant})"
    else:
        site = code.constant(test, "test")
        slow = (
            f"({held} is not None or {constant} is None) and "
            f"{code.helper(constant_holds)}(view, {kind}, {row}, {site}, {held}, {constant})"
        )
    read = f"{reader}(view, {row})"
    if kind == CONCEPT:
        read = concept_field(row, test.steps, read, code, record=place.record) or read
    elif kind == ASSERTION:
        read = hot.coded(place.packed, test.steps, read, code) or read
    return f"({held} == {constant} if ({held} := {read}).__class__ is {plain} else {slow})"


def _binds(
    operator: nodes.Elements,
    tests: list[nodes.Binds | nodes.Refers],
    code: Emitter,
    scope: Scope,
    row: str,
    then: Then,
) -> None:
    """What the pattern binds besides the element, one after the other."""
    if not tests:
        then(scope)
        return
    test, rest = tests[0], tests[1:]

    def go_on(inner: Scope) -> None:
        _binds(operator, rest, code, inner, row, then)

    cell = code.fresh("b")
    if isinstance(test, nodes.Refers):
        assert isinstance(test.term, nodes.Variable)
        code.line(f"{cell} = {code.helper(referred)}(view, {test.field!r}, {row})")
        with code.block(f"if {cell} is not None:"):
            bind(test.term.name, cell, code, scope, go_on)
        return
    shape = code.shapes[test.variable]
    there, site = code.fresh("there"), code.constant(test, "test")
    code.line(f"{there}, {cell} = {code.helper(field_cell)}(view, {operator.kind}, {row}, {site}, {shape!r})")
    with code.block(f"if {there}:"):
        bind(test.variable, cell, code, scope, go_on)
