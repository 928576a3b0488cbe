"""Identity resolution: what each record of a Capsule becomes in a destination (specification §38.1-§38.4).

In this order: an earlier import of the same source element; the host's decision; a canonical_id that the host trusts;
for a Proposition the tuple it says (§12.3); a new element. A name is never identity and neither is a local key: one
from another owner is left behind, for whoever says it here means a Concept of this Space (§11.6). Nothing becomes the
destination's own self unless the host says so. What can not be decided is a conflict for the host, and nothing is
imported while there is one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.capsules import references
from kipql.capsules.artifact import Capsule
from kipql.capsules.held import held
from kipql.capsules.identity import code_of, fingerprint, imported, source_of
from kipql.capsules.plan import CONFLICT, CREATE, MATCH, Decision, ImportPlan
from kipql.capsules.portable import Assembly, portable, why_outside
from kipql.capsules.symbols import Symbols, Used
from kipql.exec.references import canonical_concepts, keyed
from kipql.limits import Budget
from kipql.model import CONCEPT, KINDS, element_code, element_id, kind_of
from kipql.schema.definitions import ConceptType, PredicateType
from kipql.values import CanonicalReference, Json, canonical_literal, literal_key

if TYPE_CHECKING:
    from kipql.store.view import View


@dataclass(slots=True)
class Row:
    """What becomes of one record. `code` is the element it is or will be."""

    id: str
    kind: str
    action: str
    code: int | None = None
    reason: str = ""
    left_out: list[str] = field(default_factory=list)
    quarantined: bool = False
    candidates: list[str] = field(default_factory=list)
    problem: str | None = None

    def refuse(self, problem: str, candidates: list[int] | None = None) -> None:
        """Leave it to the host."""
        self.action, self.code, self.problem = CONFLICT, None, problem
        self.candidates = [element_id(code) for code in candidates or ()]

    def to_dict(self) -> dict[str, Json]:
        row: dict[str, Json] = {"id": self.id, "kind": self.kind, "action": self.action}
        if self.action == MATCH and self.code is not None:
            row["target"] = element_id(self.code)
        for name in ("reason", "left_out", "quarantined", "candidates", "problem"):
            if value := getattr(self, name):
                row[name] = value
        return row


class Resolution:
    """The rows of a Capsule under a plan.

    view     the destination as the importer may see it
    whole    the destination; new codes follow its rows
    lineage  which memory the destination is
    self_id  what the destination takes for itself

    `identified` tells whether the plan decided an identity: that what is there, or its keys, are this Space's (§38.2).
    """

    def __init__(
        self,
        capsule: Capsule,
        plan: ImportPlan,
        symbols: Symbols,
        *,
        view: "View",
        whole: "View",
        lineage: str | None,
        self_id: str | None,
        budget: Budget,
    ) -> None:
        self._budget = budget
        self.capsule = capsule
        self.plan = plan
        self.symbols = symbols
        self.view = view
        self.rows: dict[str, Row] = {}
        self.marks: dict[str, str] = {}
        self._whole = whole
        self._known = imported(whole)
        self._next = list(whole.bounds)
        known_self = None if self_id is None else whole.code(self_id)
        self._self = None if known_self is None else whole.canonical(known_self)
        self._source = source_of(capsule.source, capsule.handling.get("source_lineage"))
        self._home = lineage is not None and self._source == source_of(whole.space_id, lineage)
        self._own = self._home or plan.same_owner
        self.identified = False
        self._outside: dict[str, int] = {}
        self._tuples: dict[tuple[Any, ...], int] = {}
        self._external()
        self._decide()
        self._propositions()
        self._dependents()

    def code(self, name: str) -> int | None:
        """The element that a local id stands for in the destination; None when it stands for none."""
        row = self.rows.get(name)
        return self._outside.get(name) if row is None else row.code

    def conflicts(self) -> list[Row]:
        """The rows that only the host can decide."""
        return [row for row in self.rows.values() if row.action == CONFLICT]

    def made(self) -> Iterator[Row]:
        """The rows of new elements, by kind and code."""
        return iter(sorted((row for row in self.rows.values() if row.action == CREATE), key=_code))

    def identity_of(self, name: str) -> str | None:
        """The canonical_id of an ExternalRef that names nothing but an identity (§8.2)."""
        external = self.capsule.external.get(name)
        if external is None or external["kind"] != "canonical_identity":
            return None
        return str(external["locator"]["canonical_id"])

    # what is outside the Capsule

    def _external(self) -> None:
        for name, external in self.capsule.external.items():
            decision = self.plan.decisions.get(name)
            located = external.get("locator", {})
            mark = located.get("fingerprint")
            found = self._known.get(mark) if isinstance(mark, str) else None
            if found is None and decision is not None and decision.action == MATCH:
                found = code_of(self.view, decision.target)
                self.identified = True
            if found is None and self.plan.trust_canonical_ids and (identity := self.identity_of(name)) is not None:
                matches = canonical_concepts(self.view, identity)
                found = matches[0] if len(matches) == 1 else None
                self.identified |= found is not None
            if found is not None and self._stands(found):
                self._outside[name] = self.view.canonical(found)

    # one record at a time

    def _decide(self) -> None:
        for name, record in self.capsule.records.items():
            self._budget.spend()
            row = self.rows[name] = Row(name, record["kind"], CREATE)
            self.marks[name] = fingerprint(record, self._source)
            if not self._earlier(row, record) and not self._decided(row, self.plan.decisions.get(name), record):
                self._by_canonical_id(row, record)
        for row in self.rows.values():
            if row.action == CREATE and row.kind != "proposition":
                self._number(row)
                self._key(row, self.capsule.records[row.id])
                row.quarantined = not self._own and held(self.capsule.records[row.id])

    def _earlier(self, row: Row, record: Mapping[str, Any]) -> bool:
        """An earlier import of the same source element, or the element itself come home."""
        mark = self.marks[row.id]
        found = self._known.get(mark)
        reason = "imported before"
        if found is None and self._home:
            found, reason = self.view.code(row.id), "the element itself"
            if found is None or why_outside(self.view, found) is not None:
                return False
            if fingerprint(portable(self.view, found, Assembly()), self._source) != mark:
                return False
        if found is None or not self.view.exists(found):
            return False
        decision = self.plan.decisions.get(row.id)
        if self.view.state(found) == "purged":
            if decision is None or decision.action in (MATCH, CONFLICT):
                row.refuse("it was imported before and purged since; say create to take it in again, or skip")
                return True
            return False
        if decision is not None and decision.action == MATCH and code_of(self.view, decision.target) != found:
            row.refuse(f"it was imported before as {element_id(found)}", [found])
        else:
            row.action, row.code, row.reason = MATCH, found, reason
        return True

    def _decided(self, row: Row, decision: Decision | None, record: Mapping[str, Any]) -> bool:
        if decision is None or decision.action == CONFLICT:
            return False
        row.reason = "the host's decision"
        row.action = decision.action
        if decision.action != MATCH:
            return True
        code = code_of(self.view, decision.target)
        if code is None or not self._stands(code):
            row.refuse(f"{decision.target} is not there or not visible")
        elif KINDS[kind_of(code)] != row.kind or not self._same_type(code, record):
            row.refuse(f"{decision.target} is of another kind or type")
        elif self._is_self(code) and row.id == self.capsule.handling.get("source_self"):
            row.refuse("a source's self becomes the destination's only by a verified restore (§38.4)")
        else:
            row.code = self.view.canonical(code)
            self.identified = True
        return True

    def _by_canonical_id(self, row: Row, record: Mapping[str, Any]) -> None:
        identity = record.get("canonical_id")
        found = [] if identity is None else canonical_concepts(self.view, identity)
        if not found:
            return
        if self.plan.trust_canonical_ids and len(found) == 1 and self._same_type(found[0], record):
            if self._is_self(found[0]):
                row.refuse("nothing becomes the destination's self by itself (§38.4)", found)
            else:
                row.action, row.code, row.reason = MATCH, self.view.canonical(found[0]), "trusted canonical_id"
                self.identified = True
            return
        row.refuse(f"the canonical_id {identity!r} is taken; say which one it is, or trust canonical ids", found)

    def _key(self, row: Row, record: Mapping[str, Any]) -> None:
        """A local key has no meaning across owners, and where it is taken it is another's: the Concept goes without."""
        key = record.get("key")
        if key is None:
            return
        ref = self.symbols.ref(Used(ConceptType, record["schema_ref"]))
        if not self._own or (ref is not None and keyed(self.view, ref, key)):
            row.left_out.append("/key")
        elif not self._home:
            self.identified = True

    # Propositions: identity is the tuple

    def _propositions(self) -> None:
        pending = [row for row in self.rows.values() if row.kind == "proposition" and row.action == CREATE]
        while pending:
            left = [row for row in pending if not self._tuple(row, self.capsule.records[row.id])]
            if len(left) == len(pending):
                for row in left:
                    row.refuse("its ends are Propositions that end in each other")
                return
            pending = left

    def _tuple(self, row: Row, record: Mapping[str, Any]) -> bool:
        """Settle one Proposition; False while an end of it is a Proposition that is not settled."""
        self._budget.spend()
        ends: list[Any] = []
        for name in ("subject", "object"):
            value = record[name]
            if not isinstance(value, Mapping):
                ends.append(("literal", literal_key(canonical_literal(value))))
                continue
            target = self.rows.get(value["id"])
            if target is not None and target.kind == "proposition" and target.action == CREATE and target.code is None:
                return False
            code, identity = self.code(value["id"]), self.identity_of(value["id"])
            if code is None and identity is None:
                row.refuse(f"/{name}: {value['id']!r} stands for nothing here")
                return True
            ends.append(code if code is not None else ("identity", identity))
        self._settle(row, record, ends[0], ends[1])
        return True

    def _settle(self, row: Row, record: Mapping[str, Any], subject: Any, object_: Any) -> None:
        ref = self.symbols.ref(Used(PredicateType, record["predicate_ref"]))
        if ref is None:
            self._number(row)  # the missing symbol is reported for the whole Capsule
            return
        lineage = self.view.environment.lineage(ref)
        key = (subject, lineage, object_)
        found = self._tuples.get(key)
        if found is None:
            found = self._stored(subject, lineage, record, object_)
            row.reason = "the same tuple" if found is not None else row.reason
        if found is None:
            self._number(row)
            assert row.code is not None
            found = row.code
        else:
            row.action, row.code, row.reason = MATCH, found, "the same tuple"
        self._tuples[key] = found

    def _stored(self, subject: Any, lineage: str, record: Mapping[str, Any], object_: Any) -> int | None:
        view = self.view
        number = view.lineage_number(lineage)
        terms = [self._term(end, value) for end, value in ((subject, None), (object_, record["object"]))]
        known = [term for term in terms if term is not None and (term < 0 or view.exists(term))]
        if number is None or len(known) < 2:
            return None  # an end is new, and so is the tuple
        row = view.tuple_row(known[0], number, known[1])
        code = None if row is None else element_code(1, row)
        return code if code is not None and self._stands(code) else None

    def _term(self, end: Any, value: Json) -> int | None:
        if isinstance(end, int):
            return end
        literal = CanonicalReference(end[1]) if end[0] == "identity" else canonical_literal(value)
        return self.view.literal_code(literal)  # type: ignore[arg-type]

    # what a record can not stand without

    def _dependents(self) -> None:
        """A new element whose required reference stands for nothing is a conflict, and so is what needs it."""
        changed = True
        while changed:
            changed = False
            for row in self.rows.values():
                if row.action == CREATE and (problem := self._unresolved(row)) is not None:
                    row.refuse(problem)
                    changed = True

    def _unresolved(self, row: Row) -> str | None:
        self._budget.spend()
        record = self.capsule.records[row.id]
        if (problem := self._unmergeable(record)) is not None:
            return problem
        left_out = []
        for reference in references.of(record, self.symbols.environment):
            code = self.code(reference.id)
            if code is not None or (row.kind == "proposition" and self.identity_of(reference.id) is not None):
                if reference.path == "/asserted_by" and code is not None and self._is_self(code):
                    return "/asserted_by: a claim from elsewhere does not become the destination's own (§38.4)"
                continue
            if reference.need == references.REQUIRED:
                return f"{reference.path}: {reference.id!r} stands for nothing here"
            left_out.append(reference.path)
        row.left_out = [path for path in row.left_out if path == "/key"] + left_out
        return None

    def _unmergeable(self, record: Mapping[str, Any]) -> str | None:
        """Why a Concept can not be merged into what it names here: what holds for a merge by a statement (§11.1, §61),
        and that whatever it stands for elsewhere does not become the destination's self (§38.4)."""
        merged = record.get("merged_into")
        if merged is None or (code := self.code(merged["id"])) is None:
            return None
        into = self.capsule.records.get(merged["id"])
        if self._is_self(code):
            return "/merged_into: nothing becomes the destination's self by itself (§38.4)"
        if self.view.exists(code):
            if self.view.state(code) == "tombstoned":
                return f"/merged_into: {element_id(code)} is tombstoned here"
            same = kind_of(code) == CONCEPT and self._same_type(code, record)
        else:
            same = into is not None and self._lineage(into) == self._lineage(record)
        return None if same else "/merged_into: two Concepts of different types are not one"

    # small things

    def _lineage(self, record: Mapping[str, Any]) -> str | None:
        ref = self.symbols.ref(Used(ConceptType, record["schema_ref"]))
        return None if ref is None else self.view.environment.lineage(ref)

    def _number(self, row: Row) -> None:
        kind = KINDS.index(row.kind)
        row.code = element_code(kind, self._next[kind])
        self._next[kind] += 1

    def _stands(self, code: int) -> bool:
        return self.view.exists(code) and self.view.state(code) != "purged"

    def _is_self(self, code: int) -> bool:
        """Whether an element is the destination's self, also by a merge that the importer does not see."""
        return self._self is not None and self._whole.exists(code) and self._whole.canonical(code) == self._self

    def _same_type(self, code: int, record: Mapping[str, Any]) -> bool:
        if kind_of(code) != CONCEPT:
            return True
        held = self.view.record(code)
        return self._lineage(record) == self.view.environment.lineage(held.schema)  # type: ignore[union-attr]


def follows(view: "View", row: Row) -> bool:
    """Whether a matched record was brought by an import, so that what its source says of its lifecycle counts."""
    if row.action != MATCH or row.code is None or not view.exists(row.code):
        return False
    return row.reason == "imported before" and view.record(row.code).origin.import_id is not None


def _code(row: Row) -> tuple[int, int]:
    assert row.code is not None
    return row.code & 7, row.code >> 3
