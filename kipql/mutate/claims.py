"""Plain claims on the shortest way: resolved, checked and written into the columns without a record (§13, §56).

The everyday write names two elements, a Predicate and an actor, says how and how sure, and nothing else. What depends
on the Schema Environment alone (the Predicate, which types its ends admit) is found out once and kept by `Claims`;
what depends on the values is checked for each. Every check comes before the first byte is written, and whatever is
unusual or wrong raises `Unusual` or KipError: then the plan decides, and reports with a position.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.model import ASSERTION, CONCEPT, EVIDENCE, MODES, PROPOSITION, STANCES
from kipql.mutate.references import lookup
from kipql.schema.definitions import PredicateType
from kipql.schema.elements import check_element, check_literal
from kipql.store.claiming import NO_EVIDENCE, claim, propose
from kipql.store.columns import MOST_ROWS
from kipql.store.frozen import UNREAD
from kipql.store.records import ROLE_SHIFT, ROLES, flags_of, interval_flags, last_instant, start_key
from kipql.times import FOREVER, parse_instant, parse_interval
from kipql.values import canonical_literal

if TYPE_CHECKING:
    from kipql.store.environments import Entry
    from kipql.store.graph import Graph
    from kipql.store.view import View

FLAGS = {stance: {mode: flags_of(stance, mode) for mode in MODES} for stance in STANCES}
SUPPORTS = ROLES.index("support") << ROLE_SHIFT
NUMBERS = (int, float)  # and not their subclass bool
UNSTATED = float("nan")
_ALL = 1 << 60
MISSING: Any = object()
PLAIN = frozenset(("by", "mode", "stance", "confidence", "at", "valid", "evidence"))
"""The members of a claim that `Claims.write` takes."""


class Unusual(Exception):
    """Something that the plan must look at: nothing was written."""


class Relation:
    """A Predicate under a name, and which ends it was found to admit."""

    __slots__ = ("definition", "elements", "lineage", "objects", "subjects", "symbol")

    def __init__(self, definition: PredicateType) -> None:
        self.definition = definition
        self.elements = definition.object.admits_elements
        self.symbol = self.lineage = -1  # numbers, once an element uses it
        self.subjects: set[int] = set()  # numbers of Concept types that may be its subject
        self.objects: set[int] = set()


def claims_of(graph: "Graph", entry: "Entry") -> "Claims":
    """The Claims of a graph under the Schema Environment of an entry."""
    held = graph.claims
    if isinstance(held, Claims) and held.environment is entry.environment:
        return held
    made = graph.claims = Claims(graph, entry)
    return made


class Claims:
    """Writes plain claims into one graph under one Schema Environment. The caller keeps other writers out."""

    __slots__ = ("_graph", "environment", "relations", "usable")

    def __init__(self, graph: "Graph", entry: "Entry") -> None:
        self._graph = graph
        self.relations: dict[str, Relation] = {}
        self.environment = entry.environment
        demands = entry.environment.record_demands
        self.usable = not entry.joined and ASSERTION not in demands and PROPOSITION not in demands

    def write(
        self,
        view: "View",
        at: int,
        subject: Any,
        predicate: Any,
        object_: Any,
        actor: Any,
        said: Mapping[str, Any],
        evidence: Any = MISSING,
        known: "dict[str, int] | None" = None,
    ) -> int:
        """Write one claim; the row of its Assertion. Raises Unusual or KipError, and nothing was written.

        view   what references are resolved in
        at     the transaction time
        said   the other members as ASSERT names them; what is not in `PLAIN` is the caller's to refuse
        known  ids of living Concepts that were resolved before in this transaction, read and extended
        """
        graph = self._graph
        if not self.usable or graph.identity_seqs:
            raise Unusual
        relation = self.relations.get(predicate) if predicate.__class__ is str else None
        if relation is None:
            relation = self.relation(predicate)
        # what was said of it
        try:
            flags = FLAGS[said.get("stance", "support")][said["mode"]]
        except (KeyError, TypeError):
            raise Unusual from None
        confidence = said.get("confidence")
        if confidence is None:
            confidence = UNSTATED
        elif confidence.__class__ not in NUMBERS or not 0 <= confidence <= 1:
            raise Unusual
        moment = said.get("at", MISSING)
        asserted_at = at if moment is MISSING else parse_instant(moment)
        start, until = asserted_at, FOREVER
        if said.get("valid") is not None:
            more, start, until = self.interval(said["valid"], asserted_at)
            flags |= more
        # what it is about
        by = self.element(view, actor, known)
        if by & 7 != CONCEPT:
            raise Unusual
        about = self.element(view, subject, known)
        literal: Any = MISSING
        if object_.__class__ is dict:
            term: int | None = self.element(view, object_, known)
        elif object_.__class__ is str and relation.elements:
            term = self.named(view, object_, known)
        else:
            term = None
        if term is None:
            literal = canonical_literal(object_)
            term = graph.literals.find(literal)
        cited = NO_EVIDENCE
        if evidence is not MISSING:
            cited = self.evidence(view, evidence)
            flags |= SUPPORTS
        # the tuple
        if len(graph.assertions.asserted_at) >= MOST_ROWS:
            raise Unusual
        slot, row = self.stored(relation, about, term)
        if row < 0:
            self.admit(relation, about, term, literal)
            if relation.symbol < 0:
                self.number(relation)
            if term is None:
                term = graph.literals.intern(literal)
            row, slot = propose(graph, slot, about, relation.symbol, relation.lineage, term)
        assert term is not None
        return claim(
            graph, slot, row, relation.lineage, term, flags, start, until, by, asserted_at, float(confidence), cited
        )

    # --- values ----------------------------------------------------------------------------------------

    @staticmethod
    def interval(value: Any, asserted_at: int) -> tuple[int, int, int]:
        """The flags, the start key and the end of a `valid_time` with exact ends."""
        valid = parse_interval(value)
        if any(bound is not None and not bound.exact for bound in valid):
            raise Unusual
        return interval_flags(valid), start_key(valid, asserted_at), last_instant(valid)

    # --- references ------------------------------------------------------------------------------------

    def element(self, view: "View", value: Any, known: "dict[str, int] | None") -> int:
        """The living element that a reference names; `known` is read and extended."""
        if value.__class__ is dict:
            id_text = value.get("id") if len(value) == 1 else None
            if id_text.__class__ is not str:
                code = lookup(view, value)
                if code is None:
                    raise Unusual
                return code
            value = id_text
        elif value.__class__ is not str:
            raise Unusual
        code = self.named(view, value, known)
        if code is None:
            raise Unusual
        return code

    def named(self, view: "View", text: str, known: "dict[str, int] | None") -> int | None:
        """The living element of an id, None when there is none."""
        if known is not None and (held := known.get(text)) is not None:
            return held
        if text[:2] != "C-":
            code = view.code(text)
            return None if code is None or view.state(code) == "purged" else code
        digits = text[2:]
        try:
            row = int(digits) - 1
        except ValueError:
            return None
        if not 0 <= row < view.bounds[CONCEPT] or str(row + 1) != digits:
            return None
        record = self._graph.objects[CONCEPT][row]
        if (record if record is not UNREAD else self._graph.head(row * 8)).state == "purged":  # type: ignore[union-attr]
            return None
        if known is not None:
            known[text] = row * 8
        return row * 8

    def evidence(self, view: "View", value: Any) -> int:
        """The row of the one Evidence that is cited."""
        if value.__class__ is list and len(value) == 1:
            value = value[0]
        code = self.element(view, value, None)
        if code & 7 != EVIDENCE:
            raise Unusual
        return code >> 3

    # --- the Predicate and its ends --------------------------------------------------------------------

    def relation(self, name: Any) -> Relation:
        """The Predicate that a name means, for writing."""
        environment = self.environment
        relation = Relation(environment.write_version(environment.predicate(name)))
        symbol = self._graph.symbols.find(relation.definition.ref)
        if symbol is not None:
            self.number(relation)
            self.relations[name] = relation
        return relation

    def number(self, relation: Relation) -> None:
        """Give it its numbers: an element uses it from now on."""
        symbols = self._graph.symbols
        relation.symbol = symbols.number(relation.definition.ref)
        relation.lineage = symbols.lineage_of[relation.symbol]

    def stored(self, relation: Relation, subject: int, term: int | None) -> tuple[int, int]:
        """The slot and the Proposition row of a tuple, -1 for what there is not."""
        graph = self._graph
        lineage = relation.lineage
        if lineage < 0:
            found = graph.symbols.find_lineage(relation.definition.lineage)
            if found is None:
                return -1, -1
            lineage = found
        slot = graph.slots.walk(subject, lineage)
        return slot, -1 if slot < 0 or term is None else self.within(relation, slot, term)

    def within(self, relation: Relation, slot: int, term: int) -> int:
        """The Proposition row of a slot with this object, -1 when there is none."""
        graph = self._graph
        rows = graph.slot_propositions.get(slot, _ALL)
        large = graph.crowds.objects_of(slot, rows)
        if large is not None:
            row = large.get(term, -1)
        else:
            objects = graph.propositions.objects
            for row in rows:
                if objects[row] == term:
                    break
            else:
                return -1
        if row >= 0:
            kept = graph.side[PROPOSITION].get(row)
            if kept is not None and kept.state != "active":
                raise Unusual
            if relation.symbol < 0:
                raise Unusual  # written under another version of the Predicate only
        return row

    def admit(self, relation: Relation, subject: int, term: int | None, literal: Any) -> None:
        """Check the ends of a tuple against what the Predicate declares (§20.15)."""
        definition, types = relation.definition, self._graph.types
        if subject & 7 != CONCEPT or types[subject >> 3] not in relation.subjects:
            check_element(definition.subject, subject, self, f"the subject of {definition.local_name}")
            if subject & 7 == CONCEPT:
                relation.subjects.add(types[subject >> 3])
        if literal is not MISSING:
            if not (literal is None or literal.__class__ in (str, int, float, bool)):
                raise Unusual  # an identity that no element carries
            what = f"the object of {definition.local_name}"
            check_literal(definition.object, literal, what)
            if definition.value_schema is not None:
                definition.value_schema.check(literal, what)
        elif term is None or term & 7 != CONCEPT or types[term >> 3] not in relation.objects:
            assert term is not None
            check_element(definition.object, term, self, f"the object of {definition.local_name}")
            if term & 7 == CONCEPT:
                relation.objects.add(types[term >> 3])

    # `kipql.schema.elements.Elements`, as far as the ends need it

    @staticmethod
    def kind(code: int) -> int:
        """The kind of a code."""
        return code & 7

    def concept_type(self, code: int) -> str:
        """The exact type ref of a Concept, which never changes."""
        return self._graph.symbols.refs[self._graph.types[code >> 3]]

    def literal(self, code: int) -> Any:
        """The Literal of a negative code."""
        return self._graph.literals.value(code)

    def exists(self, code: int) -> bool:
        """Whether an element has a row."""
        return (code >> 3) < self._graph.counts()[code & 7]
