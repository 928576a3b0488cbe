"""From a Formed to the graph: claims in the speaker's name, at the time they were said, citing their source (§4, §5.1).

A correction supersedes the one claim it is about, by the same actor, and keeps its world interval; a world change is
one new claim from the change; nothing is superseded on a guess.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.forming import Claim, Formed, Heard, Named, Promise, quoted
from kipql.memory.interface.scopes import FACET, Scope

if TYPE_CHECKING:
    from kipql import Transaction
    from kipql.memory.graph import Reader

NO_SPEAKER = "the host does not know who speaks, so nothing is claimed in anybody's name"
NO_TARGET = "which earlier claim of the speaker is corrected is not clear, so nothing was superseded"
NOTHING_READ = "no claim was found in the source, so nothing that was believed is changed by it"
ERASED = "the content of the source was erased before anything was formed of it"


@dataclass(slots=True)
class Written:
    """What came of a source."""

    refs: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    claims: int = 0
    promises: int = 0
    superseded: int = 0

    @property
    def summary(self) -> str:
        """In words that repeat nothing of the source, so that erasing the source is enough."""
        parts = [_several(self.claims, "claim"), _several(self.promises, "commitment")]
        parts += [f"{_several(self.superseded, 'earlier claim')} superseded"] if self.superseded else []
        said = ", ".join(each for each in parts if not each.startswith("0 "))
        return f"formed {said}" if said else "kept as Evidence; nothing was formed of it"


def write(tx: "Transaction", heard: Heard, formed: Formed, scope: Scope) -> Written:
    """Write what was formed. Raises what the statements raise; a gap is in the answer."""
    written = Written(gaps=list(formed.gaps))
    if heard.speaker is None:
        if formed.claims or formed.promises:
            written.gaps.append(NO_SPEAKER)
        return written
    if heard.change_kind in ("correction", "world_change") and not formed.claims and not formed.gaps:
        written.gaps.append(NOTHING_READ)
    for claim in formed.claims:
        _claim(tx, heard, claim, scope, written)
    for promise in formed.promises if heard.change_kind in (None, "unspecified") else ():
        written.refs.append(_promise(tx, heard, promise, scope))
        written.promises += 1
    return written


def _claim(tx: "Transaction", heard: Heard, claim: Claim, scope: Scope, written: Written) -> None:
    subject, made = subject_of(tx, heard, claim, scope)
    target, more = object_of(tx, claim.object)
    values = {"s": subject, "o": target, "valid": _valid(claim, heard)}
    superseding = ""
    if heard.change_kind == "correction":
        old = corrected(tx, heard, claim, subject, target)
        if old is None:
            written.gaps.append(NO_TARGET)
            return
        superseding = " SUPERSEDING :old"
        values |= {"old": old["id"], "valid": _interval(claim, old)}
        written.superseded += 1
    text, parameters = assertion(heard, claim, scope, values, handle="a")
    receipt = tx.execute(text + superseding, parameters)
    assert isinstance(receipt, kipql.Receipt)
    written.refs += [*made, *more, receipt.handles["a"]]
    written.claims += 1


def assertion(
    heard: Heard, claim: Claim, scope: Scope, values: Mapping[str, Any], handle: str
) -> tuple[str, dict[str, Any]]:
    """The ASSERT of a claim and its parameters."""
    members: dict[str, Any] = {
        "by": heard.speaker,
        "at": heard.observed_at,
        "evidence": heard.evidence_id,
        "stance": claim.stance,
    }
    members |= {"confidence": claim.confidence} if claim.confidence is not None else {}
    members |= {"valid": values["valid"]} if values.get("valid") else {}
    members |= {"context": list(scope.contexts)} if scope.contexts else {}
    listed = ", ".join(f"{name}: :{name}" for name in members)
    text = f'ASSERT ?{handle} (:s, {quoted(claim.predicate)}, :o) {{mode: "stated", {listed}}}'
    rest = {name: value for name, value in values.items() if name != "valid"}
    return text, {**rest, **members}


def subject_of(tx: "Transaction", heard: Heard, claim: Claim, scope: Scope) -> tuple[str, list[str]]:
    """The subject of a claim, and what was made for it."""
    if claim.subject is not None:
        return _concept(tx, claim.subject)
    if claim.about_task and scope.task_id is not None:
        return scope.task_id, []
    assert heard.speaker is not None
    return heard.speaker, []


def object_of(tx: "Transaction", given: Any) -> tuple[Any, list[str]]:
    """The object of a claim, and what was made for it."""
    return _concept(tx, given) if isinstance(given, Named) else (given, [])


def _concept(tx: "Transaction", named: Named) -> tuple[str, list[str]]:
    where = f"{{type: {quoted(named.type)}, key: :key}}"
    found = tx.query(f"FIND(?c.id) WHERE {{ ?c {where} }}", {"key": named.identity}).rows
    if found:
        return str(found[0]), []
    text = f"CREATE CONCEPT ?c {{ TYPE {quoted(named.type)} NAME :name SET FIELDS {{key: :key}} }}"
    receipt = tx.execute(text, {"key": named.identity, "name": named.name})
    assert isinstance(receipt, kipql.Receipt)
    return receipt.handles["c"], [receipt.handles["c"]]


def _valid(claim: Claim, heard: Heard) -> dict[str, Any] | None:
    """The world interval that the source states. A change whose date it does not state began by when it was said."""
    start: Any = claim.since
    if start is None and heard.change_kind == "world_change":
        start = {"latest": heard.observed_at}
    found = {"from": start, "until": claim.until}
    return {name: value for name, value in found.items() if value is not None} or None


def _interval(claim: Claim, old: Mapping[str, Any]) -> dict[str, Any]:
    """The interval of a corrected claim, kept by the correction (§14.2), but where that states another."""
    valid = old.get("valid_time") or {}
    found = {
        "from": claim.since or valid.get("from") or {"latest": old["asserted_at"]},
        "until": claim.until or valid.get("until"),
    }
    return {name: value for name, value in found.items() if value is not None}


_SLOT = """FIND(?a, ?o) WHERE {{
  ?p (:s, {predicate}, ?o)
  ?a ASSERTION {{proposition: ?p, asserted_by: :by}}
  FILTER(?a.lifecycle.status == "active")
}}"""


def corrected(tx: "Reader", heard: Heard, claim: Claim, subject: str, target: Any) -> Mapping[str, Any] | None:
    """The one active claim of the speaker that a correction is about, None where it is not clear which."""
    text = _SLOT.format(predicate=quoted(claim.predicate))
    found = tx.query(text, {"s": subject, "by": heard.speaker}).rows
    kind = _kind(tx, target) if isinstance(claim.object, Named) else None
    fitting = [
        each
        for each, held in found
        if sorted(each["context_refs"], key=str) == _refs(heard.context_refs)
        and (kind is None or held.get("schema_ref") == kind)
        and (heard.target is None or each["id"] == heard.target["assertion_id"])
    ]
    return fitting[0] if len(fitting) == 1 else None


def _refs(ids: tuple[str, ...]) -> list[Any]:
    return [{"id": each} for each in sorted(ids)]


def _kind(tx: "Reader", identity: str) -> Any:
    return tx.query("FIND(?c.schema_ref) WHERE { ?c CONCEPT {id: :id} }", {"id": identity}).rows[0]


_PROMISE = f"""CREATE CONCEPT ?c {{
  TYPE "kip://profiles/cognitive-memory/Commitment"
  SET ATTRIBUTES {{summary: :summary, status: "pending", due_at: :due, created_at: :at}}
  SET FACET "{FACET}" {{task_ref: :task, context_refs: :contexts}}
  SET STRUCTURAL {{ (:edge, :speaker) }}
}}"""


def _promise(tx: "Transaction", heard: Heard, promise: Promise, scope: Scope) -> str:
    edge = f"kip://profiles/cognitive-memory/{'owed_to' if promise.owed else 'committed_to'}"
    values = {"summary": promise.summary, "due": promise.due_at, "at": heard.observed_at, "speaker": heard.speaker}
    text = _PROMISE.replace(":edge", quoted(edge))
    receipt = tx.execute(text, {**values, "task": scope.task_id, "contexts": list(scope.contexts)})
    assert isinstance(receipt, kipql.Receipt)
    return receipt.handles["c"]


def _several(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
