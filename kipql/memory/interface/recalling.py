"""recall: a bounded briefing, the expansion of an earlier result, or attention (§4 to §6). It writes nothing."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface import grounding
from kipql.memory.interface.attention import Page, page
from kipql.memory.interface.coverage import COMPLETE, NOT_APPLICABLE, Coverage, summary
from kipql.memory.interface.intake import OUTCOME, Intake, noted, of_source, pending, progress, receipt
from kipql.memory.interface.reading import Reading, reading
from kipql.memory.interface.scopes import Scope, resolve
from kipql.memory.interface.sources import captured
from kipql.memory.interface.targets import target
from kipql.memory.interface.wire import MOST, Request

if TYPE_CHECKING:
    from kipql import Nexus

KEPT = 256
_MANDATORY = ("constraint", "warning")
_PINNED = ("mode", "query", "goal", "context", "after", "as_of_seq")


@dataclass(slots=True)
class Recaller:
    """What recall needs of a binding, and the bases and continuations that it keeps for a while."""

    nexus: "Nexus"
    constraints: Sequence[str]
    limit: int
    wait: bool
    _kept: "OrderedDict[str, Mapping[str, Any]]" = field(default_factory=OrderedDict)

    def recall(self, request: Request, deadline_ms: int) -> "Briefing":
        """The briefing of a request. Raises KipError."""
        scope = resolve(self.nexus, request.task_ref, request.context_refs)
        given = request.input
        ref = given["target_ref"]
        if ref is not None and ref.startswith("mc:"):
            return self._continue(request, scope, ref, deadline_ms)
        if ref is not None and ref.startswith("mb:"):
            return self._basis(request, scope, ref)
        if ref is not None:
            return self._expand(request, scope, ref, deadline_ms)
        return self._brief(request, scope, given, deadline_ms)

    def _brief(
        self, request: Request, scope: Scope, given: Mapping[str, Any], deadline_ms: int, skip: Sequence[str] = ()
    ) -> "Briefing":
        barrier = self._barrier(given["after"], given["as_of_seq"], deadline_ms)
        at = reading(self.nexus, scope, given["as_of_seq"], given["valid_at"])
        made = Briefing(reading=at, scope=scope, after=barrier, detail=given["detail"], asked=given)
        self._unsettled(made, given)
        if given["mode"] == "attention":
            made.attend(given["attention_cursor"])
        else:
            self._channels(made)
            self._answer(made, given)
            if given["mode"] == "resume":
                made.take(grounding.working_states(at))
                made.attend(given["attention_cursor"])
        made.items = [each for each in made.items if each["ref"] not in skip]
        made.skipped = tuple(skip)
        return made

    def _barrier(self, refs: Sequence[str], as_of: int | None, deadline_ms: int) -> list[dict[str, Any]]:
        """The progress of every receipt to wait for. Raises NotFoundOrNotVisible, PreconditionFailed."""
        until = time.monotonic() + deadline_ms / 1000
        while True:
            found = [progress(self.nexus, receipt(self.nexus, ref)) for ref in refs]
            if not self.wait or all(each["phase"] != "recorded" for each in found) or time.monotonic() >= until:
                break
            time.sleep(min(0.02, max(0.0, until - time.monotonic())))
        newer = [each for each in found if as_of is not None and each.get("available_seq", as_of + 1) > as_of]
        if newer:
            raise kipql.KipError(
                "PreconditionFailed",
                "a barrier is newer than the state that as_of_seq fixes",
                hint="leave one of them out",
            )
        return found

    def _unsettled(self, made: "Briefing", given: Mapping[str, Any]) -> None:
        """What is recorded and not processed may change the answer: it is said, and the answer is not complete."""
        coverage = made.coverage
        for each in made.after:
            if each["phase"] == "recorded":
                coverage.pending.append(each["receipt_ref"])
            elif each["phase"] == "failed":
                coverage.unsettled = True
                coverage.unverified.append(f"what {each['receipt_ref']} recorded could not be processed")
        coverage.channels["evidence"] = COMPLETE
        if given["as_of_seq"] is None:
            here = [each for each in pending(self.nexus) if _touches(each, made.scope)]
            coverage.pending += [each.receipt_ref for each in here if each.principal == self.nexus.principal.id]
            coverage.unsettled = coverage.unsettled or bool(here)
        if coverage.pending or coverage.unsettled:
            coverage.channels["evidence"] = "unresolved_source"
            made.uncertainties.append("source material that is recorded and not yet understood may change this")

    def _channels(self, made: "Briefing") -> None:
        """What is read exactly, whatever the query is like; and what is there that this level does not serve."""
        at, channels = made.reading, made.coverage.channels
        rules, whole = grounding.constraints(at, self.constraints, self.limit)
        standing, everything = grounding.standing(at)
        channels["constraints"] = COMPLETE if whole and everything else "page_limit"
        made.take(rules)
        made.take(standing)
        owed, whole = grounding.commitments(at, self.limit)
        channels["commitments"] = COMPLETE if whole else "page_limit"
        made.take(owed)
        channels["dependencies"] = COMPLETE
        for names, kind in ((("failures", "experiences"), "Experience"), (("skills",), "Skill")):
            there = grounding.retained(at, kind)
            channels.update(dict.fromkeys(names, "unsupported" if there else NOT_APPLICABLE))
            if there:
                made.uncertainties.append(f"{kind}s are kept here that this level does not serve")

    def _answer(self, made: "Briefing", given: Mapping[str, Any]) -> None:
        query = " ".join(each for each in (given["query"], given["goal"]) if each)
        if not query:
            return
        found = grounding.facts(made.reading, query, self._apart())
        raw = grounding.sources(made.reading, query)
        for each in (found, raw, grounding.Found(items=found.background)):
            made.take(each)
        made.background = {each["ref"] for each in found.background}
        if found.more or raw.more:
            made.uncertainties.append("more may match: what a query is like is read best first and not to the end")
        self._unapplied(made, raw)
        if not found.answered and given["mode"] == "answer":
            made.uncertainties.append("nothing recorded answers this; that is not a no")
            made.coverage.unverified.append("nothing recorded answers the query")

    def _apart(self) -> list[str]:
        return [each.rsplit("/", 1)[-1] for each in self.constraints]

    def _unapplied(self, made: "Briefing", raw: grounding.Found) -> None:
        """A revision that could not be made is said: the structured answer beside it may be the old one."""
        for item in raw.items:
            named = target(item["ref"])
            for intake in of_source(self.nexus, named.id) if named else ():
                outcome = noted(self.nexus, intake, OUTCOME)
                if intake.operation == "revise" and outcome.get("disposition") == "evidence_only":
                    reason = outcome.get("reason", "nothing could be made of it")
                    made.coverage.unverified.append(f"a revision was not applied ({item['ref']}): {reason}"[:4000])
                    made.coverage.channels["evidence"] = "unresolved_source"

    # --- earlier results --------------------------------------------------------------------------------

    def _expand(self, request: Request, scope: Scope, ref: str, deadline_ms: int) -> "Briefing":
        given = request.input
        named = target(ref)
        if named is None or named.id[0] == "X":
            source = captured(self.nexus, ref)
            named = target(source.id) if source is not None else None
        if named is None:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such result here")
        if named.seq is not None and named.seq > self.nexus.space_seq:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such result here")
        barrier = self._barrier(given["after"], given["as_of_seq"], deadline_ms)
        seq = named.seq if named.seq is not None else given["as_of_seq"]
        at = reading(self.nexus, scope, seq, named.valid_at or given["valid_at"])
        made = Briefing(reading=at, scope=scope, after=barrier, detail=given["detail"], asked=given)
        self._unsettled(made, {**given, "as_of_seq": at.seq})
        made.elements = at.elements(_around(at, named.id))
        if not made.elements:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such result here, or it is no longer kept")
        made.expand(named.id, self._apart())
        made.coverage.unverified.append("an expansion is of one result, as it was")
        return made

    def _basis(self, request: Request, scope: Scope, ref: str) -> "Briefing":
        kept = self._kept.get(ref)
        if kept is None or kept["principal"] != self.nexus.principal.id:
            raise kipql.KipError("ArtifactUnavailable", "this basis is not kept, or no longer")
        at = reading(self.nexus, scope, kept["seq"], kept["valid_at"])
        made = Briefing(reading=at, scope=scope, after=[], detail="evidence", asked=request.input)
        made.coverage = kept["coverage"]
        made.basis_ref = ref
        return made

    def _continue(self, request: Request, scope: Scope, ref: str, deadline_ms: int) -> "Briefing":
        kept = self._kept.get(ref)
        if kept is None or kept["principal"] != self.nexus.principal.id:
            raise kipql.KipError("CursorInvalid", "this continuation was not given here, or is no longer kept")
        given, asked = request.input, kept["asked"]
        changed = kept["scope"] != scope.contexts
        changed = changed or any(given[name] not in (None, [], "answer", asked[name]) for name in _PINNED)
        if changed:
            raise kipql.KipError(
                "CursorMismatch", "a continuation keeps its query, scope and barriers", hint="start a new recall"
            )
        same = {**asked, "detail": given["detail"], "target_ref": None, "as_of_seq": kept["seq"]}
        return self._brief(request, scope, {**same, "valid_at": kept["valid_at"]}, deadline_ms, kept["skip"])

    def keep(self, made: "Briefing", shown: Sequence[Mapping[str, Any]], cut: bool) -> tuple[str, str | None]:
        """Keep the basis of a briefing, and where it goes on; their refs."""
        common = {"principal": self.nexus.principal.id, "seq": made.reading.seq, "valid_at": made.reading.valid_at}
        basis = made.basis_ref or f"mb:{secrets.token_hex(12)}"
        self._put(basis, {**common, "coverage": made.coverage})
        if not cut:
            return basis, None
        token = f"mc:{secrets.token_hex(12)}"
        skip = [*made.skipped, *(each["ref"] for each in shown if each["role"] not in _MANDATORY)]
        self._put(token, {**common, "scope": made.scope.contexts, "asked": dict(made.asked), "skip": skip})
        return basis, token

    def _put(self, ref: str, value: Mapping[str, Any]) -> None:
        self._kept[ref] = value
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


@dataclass(slots=True, kw_only=True)
class Briefing:
    """A briefing under way."""

    reading: Reading
    scope: Scope
    after: list[dict[str, Any]]
    detail: str
    asked: Mapping[str, Any]
    items: list[dict[str, Any]] = field(default_factory=list)
    background: set[str] = field(default_factory=set)
    uncertainties: list[str] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    elements: list[dict[str, Any]] = field(default_factory=list)
    raised: Page | None = None
    basis_ref: str | None = None
    skipped: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """`pending` while a barrier waits, `partial` for anything less than complete."""
        if any(each["phase"] == "recorded" for each in self.after):
            return "pending"
        failed = any(each["phase"] == "failed" for each in self.after)
        return "succeeded" if self.coverage.complete and not failed else "partial"

    def take(self, found: grounding.Found) -> None:
        """Take over what was found; a result stands once."""
        there = {each["ref"] for each in self.items}
        self.items += [each for each in found.items if each["ref"] not in there]
        self.uncertainties += found.uncertainties
        self.coverage.unverified += found.unverified

    def attend(self, cursor: str | None) -> None:
        """Add what was raised after a cursor."""
        self.raised = page(self.reading, cursor)
        self.coverage.channels["commitments"] = "page_limit" if self.raised.more else COMPLETE
        if self.raised.more:
            self.uncertainties.append("more was raised: ask again with the cursor")

    def expand(self, identity: str, constraints: Sequence[str]) -> None:
        """Add the one result that is expanded."""
        found = grounding.Found()
        if identity[0] == "P":
            item = grounding.belief(self.reading, identity, found, role="fact")
            found.items += [item] if item is not None else []
        self.take(found)

    def result(self, items: Sequence[Mapping[str, Any]], basis_ref: str, continuation: str | None) -> dict[str, Any]:
        """The Briefing as the wire has it."""
        eligible = self.coverage.action_eligible
        answers = [each for each in items if each["ref"] not in self.background]
        made: dict[str, Any] = {
            "summary": summary(answers, self.coverage, bool(self.asked["query"])),
            "items": [{**each, "action_eligible": each["action_eligible"] and eligible} for each in items],
            "uncertainties": list(dict.fromkeys(each[:4096] for each in self.uncertainties))[:MOST],
            "basis_ref": basis_ref,
            "coverage": self.coverage.shown(self.scope),
            "after": self.after,
        }
        if continuation is not None:
            made["continuation_ref"] = continuation
        if self.detail == "evidence":
            made["details"] = {"basis": dict(self.reading.basis), "coverage": self.coverage.record(self.reading)}
            elements = self.elements or self.reading.elements(_ids(items))
            made["details"]["elements"] = elements[:MOST]
        if self.raised is not None:
            made["attention"] = self.raised.items
            if self.raised.cursor is not None:
                made["attention_cursor"] = self.raised.cursor
        return made

    def fitting(self, count: int) -> list[dict[str, Any]]:
        """The mandatory items and the first of the others, `count` in all where that is possible."""
        first = [each for each in self.items if each["role"] in _MANDATORY]
        return [*first, *[each for each in self.items if each["role"] not in _MANDATORY][: max(0, count - len(first))]]

    @property
    def mandatory(self) -> int:
        """How many items no budget may drop."""
        return sum(each["role"] in _MANDATORY for each in self.items)


def _touches(intake: Intake, scope: Scope) -> bool:
    return intake.operation in ("observe", "revise") and set(intake.scope.contexts) <= set(scope.contexts)


def _around(at: Reading, identity: str) -> list[str]:
    """An element and what it rests on: of a claim its Assertions and the Evidence that they cite."""
    found = [identity]
    if identity[0] in "PA":
        member = "proposition" if identity[0] == "P" else "id"
        rows = at.find("?a.id, ?a.evidence", f"?a ASSERTION {{{member}: :id}}", {"id": identity}).rows
        found += [ref for row in rows for ref in (row[0], *(each["id"] for each in row[1]))]
    return list(dict.fromkeys(found))[:MOST]


def _ids(items: Sequence[Mapping[str, Any]]) -> list[str]:
    named = (target(each["ref"]) for each in items)
    return [each.id for each in named if each is not None]
