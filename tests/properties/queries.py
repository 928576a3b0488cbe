"""Random queries over the vocabulary: every raw pattern, nested blocks, filters, aggregates, order, limits.

A variable's first letter says what it holds: `c` an element (mostly a Concept), `p` a Proposition, `a` an
Assertion, `e` an edge, `v` a value, `k` a Predicate, `t` a term. Blocks know which names are visible, so
every query is well formed; whether it finds anything is another matter.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.properties.vocabulary import (
    COLORS,
    FIELDS,
    KEYS,
    LITERALS,
    NAMES,
    NUMBERS,
    reference,
    text,
)

PATHS = {
    "c": (
        "key", "name", "id", "attributes.size", "attributes.color", "attributes.note", "_system.version",
        "_system.state", 'facets["Mood"].level', "retention.retention_class", "attributes.size.deeper",
    ),
    "p": ("id", "_system.state", "predicate_ref"),
    "a": ("id", "stance", "mode", "confidence", "lifecycle.status", "proposition.id"),
    "e": ("index", "field"),
}  # fmt: skip
SORTABLE = {
    "c": ("key", "name", "id", "attributes.size", "attributes.color"),
    "p": ("id",),
    "a": ("id", "confidence", "stance"),
    "e": ("index",),
}
NUMERIC = {"c": ("attributes.size", "_system.version"), "a": ("confidence",), "e": ("index",)}


@dataclass(frozen=True, slots=True)
class Query:
    """The parts of a FIND; `sorted_by` are the positions among `items` that ORDER BY names, with direction."""

    items: tuple[str, ...]
    where: tuple[str, ...]
    aggregated: bool = False
    sorted_by: tuple[tuple[int, bool], ...] = ()
    parameters: dict[str, object] = field(default_factory=dict)

    def text(self, *, as_of: int | None = None, limit: int | None = None) -> str:
        parts = [f"FIND({', '.join(self.items)})", "WHERE {", *(f"  {clause}" for clause in self.where), "}"]
        if as_of is not None:
            parts.append(f"AS OF SEQ {as_of}")
        if self.sorted_by:
            keys = (f"{self.items[at]} {'DESC' if down else 'ASC'}" for at, down in self.sorted_by)
            parts.append(f"ORDER BY {', '.join(keys)}")
        if limit is not None:
            parts.append(f"LIMIT {limit}")
        return "\n".join(parts)


class Writer:
    """Draws one query, keeping parameters as it goes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.parameters: dict[str, object] = {}

    def pick(self, *choices: object) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == 1

    def scalar(self, value: object) -> str:
        """A scalar as text, or now and then as a parameter."""
        if self.chance(4):
            name = f"q{len(self.parameters)}"
            self.parameters[name] = value
            return f":{name}"
        return text(value)

    def any_of(self, values: tuple[object, ...]) -> str:
        return self.scalar(self.draw(st.sampled_from(values)))

    def name(self, kind: str) -> str:
        return f"?{kind}{self.pick(1, 1, 2, 3) if kind == 'c' else self.pick(1, 2)}"

    # --- patterns

    def concept(self, new: set[str]) -> str:
        var = self.name("c")
        members = []
        if not self.chance(3):
            members.append(f'type: "{self.pick("Robot", "Robot", "Place", "Person")}"')
        for _ in range(self.draw(st.integers(0, 1))):
            match self.draw(st.integers(0, 7)):
                case 0:
                    members.append(f"key: {self.any_of(KEYS)}")
                case 1:
                    members.append(f"name: {self.any_of(NAMES)}")
                case 2:
                    members.append(f"attributes: {{size: {self.value(new, NUMBERS)}}}")
                case 3:
                    members.append(f"attributes: {{color: {self.value(new, COLORS)}}}")
                case 4:
                    members.append(f"key: {self.value(new, KEYS)}")
                case 5 | 6:
                    members.append(f"state: {self.value(new, ('active', 'archived', 'merged', 'tombstoned'))}")
                case _:
                    members.append(f'id: "C-{self.draw(st.integers(1, 6))}"')
        new.add(var)
        return f"{var}{self.pick(' CONCEPT', '')} {{{', '.join(members)}}}"

    def value(self, new: set[str], constants: tuple[object, ...]) -> str:
        if self.chance(2):
            return self.any_of(constants)
        var = self.name("v")
        new.add(var)
        return var

    def term(self, new: set[str], depth: int = 0) -> str:
        match self.draw(st.integers(0, 9)):
            case 0:
                return reference(self.pick(*KEYS))
            case 1:
                return f'{{type: "{self.pick("Robot", "Place")}", name: {self.any_of(NAMES)}}}'
            case 2 if depth == 0:
                return self.triple(new, depth + 1)
            case _:
                var = self.name("c")
                new.add(var)
                return var

    def triple(self, new: set[str], depth: int = 0) -> str:
        subject = self.term(new, depth)
        match self.draw(st.integers(0, 5)):
            case 0:
                return f'({subject}, "weighs", {self.value(new, LITERALS)})'
            case 1:
                predicate, target = self.name("k"), self.name("t")
                new.update((predicate, target))
                return f"({subject}, {predicate}, {target})"
            case _:
                return f'({subject}, "{self.pick("at", "knows", "knows", "knows")}", {self.term(new, depth)})'

    def proposition(self, new: set[str]) -> str:
        if self.chance(5):
            return self.path(new)
        body = f'(id: "P-{self.draw(st.integers(1, 5))}")' if self.chance(8) else self.triple(new)
        if self.chance(2) and not body.startswith("(id"):
            return body
        var = self.name("p")
        new.add(var)
        return f"{var}{self.pick(' PROPOSITION', '')} {body}"

    def path(self, new: set[str]) -> str:
        path = self.pick('"knows"{0,2}', '"knows"{2}', '"knows" | "at"', '"knows"{1,}', '"at"{0,1} | "knows"')
        return f"({self.term(new, 1)}, {path}, {self.term(new, 1)})"

    def assertion(self, new: set[str]) -> str:
        var = self.name("a")
        members = []
        if self.chance(2):
            proposition = self.name("p")
            new.add(proposition)
            members.append(f"proposition: {proposition}")
        if self.chance(3):
            members.append(f'stance: "{self.pick("support", "reject")}"')
        if self.chance(3):
            actor = self.name("c")
            new.add(actor)
            members.append(f"asserted_by: {actor}")
        if self.chance(4):
            members.append(f"confidence: {self.value(new, (0.25, 0.5, 1))}")
        new.add(var)
        return f"{var} ASSERTION {{{', '.join(members)}}}"

    def structural(self, new: set[str]) -> str:
        core = self.chance(3)
        source = self.name("a") if core else self.term(new, 1) if self.chance(3) else self.name("c")
        target = self.term(new, 1) if self.chance(3) else self.name("c")
        edge = self.name("e") if self.chance(2) else ""
        new.update(name for name in (source, target, edge) if name.startswith("?"))
        field = "evidence" if core else self.pick(*FIELDS)
        return f'{edge} STRUCTURAL ({source}, "{field}", {target})'.strip()

    def evidence(self, new: set[str]) -> str:
        var = self.name("c")
        new.add(var)
        members = [f'evidence_class: "{self.pick("note", "message")}"'] if self.chance(2) else []
        if self.chance(2):
            members.append(f"payload: {{inline: {self.value(new, NAMES)}}}")
        return f"{var} EVIDENCE {{{', '.join(members)}}}"

    def ordinary(self, new: set[str]) -> str:
        patterns = (
            (self.proposition,) * 4
            + (self.concept,) * 3
            + (self.assertion, self.assertion, self.structural, self.structural, self.evidence)
        )
        return str(self.draw(st.sampled_from(patterns))(new))

    # --- expressions

    def operand(self, visible: set[str]) -> str:
        var = self.pick(*sorted(visible))
        kind = var[1]
        return var if kind in "vk" else f"{var}.{self.pick(*PATHS[kind])}"

    def condition(self, visible: set[str], depth: int = 0) -> str:
        usable = {var for var in visible if var[1] != "t"}
        if not usable:
            var = self.pick(*sorted(visible))
            return f"{self.pick('IS_LITERAL', 'IS_ELEMENT', 'IS_NULL', 'IS_NOT_NULL')}({var})"
        match self.draw(st.integers(0, 11 if depth < 2 else 7)):
            case 0 | 1 | 2:
                constants = (*KEYS[:3], *NAMES[:2], *COLORS, *NUMBERS, True, None)
                return f"{self.operand(usable)} {self.comparison()} {self.any_of(constants)}"
            case 3:
                return f"{self.operand(usable)} {self.comparison()} {self.operand(usable)}"
            case 4:
                listed = ", ".join(text(self.draw(st.sampled_from((*KEYS, *NUMBERS, "red")))) for _ in range(2))
                return f"IN({self.operand(usable)}, [{listed}])"
            case 5:
                function = self.pick("CONTAINS", "STARTS_WITH", "ENDS_WITH")
                return f'{function}({self.operand(usable)}, "{self.pick("r", "1", "or", "")}")'
            case 6:
                return f"{self.pick('IS_NULL', 'IS_NOT_NULL')}({self.operand(usable)})"
            case 7 if self.chance(3):
                return f'IS_KIND({self.pick(*sorted(visible))}, "{self.pick("concept", "Proposition", "evidence")}")'
            case 7 if self.chance(2):
                return f'LITERAL_TYPE({self.operand(usable)}) == "{self.pick("string", "number", "boolean")}"'
            case 7:
                return f'REGEX({self.operand(usable)}, "{self.pick("^r[01]$", "o", "^$")}")'
            case 8 | 9:
                return f"!({self.condition(visible, depth + 1)})"
            case _:
                operator = self.pick("&&", "||")
                return f"({self.condition(visible, depth + 1)} {operator} {self.condition(visible, depth + 1)})"

    def comparison(self) -> str:
        return self.pick("==", "==", "!=", "<", ">", "<=", ">=")

    # --- blocks

    def block(self, incoming: set[str], depth: int) -> tuple[list[str], set[str]]:
        """Clauses, and the names visible after them (the incoming ones included)."""
        visible = set(incoming)
        clauses = []
        if not incoming or not self.chance(4):
            clauses.append(self.ordinary(visible))
        if not visible:
            clauses.append(self.concept(visible))
        clauses.extend(self.clause(visible, depth) for _ in range(self.draw(st.integers(0, 3 - depth))))
        if not clauses:
            clauses.append(self.ordinary(visible))
        return clauses, visible

    def clause(self, visible: set[str], depth: int) -> str:
        kind = self.draw(st.integers(0, 9))
        if kind <= 3 or depth >= 2:
            return self.ordinary(visible)
        if kind <= 5 and visible:
            return f"FILTER({self.condition(visible)})"
        word = ("NOT", "NOT", "OPTIONAL", "UNION")[min(max(kind - 6, 0), 3)]
        clauses, inner = self.block(set() if word == "UNION" else visible, depth + 1)
        if word != "NOT":
            visible |= inner
        return f"{word} {{ {' '.join(clauses)} }}"

    # --- the whole

    def projection(self, visible: set[str]) -> str:
        var = self.pick(*sorted(visible))
        kind = var[1]
        if kind in "vkt" or (kind in "cpa" and self.chance(4)):
            return var
        return f"{var}.{self.pick(*PATHS[kind])}"

    def aggregate(self, visible: set[str]) -> str:
        numeric = sorted(f"{var}.{path}" for var in visible for path in NUMERIC.get(var[1], ()))
        if numeric and self.chance(2):
            return f"{self.pick('SUM', 'AVG', 'MIN', 'MAX')}({self.pick(*numeric)})"
        var = self.pick(*sorted(visible))
        return f"COUNT({'DISTINCT ' if self.chance(2) else ''}{var})"

    def query(self) -> Query:
        clauses, visible = self.block(set(), 0)
        aggregated = self.chance(3)
        if aggregated:
            items = [self.grouping(visible)] if self.chance(2) and self.groupable(visible) else []
            items += [self.aggregate(visible) for _ in range(self.draw(st.integers(1, 2)))]
        else:
            items = [self.projection(visible) for _ in range(self.draw(st.integers(1, 3)))]
        sorted_by = []
        sortable = self.sortable(visible)
        if sortable and not aggregated and self.chance(2):
            for _ in range(self.draw(st.integers(1, 2))):
                items.append(self.pick(*sortable))
                sorted_by.append((len(items) - 1, self.chance(2)))
        return Query(tuple(items), tuple(clauses), aggregated, tuple(sorted_by), self.parameters)

    def sortable(self, visible: set[str]) -> list[str]:
        return sorted(f"{var}.{path}" for var in visible for path in SORTABLE.get(var[1], ()))

    def groupable(self, visible: set[str]) -> bool:
        return bool(self.sortable(visible))

    def grouping(self, visible: set[str]) -> str:
        return self.pick(*self.sortable(visible))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    return Writer(draw).query()


@st.composite
def conditions(draw: st.DrawFn) -> tuple[Query, str]:
    """A plain query with the text of one more condition over what it binds."""
    writer = Writer(draw)
    clauses, visible = writer.block(set(), 1)
    condition = writer.condition(visible)
    items = tuple(
        sorted(f"{var}.id" if var[1] in "cpa" else f"{var}.index" if var[1] == "e" else var for var in visible)
    )
    return Query(items, tuple(clauses), parameters=writer.parameters), condition


@st.composite
def conjunctions(draw: st.DrawFn) -> tuple[Query, Query]:
    """Two queries that differ in the order of their ordinary patterns only."""
    writer = Writer(draw)
    visible: set[str] = set()
    patterns = [writer.concept(visible), *(writer.ordinary(visible) for _ in range(draw(st.integers(1, 3))))]
    filters = [f"FILTER({writer.condition(visible)})" for _ in range(draw(st.integers(0, 2)))]
    items = tuple(writer.projection(visible) for _ in range(2))
    shuffled = draw(st.permutations(patterns))
    mixed = draw(st.permutations(filters))
    return (
        Query(items, (*patterns, *filters), parameters=writer.parameters),
        Query(items, (*shuffled, *mixed), parameters=writer.parameters),
    )
