"""A Space of a lake at one sequence, as far as a plan has to look before it is lowered (specification §42.4, §48).

It answers what `exec.terms` and `exec.references` ask a store's view: what an id, a key, a Literal or a symbol is
here. Every answer is a small query.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kipql.exec.terms import symbol_lineage
from kipql.lake import layout
from kipql.lake.cells import text
from kipql.lake.lower.sql import Sql, among, col, eq, every, holds, le, lit, named, table
from kipql.limits import Limits
from kipql.model import CONCEPT, KINDS, Concept, parse_id
from kipql.plan import nodes
from kipql.schema import refs
from kipql.store.symbols import written_lineage
from kipql.values import CanonicalReference, Json, Scalar, canonical_literal

if TYPE_CHECKING:
    from kipql.lake.engines import Engine
    from kipql.schema.environment import Environment

LISTED = 500
"""Codes that one query lists."""

EMPTY = "empty"
"""The fact that names the tables without a file."""


class LakeView:
    """The lake's Space at `seq`, under one Schema Environment.

    now     the instant of the read, milliseconds
    limits  what a call may spend
    """

    narrowed = False

    def __init__(
        self, engine: "Engine", space_id: str, seq: int, environment: "Environment", now: int, limits: Limits
    ) -> None:
        self.engine = engine
        self.space_id = space_id
        self.seq = seq
        self.environment = environment
        self.now = now
        self.limits = limits

    def empty(self, each: layout.Table) -> bool:
        """Whether the lake has no file of a table, so that it need not be asked."""
        return each.name in self.engine.facts.get(EMPTY, ())

    # --- elements

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """Rows per kind that may exist: one past the last that the lake has."""
        found = []
        for each in layout.STATE_TABLES:
            if self.empty(each):
                found.append(0)
                continue
            last = exp.select(named(exp.Max(this=col("code")), "n")).from_(table(each.name))
            ((code,),) = self.engine.rows(last.where(le(col("created_seq"), lit(self.seq))))
            found.append(0 if code is None else (code >> 3) + 1)
        return tuple(found)

    def bounds_text(self) -> str:
        """The same, for a function of an engine."""
        return json.dumps(self.bounds)

    def exists(self, code: int) -> bool:
        """Whether the lake has an element at the sequence."""
        if not 0 <= code & 7 < len(KINDS):
            return False
        return bool(self._states(layout.STATE_TABLES[code & 7], eq(col("code"), lit(code))))

    def code(self, id_text: str) -> int | None:
        """The code of an id that exists here."""
        code = parse_id(id_text)
        return code if code is not None and self.exists(code) else None

    def state(self, code: int) -> str:
        """`_system.state` of an element."""
        ((_, state, _),) = self._states(layout.STATE_TABLES[code & 7], eq(col("code"), lit(code)))
        return str(state)

    def left_out(self, kind: int) -> "LeftOut":
        """The rows that default recall leaves out, asked one by one."""
        return LeftOut(self.recalled, kind)

    def recalled(self, code: int) -> bool:
        """Whether default recall finds an element."""
        found = self._states(layout.STATE_TABLES[code & 7], eq(col("code"), lit(code)))
        return bool(found and found[0][2])

    def keyed(self, key: str, lineage: int | str | None = None) -> list[int]:
        """Rows of the Concepts with a key, of a Type lineage when one is given."""
        conditions = [eq(col("key"), lit(key))]
        if lineage is not None:
            refs = [lit(ref) for ref in self.refs(str(lineage))]
            conditions.append(exp.In(this=col("type"), expressions=refs) if refs else exp.false())
        return [code >> 3 for code, _, _ in self._states(layout.CONCEPTS, *conditions)]

    def with_value(self, kind: int, steps: tuple[str, ...], value: Scalar) -> list[int]:
        """Rows of the Concepts with a `canonical_id`."""
        assert (kind, tuple(steps)) == (CONCEPT, ("canonical_id",))
        return [code >> 3 for code, _, _ in self._states(layout.CONCEPTS, eq(col("canonical_id"), lit(str(value))))]

    def record(self, code: int) -> Concept:
        """A Concept as far as it is asked about: its state and its `canonical_id`."""
        select = self.held(layout.CONCEPTS, col("state"), col("canonical_id"), col("type"))
        ((state, canonical_id, schema),) = self.engine.rows(select.where(eq(col("code"), lit(code))))
        return Concept(schema=schema, state=state, canonical_id=canonical_id)

    # --- Literals and symbols

    @cached_property
    def _literals(self) -> dict[int, Json]:
        return {}

    def literal(self, code: int) -> Json:
        """The Literal of a negative code."""
        if code not in self._literals:
            self.know_literals((code,))
        return self._literals[code]

    def know_literals(self, terms: Iterable[int]) -> None:
        """Fetch the Literals among terms at once."""
        codes = sorted({code for code in terms if code < 0 and code not in self._literals})
        self._literals.update(dict.fromkeys(codes))
        for at in range(0, len(codes), LISTED):
            listed = among(col("code"), [lit(code) for code in codes[at : at + LISTED]])
            select = exp.select(col("code"), col("json")).from_(table(layout.LITERALS.name)).where(listed)
            self._literals.update((code, json.loads(written)) for code, written in self.engine.rows(select))

    def literal_code(self, value: Scalar) -> int | None:
        """The code of a Literal, None when no Proposition here holds it."""
        canonical: Any = canonical_literal(value)
        if isinstance(canonical, CanonicalReference):
            canonical = {"canonical_id": canonical.canonical_id}
        select = exp.select(col("code")).from_(table("literals")).where(eq(col("json"), lit(text(canonical))))
        found = self.engine.rows(select)
        return None if not found else int(found[0][0])

    def lineage_number(self, lineage: str) -> str:
        """Lineages are not numbered here: itself."""
        return lineage

    def named_lineage(self, symbol: nodes.SymbolRef, values: tuple[Json, ...]) -> str:
        """The lineage of a symbol of a plan."""
        if symbol.slot is None:
            assert symbol.lineage is not None
            return symbol.lineage
        return symbol_lineage(
            self, symbol.group, values[symbol.slot.index], symbol.slot.where  # type: ignore[arg-type]
        )  # fmt: skip

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """Exact ref -> lineage of every Concept Type and Predicate that the lake holds."""
        found = {*self._distinct(layout.CONCEPTS, "type"), *self._distinct(layout.PROPOSITIONS, "predicate")}
        return {ref: self._lineage(ref) for ref in sorted(found)}

    def know_ref(self, ref: str) -> None:
        """Take in an exact ref that no element of the lake has."""
        self._symbols.setdefault(ref, self._lineage(ref))

    def lineages(self) -> Mapping[str, str]:
        """Exact ref -> lineage of every Concept Type and Predicate that the lake holds."""
        return self._symbols

    @cached_property
    def renames(self) -> str:
        """Exact ref -> lineage of every symbol whose ref spells another one, as JSON."""
        known = self.environment.lineages.items()
        return text({ref: lineage for ref, lineage in known if lineage != refs.written_lineage(ref)})

    def tells_apart(self) -> bool:
        """Whether each exact ref of the lake is the only one of its lineage, so that it alone says which it is."""
        return len(set(self._symbols.values())) == len(self._symbols)

    def refs(self, lineage: str) -> list[str]:
        """The exact refs of a lineage that the lake holds."""
        return [ref for ref, known in self._symbols.items() if known == lineage]

    @cached_property
    def _facets(self) -> Mapping[str, tuple[str, ...]]:
        return self._by_lineage(layout.FACETS, "facet")

    def facet_refs(self) -> Mapping[str, tuple[str, ...]]:
        """Facet lineage -> its exact refs in the lake."""
        return self._facets

    @cached_property
    def _fields(self) -> Mapping[str, tuple[str, ...]]:
        return self._by_lineage(layout.EDGES, "field")

    def field_refs(self, lineage: str) -> tuple[str, ...]:
        """The exact refs of a Structural Field."""
        return self._fields.get(lineage, ())

    # --- identity

    @cached_property
    def _merged(self) -> Mapping[int, int]:
        if self.empty(layout.IDENTITIES):
            return {}
        select = self.held(layout.IDENTITIES, col("code"), col("canonical"))
        return {int(code): int(canonical) for code, canonical in self.engine.rows(select)}

    @property
    def has_merges(self) -> bool:
        """Whether any Concept is merged at the sequence."""
        return bool(self._merged)

    def canonical(self, code: int) -> int:
        """The element at the end of the `merged_into` chain."""
        return self._merged.get(code, code)

    def same(self, code: int) -> tuple[int, ...]:
        """Every code with the same canonical element."""
        canonical = self.canonical(code)
        return self._together.get(canonical, (canonical,))

    @cached_property
    def _together(self) -> Mapping[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {}
        for code, canonical in self._merged.items():
            found.setdefault(canonical, [canonical]).append(code)
        return {canonical: tuple(sorted(codes)) for canonical, codes in found.items()}

    @cached_property
    def identity_version(self) -> int:
        """1, and one more for each commit that changed canonical resolution (§11.5)."""
        last = exp.select(named(exp.Max(this=col("identity_version")), "n")).from_(table(layout.COMMITS.name))
        ((version,),) = self.engine.rows(last.where(le(col("seq"), lit(self.seq))))
        return 1 if version is None else int(version)

    @cached_property
    def reviewed(self) -> Mapping[int, int]:
        """The last commit that asked to review an element because an identity was repaired (§11.5), by code."""
        if self.empty(layout.REVIEWS):
            return {}
        last = named(exp.Max(this=col("seq")), "n")
        select = exp.select(col("code"), last).from_(table(layout.REVIEWS.name)).where(le(col("seq"), lit(self.seq)))
        return {int(code): int(seq) for code, seq in self.engine.rows(select.group_by(col("code")))}

    # --- inside

    def _lineage(self, ref: str) -> str:
        return self.environment.lineage(ref) if ref.startswith("kip://") else written_lineage(ref)

    def _distinct(self, each: layout.Table, column: str) -> list[str]:
        """The texts of a column, ordered; looked up once while the lake is open."""
        known = self.engine.facts.get(f"{each.name}.{column}")
        if known is None:
            if self.empty(each):
                return []
            rows = self.engine.rows(exp.select(col(column)).distinct().from_(table(each.name)))
            known = self.engine.facts[f"{each.name}.{column}"] = sorted(ref for (ref,) in rows)
        return known

    def _by_lineage(self, each: layout.Table, column: str) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for ref in self._distinct(each, column):
            lineage = self._lineage(ref)
            found[lineage] = (*found.get(lineage, ()), ref)
        return found

    def held(self, each: layout.Table, *columns: Sql) -> exp.Select:
        """Columns of what a table holds at the sequence."""
        return exp.select(*columns).from_(table(each.name)).where(holds(self.seq))

    def _states(self, each: layout.Table, *conditions: Sql) -> list[tuple[int, str, bool]]:
        select = self.held(each, col("code"), col("state"), col("recalled")).where(every(conditions))
        return sorted(self.engine.rows(select))


class LeftOut:
    """The rows of a kind that default recall leaves out, asked one by one of what knows it by code."""

    def __init__(self, recalled: Callable[[int], bool], kind: int) -> None:
        self._recalled = recalled
        self._kind = kind

    def __contains__(self, row: int) -> bool:
        return not self._recalled(row * 8 + self._kind)

    def __iter__(self) -> Iterator[int]:
        raise TypeError("rows that are left out are asked one by one")
