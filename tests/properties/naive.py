"""A second KQL evaluator, as plain as it can be: specification §42-45 over lists of element objects.

It knows the syntax tree and nothing of plans, stores or indexes: every pattern looks at every element, every
block is a list of solutions, and speed is no aim. A solution maps names to `Bound`: an identity, by which
values unify and are deduplicated, and what a projection shows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kipql.lang import ast

KIND_OF_LETTER = {"C": "Concept", "P": "Proposition", "A": "Assertion", "E": "Evidence", "X": "Activity"}
REFERENCES = {"proposition", "asserted_by", "subject", "object"}
MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Bound:
    key: Any
    value: Any


Solution: TypeAlias = dict[str, Bound]


def data_key(value: Any) -> Any:
    """The identity of JSON data: numbers by value, booleans apart, key order of no account."""
    if isinstance(value, Mapping):
        return ("object", frozenset((name, data_key(member)) for name, member in value.items()))
    if isinstance(value, list | tuple):
        return ("array", tuple(map(data_key, value)))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", value)


def lineage(ref: str) -> str:
    return re.sub(r"@[^/]*", "", ref)


class World:
    """The elements of a Space at one sequence, and the questions a pattern asks of them."""

    def __init__(self, elements: Iterable[Mapping[str, Any]], parameters: Mapping[str, Any]) -> None:
        self.elements = {element["id"]: element for element in elements}
        self.parameters = parameters
        self.written: frozenset[str] = frozenset()

    def of_kind(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (element for id_, element in self.elements.items() if KIND_OF_LETTER[id_[0]] == kind)

    def canonical(self, id_: str) -> str:
        while (target := self.elements[id_].get("merged_into")) is not None:
            id_ = target["id"] if isinstance(target, Mapping) else target
        return id_

    def identities(self, survivor: str) -> list[str]:
        return [id_ for id_ in self.elements if self.canonical(id_) == survivor]

    def element(self, id_: str) -> Bound:
        return Bound(("element", id_), self.elements[id_])

    def state(self, id_: str) -> str:
        state: str = self.elements[id_]["_system"]["state"]
        return state

    def recalled(self, id_: str) -> bool:
        """Whether default recall sees the element."""
        return self.state(id_) == "active"

    # --- blocks (§42.4, §44.3-44.5)

    def block(self, block: ast.Block, incoming: list[Solution], outer: frozenset[str] = frozenset()) -> list[Solution]:
        """The solutions of a block. A UNION that comes first has no alternative on its left.

        What stands before a UNION is the other alternative and says nothing about its rows (§44.5): a name is
        taken as written by the clauses since the last UNION, and by those that follow.
        """
        before = self.written
        solutions = [] if isinstance(block.clauses[0], ast.Union) else incoming
        since = 0
        for place, clause in enumerate(block.clauses):
            since = place + 1 if isinstance(clause, ast.Union) else since
            self.written = outer.union(*map(as_written, block.clauses[since:]))
            solutions = self.clause(clause, solutions)
        self.written = before
        return solutions

    def clause(self, clause: ast.Clause, solutions: list[Solution]) -> list[Solution]:
        match clause:
            case ast.Filter(condition):
                return [solution for solution in solutions if self.value(condition, solution) is True]
            case ast.Not(block):
                return [solution for solution in solutions if not self.nested(block, solution)]
            case ast.Optional(block):
                return [row for solution in solutions for row in self.nested(block, solution) or [solution]]
            case ast.Union(block):
                return solutions + self.block(block, [{}], self.written)
            case _:
                return [row for solution in solutions for row in self.pattern(clause, solution)]

    def nested(self, block: ast.Block, solution: Solution) -> list[Solution]:
        """The block's solutions that are compatible with the one it was given, joined with it."""
        rows = self.block(block, [solution])
        return [
            {**row, **solution}
            for row in rows
            if all(row[name].key == bound.key for name, bound in solution.items() if name in row)
        ]

    def bind(self, name: str, bound: Bound, solution: Solution) -> Iterator[Solution]:
        known = solution.get(name)
        if known is None:
            yield {**solution, name: bound}
        elif known.key == bound.key:
            yield solution

    # --- patterns (§43)

    def pattern(self, clause: Any, solution: Solution) -> Iterator[Solution]:
        match clause:
            case ast.ElementPattern(var, kind, match):
                for element in self.of_kind(kind):
                    yield from self.described(var, element, match, solution)
            case ast.PropositionPattern(var, target):
                yield from self.proposition(var, target, solution)
            case ast.StructuralPattern(var, source, field, target):
                yield from self.structural(var, source, str(self.constant(field)), target, solution)

    def described(
        self, var: ast.Var | None, element: Mapping[str, Any], match: ast.Object, solution: Solution
    ) -> Iterator[Solution]:
        """An element that fits an object pattern."""
        id_ = element["id"]
        by_id = match.get("id")
        named = by_id is not None and not isinstance(by_id, ast.Var)
        lifted = match.get("state") is not None or (named and self.state(id_) == "merged")
        if not lifted and not self.recalled(id_):
            return
        rows = [solution] if var is None else list(self.bind(var.name, self.element(id_), solution))
        for member in match.members:
            rows = [row for known in rows for row in self.member(element, member, known)]
        yield from rows

    def member(self, element: Mapping[str, Any], member: ast.Member, solution: Solution) -> Iterator[Solution]:
        if member.name == "type":
            wanted = str(self.constant(member.value))
            ref = lineage(element["schema_ref"])
            if wanted in (ref, ref.rpartition("/")[2]) or lineage(wanted) == ref:
                yield solution
            return
        value = element["_system"]["state"] if member.name == "state" else element.get(member.name, MISSING)
        if member.name in REFERENCES and isinstance(value, Mapping):
            yield from self.exactly(member.value, value["id"], solution)
        else:
            yield from self.matched(value, member.value, solution)

    def matched(self, value: Any, wanted: ast.Expression, solution: Solution) -> Iterator[Solution]:
        """A field value against what a pattern says of it. An absent field matches nothing."""
        if value is MISSING:
            return
        match wanted:
            case ast.Var(name):
                yield from self.bind(name, Bound(data_key(value), value), solution)
            case ast.Object(members):
                if isinstance(value, Mapping):
                    rows = [solution]
                    for member in members:
                        inner = value.get(member.name, MISSING)
                        rows = [row for known in rows for row in self.matched(inner, member.value, known)]
                    yield from rows
            case _:
                if data_key(value) == data_key(self.constant(wanted)):
                    yield solution

    def constant(self, value: Any) -> Any:
        return self.parameters[value.name] if isinstance(value, ast.Param) else value.value

    def proposition(
        self, var: ast.Var | None, target: ast.Tuple | ast.PropositionId, solution: Solution
    ) -> Iterator[Solution]:
        if isinstance(target, ast.Tuple) and isinstance(target.predicate, ast.PredicatePath):
            yield from self.path(target, solution)
            return
        for element in self.of_kind("Proposition"):
            if self.recalled(element["id"]):
                yield from self.stated(var, target, element, solution)

    def stated(
        self, var: ast.Var | None, target: ast.Tuple | ast.PropositionId, element: Mapping[str, Any], solution: Solution
    ) -> Iterator[Solution]:
        """One Proposition against a tuple or an id."""
        if isinstance(target, ast.PropositionId):
            rows = [solution] if self.constant(target.id) == element["id"] else []
        else:
            rows = list(self.term(target.subject, element["subject"]["id"], solution))
            rows = [row for known in rows for row in self.predicate(target.predicate, element["predicate_ref"], known)]
            held = element["object"]
            if isinstance(held, Mapping):
                rows = [row for known in rows for row in self.term(target.object, held["id"], known)]
            else:
                rows = [row for known in rows for row in self.literal(target.object, held, known)]
        for row in rows:
            yield from [row] if var is None else self.bind(var.name, self.element(element["id"]), row)

    def predicate(self, wanted: Any, ref: str, solution: Solution) -> Iterator[Solution]:
        if isinstance(wanted, ast.Var):
            yield from self.bind(wanted.name, Bound(("symbol", lineage(ref)), ref), solution)
        elif self.names(str(self.constant(wanted)), ref):
            yield solution

    def names(self, wanted: str, ref: str) -> bool:
        return lineage(wanted) == lineage(ref) or wanted == ref.rpartition("/")[2]

    def literal(self, wanted: Any, value: Any, solution: Solution) -> Iterator[Solution]:
        match wanted:
            case ast.Var(name):
                yield from self.bind(name, Bound(data_key(value), value), solution)
            case ast.Literal() | ast.Param():
                if data_key(self.constant(wanted)) == data_key(value):
                    yield solution

    def term(self, wanted: Any, id_: str, solution: Solution) -> Iterator[Solution]:
        """A term against a stored endpoint: canonically (§43.2)."""
        survivor = self.canonical(id_)
        match wanted:
            case ast.Var(name):
                known = solution.get(name)
                if known is None:
                    for same in self.identities(survivor) if name in self.written else (survivor,):
                        yield {**solution, name: self.element(same)}
                elif known.key[0] == "element" and self.canonical(known.key[1]) == survivor:
                    yield solution
            case ast.Object():
                for element in self.of_kind("Concept"):
                    if self.canonical(element["id"]) == survivor:
                        yield from self.described(None, element, wanted, solution)
            case ast.Tuple() | ast.PropositionId():
                element = self.elements[id_]
                if KIND_OF_LETTER[id_[0]] == "Proposition" and self.recalled(id_):
                    yield from self.stated(None, wanted, element, solution)
            case ast.Literal() | ast.Param():
                named = self.constant(wanted)
                if isinstance(named, str) and named in self.elements and self.canonical(named) == survivor:
                    yield solution

    def exactly(self, wanted: Any, id_: str, solution: Solution) -> Iterator[Solution]:
        """A term against a reference as it is written: only tuples match through merges."""
        if isinstance(wanted, ast.Var):
            yield from self.bind(wanted.name, self.element(id_), solution)
        elif isinstance(wanted, ast.Object):
            if KIND_OF_LETTER[id_[0]] == "Concept":
                yield from self.described(None, self.elements[id_], wanted, solution)
        elif self.constant(wanted) == id_:
            yield solution

    # --- structural references and paths (§43.7, §45)

    def structural(
        self, var: ast.Var | None, source: Any, field: str, target: Any, solution: Solution
    ) -> Iterator[Solution]:
        for id_, element in self.elements.items():
            for symbol, edges in self.edges(element, field):
                for index, edge in enumerate(edges):
                    position = index if symbol.endswith("/part") else None
                    held = {"index": position, "field": symbol}
                    bound = Bound(("edge", id_, symbol, edge["id"], position, edge.get("role")), held)
                    for row in self.exactly(source, id_, solution):
                        for found in self.exactly(target, edge["id"], row):
                            yield from [found] if var is None else self.bind(var.name, bound, found)

    def edges(self, element: Mapping[str, Any], field: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
        """The references that an element holds under a name: a Core field's, a Profile field's."""
        if field == "evidence" and element["kind"] == "assertion":
            yield field, element["evidence"]
        for symbol, edges in (element.get("structural") or {}).items():
            if self.names(field, symbol):
                yield symbol, edges

    def path(self, target: ast.Tuple, solution: Solution) -> Iterator[Solution]:
        """Reachability, once per pair of endpoints (§45)."""
        assert isinstance(target.predicate, ast.PredicatePath)
        for start in self.elements:
            if self.canonical(start) != start:
                continue
            reached = set().union(*(self.reach(start, step) for step in target.predicate.alternatives))
            for row in self.term(target.subject, start, solution):
                for end in sorted(reached):
                    yield from self.term(target.object, end, row)

    def reach(self, start: str, step: ast.PathStep) -> set[str]:
        """What some walk of the step reaches; an endpoint is a reference, so recall does not look at it."""
        name = str(self.constant(step.predicate))
        low, high = (1, 1) if step.quantifier is None else (step.quantifier.low, step.quantifier.high)
        at, found = {start}, {start} if low == 0 else set()
        for hop in range(1, (high if high is not None else low + len(self.elements)) + 1):
            at = {end for begin in at for end in self.hop(begin, name)}
            if hop >= low:
                found |= at
        return found

    def hop(self, begin: str, name: str) -> Iterator[str]:
        for element in self.of_kind("Proposition"):
            held = element["object"]
            if (
                self.recalled(element["id"])
                and self.names(name, element["predicate_ref"])
                and isinstance(held, Mapping)
                and self.canonical(element["subject"]["id"]) == self.canonical(begin)
            ):
                yield self.canonical(held["id"])

    # --- expressions (§44.1, §44.2)

    def value(self, expression: Any, solution: Solution) -> Any:
        match expression:
            case ast.Literal() | ast.Param():
                return self.constant(expression)
            case ast.Array(items):
                return [self.value(item, solution) for item in items]
            case ast.Var(name):
                return solution[name].value if name in solution else None
            case ast.Path(var, steps):
                value = solution[var.name].value if var.name in solution else None
                for step in steps:
                    value = self.step(value, step)
                return value
            case ast.Negate(operand):
                truth = self.value(operand, solution)
                return not truth if isinstance(truth, bool) else None
            case ast.And(items):
                truths = [self.value(item, solution) for item in items]
                return False if any(t is False for t in truths) else all(truths) if None not in truths else None
            case ast.Or(items):
                truths = [self.value(item, solution) for item in items]
                return True if any(t is True for t in truths) else None if None in truths else False
            case ast.Minus(operand):
                return -self.value(operand, solution)
            case ast.Compare(op, left, right):
                return compared(op, self.value(left, solution), self.value(right, solution))
            case ast.Call(name, args):
                return self.call(name.upper(), args, solution)
        raise AssertionError(expression)

    def step(self, value: Any, step: str) -> Any:
        if not isinstance(value, Mapping):
            return None
        if step in value:
            return value[step]
        return next((member for name, member in value.items() if "/" in name and self.names(step, name)), None)

    def call(self, name: str, args: tuple[Any, ...], solution: Solution) -> Any:
        if name in ("IS_LITERAL", "IS_ELEMENT") and isinstance(args[0], ast.Var):
            bound = solution.get(args[0].name)
            element = bound is not None and bound.key[0] == "element"
            scalar = bound is not None and isinstance(bound.value, str | int | float | bool)
            return element if name == "IS_ELEMENT" else scalar
        if name == "IS_KIND" and isinstance(args[0], ast.Var):
            bound = solution.get(args[0].name)
            wanted = str(self.constant(args[1])).capitalize()
            return bound is not None and bound.key[0] == "element" and KIND_OF_LETTER[bound.key[1][0]] == wanted
        values = [self.value(arg, solution) for arg in args]
        match name, values:
            case "IS_NULL", [value]:
                return value is None
            case "IS_NOT_NULL", [value]:
                return value is not None
            case "IN", [value, listed]:
                truths = [compared("==", value, item) for item in listed]
                if value is None:
                    return None
                return True if True in truths else None if None in truths else False
            case "LITERAL_TYPE", [value]:
                return {"str": "string", "number": "number", "bool": "boolean"}.get(data_key(value)[0])
            case (("CONTAINS" | "STARTS_WITH" | "ENDS_WITH" | "REGEX"), [str(text), str(part)]):
                tests = {
                    "CONTAINS": part in text,
                    "STARTS_WITH": text.startswith(part),
                    "ENDS_WITH": text.endswith(part),
                }
                return tests[name] if name in tests else re.search(part, text) is not None
        return None

    # --- the whole (§42.5, §44.6)

    def solutions(self, where: ast.Block) -> list[Solution]:
        """The distinct complete solutions."""
        distinct: dict[frozenset[Any], Solution] = {}
        for solution in self.block(where, [{}]):
            distinct.setdefault(frozenset((name, bound.key) for name, bound in solution.items()), solution)
        return list(distinct.values())

    def find(self, query: ast.Find) -> list[tuple[Any, ...]]:
        """The rows before ORDER BY and LIMIT."""
        solutions = self.solutions(query.where)
        if not any(isinstance(item, ast.Call) for item in query.items):
            return [tuple(self.value(item, solution) for item in query.items) for solution in solutions]
        groups: dict[Any, list[Solution]] = {}
        plain = [item for item in query.items if not isinstance(item, ast.Call)]
        if not plain:
            groups[()] = []
        for solution in solutions:
            key = tuple(self.identity(item, solution) for item in plain)
            groups.setdefault(key, []).append(solution)
        return [
            tuple(
                self.aggregate(item, group) if isinstance(item, ast.Call) else self.value(item, group[0])
                for item in query.items
            )
            for group in groups.values()
        ]

    def identity(self, item: Any, solution: Solution) -> Any:
        if isinstance(item, ast.Var):
            return solution[item.name].key if item.name in solution else None
        value = self.value(item, solution)
        return None if value is None else data_key(value)

    def aggregate(self, call: ast.Call, group: list[Solution]) -> Any:
        (argument,) = call.args
        inputs = [solution for solution in group if self.value(argument, solution) is not None]
        if call.name.upper() == "COUNT":
            return len({self.identity(argument, solution) for solution in inputs}) if call.distinct else len(inputs)
        values = [self.value(argument, solution) for solution in inputs]
        if not values:
            return None
        match call.name.upper():
            case "SUM":
                return sum(values)
            case "AVG":
                return sum(values) / len(values)
            case "MIN":
                return min(values)
            case _:
                return max(values)


def as_written(clause: Any) -> set[str]:
    """The variables that a clause takes as identities are written, not as merges resolve them: a record's
    references, the ends of a Structural Reference, a pattern that may reach merged Concepts. A tuple in the same
    block offers them every identity of an endpoint, so that the order of patterns does not matter."""
    match clause:
        case ast.ElementPattern(var, _, match):
            reaches = match.get("state") is not None or isinstance(match.get("id"), ast.Literal | ast.Param)
            named = {member.value.name for member in match.members if isinstance(member.value, ast.Var)}
            return named | ({var.name} if reaches else set())
        case ast.StructuralPattern(_, source, _, target):
            return {end.name for end in (source, target) if isinstance(end, ast.Var)}
    return set()


def compared(op: str, left: Any, right: Any) -> bool | None:
    """A comparison: unknown with null and between unlike types; arrays and objects have no order."""
    if left is None or right is None:
        return None
    ours, theirs = data_key(left), data_key(right)
    if ours[0] != theirs[0]:
        return None
    if op in ("==", "!="):
        return (ours == theirs) is (op == "==")
    if ours[0] in ("array", "object"):
        return None
    return bool({"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[op])
