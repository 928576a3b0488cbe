"""Random queries over the lab: for comparing the engines where nobody wrote the expected rows."""

from random import Random

from kipql import lang
from kipql.errors import KipError
from kipql.plan import bindings, scope

NAMES = ("a", "b", "c", "d")
PREDICATES = ("has_part", "stands_in", "leads_to", "marked", "weight", "noted", "faces")
TYPES = ("Robot", "Part", "Room")
FIELDS = ("name", "key", "attributes.arms", "attributes.on", "attributes.speed", 'facets["Wear"].level', "id")
CONSTANTS = ('"Ada"', '"r1"', '"leg"', "2", "4", "true", "false", "null", '"C-1"', '"many"', "0.5", "12")
ELEMENTS = ('"C-1"', '"C-2"', '"C-4"', '"C-7"', '"C-8"', '"C-11"', '"P-1"')


class Generator:
    """One stream of queries for one seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.pick = self._random.choice
        self.chance = lambda odds: self._random.random() < odds

    def var(self) -> str:
        return "?" + self.pick(NAMES)

    def term(self, element: bool = False) -> str:
        if self.chance(0.65):
            return self.var()
        if self.chance(0.3):
            return "{" + self.members(2, plain=True) + "}"
        if not element and self.chance(0.5):
            return self.pick(CONSTANTS)
        return self.pick(ELEMENTS)

    def members(self, most: int, plain: bool = False) -> str:
        found = {}
        for _ in range(self._random.randint(0, most)):
            name, value = self.pick(
                [
                    ("type", f'"{self.pick(TYPES)}"'),
                    ("name", self.pick(('"Ada"', '"Leg"', '"Hall"'))),
                    ("key", self.pick(('"r1"', '"leg"', '"hall"'))),
                    ("name", "?" + self.pick(("n", "m"))),
                    ("attributes", "{arms: " + self.pick(("2", "?n", '"many"')) + "}"),
                    ("attributes", "{on: " + self.pick(("true", "?n")) + "}"),
                    ("id", self.pick(('"C-1"', '"C-11"', "?i"))),
                    ("state", self.pick(('"merged"', '"active"', "?s"))),
                ]
            )
            if not (plain and "?" in value):
                found[name] = value
        return ", ".join(f"{name}: {value}" for name, value in found.items())

    def pattern(self) -> str:
        kind = self._random.random()
        if kind < 0.35:
            return f"{self.var()} {{{self.members(3)}}}"
        if kind < 0.75:
            link = f"?{self.pick('pq')} " if self.chance(0.3) else ""
            predicate = "?r" if self.chance(0.1) else f'"{self.pick(PREDICATES)}"'
            return f"{link}({self.term(True)}, {predicate}, {self.term()})"
        if kind < 0.82:
            bounds = self.pick(("{1,2}", "{0,1}", "{2}", "{1,}", "{0,}"))
            return f'({self.term(True)}, "{self.pick(("leads_to", "faces"))}"{bounds}, {self.term(True)})'
        if kind < 0.9:
            field = self.pick(("goes_through", "beside", "inputs", "evidence", "source"))
            link = "?e " if self.chance(0.3) else ""
            return f'{link}STRUCTURAL ({self.term(True)}, "{field}", {self.term(True)})'
        return f"?x ASSERTION {{asserted_by: {self.var()}}}"

    def expression(self, names: tuple[str, ...]) -> str:
        left = "?" + self.pick(names)
        if self.chance(0.75):
            left += "." + self.pick(FIELDS)
        kind = self._random.random()
        if kind < 0.5:
            return f"{left} {self.pick(('==', '!=', '<', '>='))} {self.pick(CONSTANTS)}"
        if kind < 0.6:
            return f"{left} == ?{self.pick(names)}.{self.pick(FIELDS)}"
        if kind < 0.7:
            return f"{self.pick(('IS_NULL', 'IS_NOT_NULL', 'IS_LITERAL', 'IS_ELEMENT'))}({left})"
        if kind < 0.8:
            return f'IN({left}, ["Ada", 2, "leg", true])'
        if kind < 0.9:
            return f"!({self.expression(names)})"
        return f"({self.expression(names)} {self.pick(('&&', '||'))} {self.expression(names)})"

    def block(self, depth: int) -> str:
        clauses = [self.pattern() for _ in range(self._random.randint(1, 3))]
        if depth:
            for _ in range(self._random.randint(0, 2)):
                word = self.pick(("NOT", "OPTIONAL", "OPTIONAL", "UNION"))
                at = self._random.randint(0, len(clauses))
                clauses.insert(at, f"{word} {{ {self.block(depth - 1)} }}")
        if self.chance(0.5):
            clauses.insert(self._random.randint(0, len(clauses)), f"FILTER({self.expression(NAMES[:3])})")
        return " ".join(clauses)

    def query(self) -> str:
        """A query that passes the static checks."""
        while True:
            block = self.block(2)
            names = list(bindings.exported(lang.parse(f"FIND(?x) WHERE {{ {block} }}").where))  # type: ignore[union-attr]
            if not names:
                continue
            text = f"FIND({self.items(names)}) WHERE {{ {block} }}"
            try:
                scope.check(lang.parse(text))  # type: ignore[arg-type]
            except KipError:
                continue
            return text

    def items(self, names: list[str]) -> str:
        if self.chance(0.15):
            return f"COUNT(?{self.pick(names)}), COUNT(DISTINCT ?{self.pick(names)})"
        shown = [f"?{name}.id" if self.chance(0.5) else f"?{name}.name" for name in names]
        values = [f"?{name}" for name in names if name in "nmrsi"]
        return ", ".join([*shown[:3], *values])
