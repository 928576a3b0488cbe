"""Plain claims by the thousand: the loop of a load (`kipql.mutate.load`), with the checks of `Claims` for each record.

Propositions are written as they come, since the next record may name the same tuple; Assertions wait in lists and go
into the columns together. Whatever is no plain claim ends the run with everything before it written.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import CONCEPT
from kipql.mutate.claims import FLAGS, MISSING, NUMBERS, PLAIN, SUPPORTS, UNSTATED, Unusual, claims_of
from kipql.store.claiming import NO_EVIDENCE, claim_all, propose
from kipql.store.columns import MOST_ROWS
from kipql.store.records import EXACT, FROM_SHIFT, NEVER
from kipql.times import FOREVER, parse_instant
from kipql.values import canonical_literal

if TYPE_CHECKING:
    from kipql.limits import Budget
    from kipql.store import Transaction

_MEMBERS = frozenset(("kind", "as", "subject", "predicate", "object", *PLAIN))
_FROM = EXACT << FROM_SHIFT


class Bulk:
    """The plain claims of one load. References see what the load made so far, through `names` and by id."""

    def __init__(self, tx: "Transaction", names: dict[str, str], budget: "Budget") -> None:
        self._tx = tx
        self._names = names
        self._spend = budget.spend
        self._known: dict[str, int] = {}  # ids of living Concepts that were named before

    def write(self, records: Sequence[Mapping[str, Any]], first: int) -> int:
        """Write the records from `first` on while they are plain claims; where the next one is that was not written.

        Raises what the budget raises, with what came before written.
        """
        tx = self._tx
        view, at, graph = tx.view, tx.at, tx.view.graph
        claims = claims_of(graph, view.schema_entry)
        if not claims.usable or graph.identity_seqs:
            return first
        tx.touch()
        names, known, spend = self._names, self._known, self._spend
        relations, named, element = claims.relations, claims.named, claims.element
        walk = graph.slots.walk
        row = len(graph.assertions.asserted_at)
        most = min(len(records), first + MOST_ROWS - max(row, len(graph.propositions)))
        packed: list[tuple[Any, ...]] = []
        moments: list[int] = []
        confidences: list[float] = []
        cited: list[int] = []
        places: list[int] = []
        number = first
        try:
            for number in range(first, most):
                record = records[number]
                if record.__class__ is not dict or record["kind"] != "assertion" or not _MEMBERS.issuperset(record):
                    break
                name = record.get("as")
                if name is not None and name.__class__ is not str:
                    break
                get = record.get
                # the ends and the actor
                value = record["subject"]
                if value.__class__ is dict and len(value) == 1 and "ref" in value:
                    value = names[value["ref"]]
                about = known.get(value) if value.__class__ is str else None
                if about is None:
                    about = element(view, value, known)
                value = record["by"]
                if value.__class__ is dict and len(value) == 1 and "ref" in value:
                    value = names[value["ref"]]
                actor = known.get(value) if value.__class__ is str else None
                if actor is None:
                    actor = element(view, value, known)
                    if actor & 7 != CONCEPT:
                        break
                value = record["predicate"]
                relation = relations.get(value) or claims.relation(value)
                value, literal = record["object"], MISSING
                if value.__class__ is dict:
                    if len(value) == 1 and "ref" in value:
                        value = names[value["ref"]]
                    term = known.get(value) if value.__class__ is str else None
                    if term is None:
                        term = element(view, value, known)
                else:
                    term = None
                    if value.__class__ is str and relation.elements:
                        term = known.get(value)
                        if term is None:
                            term = named(view, value, known)
                    if term is None:
                        literal = canonical_literal(value)
                        term = graph.literals.find(literal)
                # what is said
                flags = FLAGS[get("stance", "support")][record["mode"]]
                confidence = get("confidence")
                if confidence is None:
                    confidence = UNSTATED
                elif confidence.__class__ not in NUMBERS or not 0 <= confidence <= 1:
                    break
                moment = at if "at" not in record else parse_instant(record["at"])
                start, until = moment, FOREVER
                value = get("valid")
                if value.__class__ is dict and len(value) == 1 and "from" in value and value["from"].__class__ is str:
                    start = parse_instant(value["from"])
                    flags |= _FROM
                elif value is not None:
                    more, start, until = claims.interval(value, moment)
                    flags |= more
                evidence = NO_EVIDENCE
                if "evidence" in record:
                    evidence = claims.evidence(view, self._named(record["evidence"]))
                    flags |= SUPPORTS
                # the tuple
                lineage = relation.lineage
                if lineage < 0:
                    slot, proposition = claims.stored(relation, about, term)
                else:
                    slot = walk(about, lineage)
                    proposition = -1 if slot < 0 or term is None else claims.within(relation, slot, term)
                if proposition < 0:
                    claims.admit(relation, about, term, literal)
                    if relation.symbol < 0:
                        claims.number(relation)
                    if term is None:
                        term = graph.literals.intern(literal)
                    proposition, slot = propose(graph, slot, about, relation.symbol, relation.lineage, term)
                    lineage = relation.lineage
                spend()
                packed.append((NEVER, flags, start, until, actor, term, proposition, lineage))
                moments.append(moment)
                confidences.append(confidence)
                cited.append(evidence)
                places.append(slot)
                row += 1
                if name is not None:
                    names[name] = f"A-{row}"
            else:
                number = most
        except (Unusual, LookupError, TypeError):
            pass
        except KipError as error:
            if error.code in ("ExecutionTimeout", "ResourceExhausted"):
                error.details["record"] = number
                raise
        finally:
            if packed:
                claim_all(graph, packed, places, moments, confidences, cited)
        return number

    def _named(self, value: Any) -> Any:
        """A reference, or an array of them, with names of the load replaced."""
        if value.__class__ is list:
            return [self._named(item) for item in value]
        if value.__class__ is dict and len(value) == 1 and "ref" in value:
            return {"id": self._names[value["ref"]]}
        return value
