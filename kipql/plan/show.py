"""A plan as text, an operator a line: what `explain` prints and golden tests compare."""

from collections.abc import Callable

from kipql.model import KIND_NAMES
from kipql.plan import functions, nodes

Note = Callable[[nodes.Operator], str]


def shown(plan: nodes.Plan, note: Note = lambda operator: "") -> str:
    """The plan; `note` adds to the line of an operator."""
    lines = _block(plan.block, 0, note)
    if plan.grouped:
        lines.append("group" if plan.scan is None else "group, counted in columns")
    for sort in plan.order:
        key = f"column {sort.key}" if isinstance(sort.key, int) else expression(sort.key)
        lines.append(f"order by {key}{' descending' if sort.descending else ''}")
    lines.append(
        {"always": "solutions are distinct", "unmerged": "solutions are distinct without merges"}.get(
            plan.unique, "deduplicate"
        )
    )
    return "\n".join(lines)


def _block(block: nodes.Block, depth: int, note: Note) -> list[str]:
    lines: list[str] = []
    for one in block.operators:
        lines += _operator(one, depth, note)
    return lines


def _operator(one: nodes.Operator, depth: int, note: Note) -> list[str]:
    pad = "  " * depth
    head = pad + describe(one) + note(one)
    match one:
        case nodes.Without(block=block) | nodes.Maybe(block=block):
            return [head, *_block(block, depth + 1, note)]
        case nodes.Either(left=left, right=right):
            first = [] if left is None else _block(left, depth + 1, note)
            return [*first, head, *_block(right, depth + 1, note)] if first else [head, *_block(right, depth + 1, note)]
        case _:
            return [head]


def describe(one: nodes.Operator) -> str:
    """One operator, without what is inside it."""
    match one:
        case nodes.Elements(variable=variable, kind=kind, tests=tests, recall=recall):
            inner = ", ".join(map(_test, tests))
            suffix = {"active": "", "identity": " or merged", "any": " in any state"}[recall]
            return (
                f"{KIND_NAMES[kind].lower()} {_name(variable)}{suffix} [{inner}]"
                if inner
                else f"{KIND_NAMES[kind].lower()} {_name(variable)}{suffix}"
            )
        case nodes.Triple(link=link, subject=subject, predicates=predicates, object=object_):
            named = (
                _name(predicates.name)
                if isinstance(predicates, nodes.Variable)
                else " | ".join(s.name for s in predicates)
            )
            return f"proposition {_name(link) + ' ' if link else ''}({_term(subject)}, {named}, {_term(object_)})"
        case nodes.KnownProposition(link=link, slot=slot):
            return f"proposition {_name(link)} id {_slot(slot)}"
        case nodes.Reach(subject=subject, hops=hops, object=object_):
            steps = " | ".join(f"{h.predicate.name}{{{h.low},{'' if h.high is None else h.high}}}" for h in hops)
            return f"path ({_term(subject)}, {steps}, {_term(object_)})"
        case nodes.Edges(link=link, source=source, core=core, symbol=symbol, target=target):
            fields = " and ".join(
                part for part in (core and f"core {core}", symbol and f"profile {symbol.name}") if part
            )
            return f"structural {_name(link) + ' ' if link else ''}({_term(source)}, {fields}, {_term(target)})"
        case nodes.Search(variable=variable, kind=kind, type=type_, predicate=predicate):
            only = "".join(f" {part.name}" for part in (type_, predicate) if part is not None)
            return f"search {_name(variable)} {KIND_NAMES[kind]}{only} most {_slot(one.limit)}"
        case nodes.Belief(variable=variable, proposition=proposition):
            return f"belief {_name(variable)} of {_name(proposition.name)}"
        case nodes.TupleBelief(variable=variable, subject=subject, predicate=predicate, object=object_):
            return f"belief {_name(variable)} ({_term(subject)}, {_predicate(predicate)}, {_term(object_)})"
        case nodes.SlotBelief(variable=variable, subject=subject, predicate=predicate):
            return f"belief {_name(variable)} slot ({_term(subject)}, {_predicate(predicate)})"
        case nodes.Keep(condition=condition):
            return f"filter {expression(condition)}"
        case nodes.Without():
            return "not"
        case nodes.Maybe():
            return "optional"
        case nodes.Either(left=left):
            return "union" if left is not None else "union alone"


def _predicate(predicate: nodes.SymbolRef | nodes.Variable) -> str:
    return _name(predicate.name) if isinstance(predicate, nodes.Variable) else predicate.name


def _name(name: str) -> str:
    return name if name.startswith("~") else f"?{name}"


def _slot(slot: nodes.Slot) -> str:
    return f"${slot.index}"


def _term(term: nodes.Term) -> str:
    match term:
        case nodes.Variable(name=name):
            return _name(name)
        case nodes.Constant(slot=slot):
            return _slot(slot)
        case nodes.Canonical(slot=slot):
            return f"canonical {_slot(slot)}"


def _path(steps: nodes.Steps) -> str:
    return ".".join(map(str, steps))


def _test(test: nodes.Test) -> str:
    match test:
        case nodes.IsElement(slot=slot):
            return f"id = {_slot(slot)}"
        case nodes.HasType(symbol=symbol):
            return f"type {symbol.name}"
        case nodes.Equals(steps=steps, slot=slot, scalar=scalar):
            return f"{_path(steps)} {'==' if scalar else '='} {_slot(slot)}"
        case nodes.KeyIn(listed=listed):
            return f"key in {expression(listed)}"
        case nodes.IdIn(listed=listed):
            return f"id in {expression(listed)}"
        case nodes.HasLength(steps=steps, length=length):
            return f"{_path(steps)} has {length} items"
        case nodes.IsObject(steps=steps):
            return f"{_path(steps)} is an object"
        case nodes.Refers(field=field, term=term):
            return f"{field} = {_term(term)}"
        case nodes.Binds(steps=steps, variable=variable):
            return f"{_path(steps)} -> {_name(variable)}"


def expression(one: nodes.Expression) -> str:
    """An expression."""
    match one:
        case nodes.Load(name=name):
            return _name(name)
        case nodes.Member(name=name, steps=steps):
            return f"{_name(name)}.{_path(steps)}"
        case nodes.Retrieval(name=name, steps=steps):
            return f"{_name(name)}.{_path(('retrieval', *steps))}"
        case nodes.Const(slot=slot):
            return _slot(slot)
        case nodes.Listing(items=items):
            return f"[{', '.join(map(expression, items))}]"
        case nodes.Record(names=names, items=items):
            return "{" + ", ".join(f"{n}: {expression(i)}" for n, i in zip(names, items, strict=True)) + "}"
        case nodes.Apply(function=functions.STRENGTH, args=(facet, _)):
            return f"{expression(facet)}.effective_strength"
        case nodes.Apply(function=function, args=(element, _)) if function.startswith(functions.VALIDITY):
            return f"{expression(element)}._system.{function}"
        case nodes.Apply(function=function, args=args):
            return f"{function}({', '.join(map(expression, args))})"
        case nodes.Opposite(operand=operand):
            return f"!{expression(operand)}"
        case nodes.Minus(operand=operand):
            return f"-{expression(operand)}"
        case nodes.Comparison(op=op, left=left, right=right):
            return f"{expression(left)} {op} {expression(right)}"
        case nodes.Every(items=items):
            return "(" + " && ".join(map(expression, items)) + ")"
        case nodes.Any(items=items):
            return "(" + " || ".join(map(expression, items)) + ")"
