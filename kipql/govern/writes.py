"""The gate of a transaction: its writer makes no change that it may not make (specification §28.4, §29, §32.3).

A statement is let in when the writer holds a permission it could need at all, and stands when what it changed is
permitted element by element: that is judged from the states before and after. Rules are changed by commits, and
nobody else can write meanwhile, so what held for the statement holds at the commit (§28.6).

What is hidden from the writer stays unknown to it: it can be neither named nor matched, and where it is in the way
(a key, a tuple, a client key that it holds) the error says that much and no more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.govern.authority import Authority
from kipql.govern.requirements import OUTCOME, Need, change, creation
from kipql.govern.scopes import Facts, Labels
from kipql.govern.view import authorized
from kipql.govern.visibility import facts_of
from kipql.lang import ast
from kipql.model import (
    ACTIVITY,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    Proposition,
    element_id,
    parse_id,
)
from kipql.store.view import View

if TYPE_CHECKING:
    from kipql.store.transaction import Transaction

_SPEAKING = ("assert", "record_attributed_assertion", "assert_as_actor")
_MOVES: Mapping[str, tuple[str, ...]] = {
    "archived": ("archive",),
    "tombstoned": ("tombstone",),
    "retracted": ("retract_own",),
    "superseded": ("supersede_own",),
}
_STATEMENTS: Mapping[type, tuple[str, ...]] = {
    ast.CreateConcept: ("create",),
    ast.UpsertConcept: ("update", "create"),
    ast.EnsureProposition: ("create",),
    ast.Assert: _SPEAKING,
    ast.Update: ("update", "maintain"),
    ast.SetRetention: ("manage_retention", "manage_legal_hold"),
    ast.Purge: ("purge",),
    ast.MergeConcept: ("merge_identity",),
    ast.Define: ("propose_schema",),
}
_ID = re.compile(r"\b[CPAEX]-[1-9][0-9]*\b")
_PLANES = ("attributes", "structural", "retention")
_NEUTRAL = ("NotFoundOrNotVisible", "ReferenceError", "InvalidSyntax")


class Gate:
    """The gate of one transaction for one writer.

    used     approvals that its operations have used up
    waiting  what a caller may be told about the request that failed for want of an approval
    """

    __slots__ = ("_authority", "_tx", "used", "waiting")

    def __init__(self, authority: Authority, tx: "Transaction") -> None:
        self._authority = authority
        self._tx = tx
        self.used: set[str] = set()
        self.waiting: dict[str, Any] | None = None

    def seen(self, view: View) -> View:
        """What the writer may see of the transaction's state."""
        return authorized(view, self._authority)

    def admit(self, statement: ast.Node) -> None:
        """Raise NotAuthorized for a statement none of whose permissions is held."""
        for clause in statement.statements if isinstance(statement, ast.Mutate) else (statement,):
            needed = _permissions_of(clause)
            if needed:
                try:
                    self._authority.require(*needed)
                except KipError as error:
                    error.span = error.span or clause.span
                    raise

    def check(self, codes: Iterable[int]) -> None:
        """Judge what a statement changed. Raises NotAuthorized, ActorBindingRequired, RetractionNotAuthorized,
        RequiresApproval, or the error of what a hidden element holds already."""
        tx = self._tx
        base, view = tx.base, tx.view
        waiting: dict[str, list[int]] = {}
        made: list[tuple[int, AnyRecord]] = []
        unseen = purging = False
        for code in dict.fromkeys(codes):
            if not view.exists(code):
                continue
            new = view.record(code)
            old = base.record(code) if base.exists(code) else None
            if old is None:
                made.append((code, new))
            else:
                unseen = unseen or not self.seen(base).exists(code)
                purging = purging or (new.state == "purged" != old.state)
            for need in creation(new, self._is_outcome) if old is None else change(old, new, self._is_outcome):
                permission = self._allowed(code, old, new, need)
                if permission in self._authority.policy.approvals:
                    waiting.setdefault(permission, []).append(code)
        if unseen:
            raise self._unreachable(purging)
        for code, new in made:  # after every permission: who may not write it learns nothing of what is in the way
            self._collide(code, new)
        for permission, held in waiting.items():
            self._approved(permission, held)

    def told(self, entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The changes of a rehearsal with the counters that the writer reads: nothing hidden moved one of them."""
        base = self._tx.base
        seen = self.seen(base)
        return [self._counted(dict(entry), base, seen) for entry in entries]

    def _counted(self, entry: dict[str, Any], base: View, seen: View) -> dict[str, Any]:
        code = parse_id(entry["id"])
        if code is None or not base.exists(code):
            return entry
        true, shown = base.record(code), seen.record(code)
        for name in ("old_version", "new_version"):
            if name in entry:
                entry[name] -= true.version - shown.version
        if "planes" in entry:
            moved = {name: getattr(true.planes, name) - getattr(shown.planes, name) for name in _PLANES}
            entry["planes"] = {
                name: count - moved[name] if name in moved else count for name, count in entry["planes"].items()
            }
        return entry

    def neutral(self, error: KipError) -> KipError:
        """The error without the ids of elements that the writer may not see."""
        if error.code in _NEUTRAL:
            return error
        view = self.seen(self._tx.view)

        def hidden(text: object) -> bool:
            code = parse_id(text) if isinstance(text, str) else None
            return code is not None and self._tx.view.exists(code) and not view.exists(code)

        def shown(text: str | None) -> str | None:
            if text is None:
                return None
            return _ID.sub(lambda match: "another element" if hidden(match[0]) else match[0], text)

        error.message = shown(error.message) or ""
        error.hint = shown(error.hint)
        error.details = {name: value for name, value in error.details.items() if not hidden(value)}
        return error

    # permissions

    def _allowed(self, code: int, old: AnyRecord | None, new: AnyRecord, need: Need) -> str:
        """The permission that lets a change pass. Raises when none does."""
        authority = self._authority
        if need.speaks:
            assert isinstance(new, Assertion)
            return self._speaks(code, new)
        facts = self._facts(code, old)
        if need.own and not self._own(new):
            raise self._not_own(code, need)
        for permission in need.one_of:
            if authority.may(permission, facts, code) and self._reaches(permission, facts, code, need.facets):
                return permission
        raise authority.refusal(need.one_of[0], self._named(code))

    def _reaches(self, permission: str, facts: Facts, code: int, facets: tuple[str, ...]) -> bool:
        if not facets:
            return True
        reached = self._authority.facets(permission, facts, code)
        lineage = self._tx.view.environment.lineage
        return reached is None or all(lineage(ref) in reached for ref in facets)

    def _speaks(self, code: int, record: Assertion) -> str:
        """§28.4: an actor that the writer represents, another one, or one that only its representatives speak for."""
        authority, facts = self._authority, self._facts(code, None)
        if self._represents(record.asserted_by):
            for permission in ("assert", "assert_as_actor"):
                if authority.may(permission, facts, code):
                    return permission
            raise authority.refusal("assert")
        if self._among(record.asserted_by, authority.policy.reserved):
            raise KipError(
                "ActorBindingRequired",
                f"{authority.principal.id} is not bound to {self._named(record.asserted_by)}, and only who is may write"
                " claims by it",
                hint="nexus.govern.bind makes the binding",
                details={"permission": "assert_as_actor", "actor": element_id(record.asserted_by)},
            )
        if authority.may("record_attributed_assertion", facts, code):
            return "record_attributed_assertion"
        raise authority.refusal("record_attributed_assertion")

    def _own(self, record: AnyRecord) -> bool:
        """Whether a claim is by an actor that the writer represents, or was recorded by the writer."""
        assert isinstance(record, Assertion)
        return self._represents(record.asserted_by) or record.origin.principal_id == self._authority.principal.id

    def _not_own(self, code: int, need: Need) -> KipError:
        if "retract_own" in need.one_of:
            return KipError(
                "RetractionNotAuthorized",
                f"{self._named(code)} is not {self._authority.principal.id}'s to retract",
                hint="a claim is retracted by whom it is by; disagree with an Assertion of your own",
                details={"permission": "retract_own"},
            )
        return self._authority.refusal(need.one_of[0], self._named(code))

    def _represents(self, actor: int) -> bool:
        return self._among(actor, self._authority.actors)

    def _among(self, actor: int, ids: frozenset[str]) -> bool:
        """Whether an actor is one of some, identities resolved."""
        if not ids:
            return False
        view = self._tx.view
        wanted = view.canonical(actor)
        codes = (view.code(each) for each in ids)
        return any(view.canonical(code) == wanted for code in codes if code is not None)

    # approval

    def _approved(self, permission: str, codes: list[int]) -> None:
        """Let a second decision through, once. Raises RequiresApproval while there is none."""
        authority = self._authority
        ids = sorted(element_id(code) for code in codes if self._tx.base.exists(code))
        text = repr((authority.principal.id, permission, ids, len(codes)))
        request = f"apr-{blake2b(text.encode(), digest_size=8).hexdigest()}"
        approver = authority.policy.approved.get(request)
        if approver is not None and approver != authority.principal.id:
            self.used.add(request)
            return
        self.waiting = {
            "request": request,
            "principal_id": authority.principal.id,
            "permission": permission,
            "elements": ids,
        }
        raise KipError(
            "RequiresApproval",
            f"{permission} waits for the approval of somebody else",
            hint=f"who holds approve calls nexus.govern.approve({request!r}); then send it again",
            details={"request": request, "permission": permission},
        )

    # what hidden elements hold

    def _unreachable(self, purging: bool) -> KipError:
        """A statement whose effects reach what its writer may not see: a purge that takes its references along, or
        tombstones them (§60.3). The permission for what is seen is none for what is not (§30.4)."""
        if purging:
            message = "what would go with it is not all this caller's to purge"
            return KipError("PurgeDenied", message, hint="who may see all that refers to it can purge it")
        return self._authority.refusal("discover")

    def _collide(self, code: int, record: AnyRecord) -> None:
        """Uniqueness holds over the whole Space, also where its other half may not be seen."""
        if isinstance(record, Concept):
            self._collide_keys(code, record)
        elif isinstance(record, Proposition):
            view, seen = self._tx.view, self.seen(self._tx.view)
            number = view.lineage_number(view.environment.lineage(record.predicate))
            rows = view.slot(record.subject, number) if number is not None else ()
            others = (row * 8 + PROPOSITION for row in rows if view.objects[row] == record.object)
            if any(other != code and not seen.exists(other) and view.state(other) != "purged" for other in others):
                raise KipError("NotAuthorized", "this tuple may not be written", details={"permission": "discover"})

    def _collide_keys(self, code: int, record: Concept) -> None:
        view, seen = self._tx.view, self.seen(self._tx.view)
        lineage = view.lineage_number(view.environment.lineage(record.schema))
        if record.key is not None:
            for row in view.keyed(record.key, lineage):
                other = row * 8 + CONCEPT
                if other != code and not seen.exists(other) and view.state(other) != "purged":
                    raise KipError("IdentityConflict", f"the key {record.key!r} is taken in this Concept Type")

    # small things

    def _facts(self, code: int, old: AnyRecord | None) -> Facts:
        tx = self._tx
        return facts_of(tx.view.graph, tx.view.environment, code, tx.seq if old is None else tx.base.seq)

    def _is_outcome(self, code: int) -> bool:
        if code & 7 != EVIDENCE:
            return False
        record = self._tx.view.record(code)
        return isinstance(record, Evidence) and record.evidence_class == OUTCOME

    def _named(self, code: int) -> str:
        shown = self.seen(self._tx.view).exists(code)
        return element_id(code) if shown else "an element"


def _permissions_of(clause: ast.Node) -> tuple[str, ...]:
    """Permissions of which a clause needs one at least; none where that depends on more than its text."""
    if isinstance(clause, ast.CreateRecord):
        return _SPEAKING if clause.kind == "Assertion" else ("create",)
    if isinstance(clause, ast.Transition):
        state = clause.state
        return _MOVES.get(str(state.value), ("update",)) if isinstance(state, ast.Literal) else ()
    return _STATEMENTS.get(type(clause), ())


def inherited(tx: "Transaction", labels: Labels) -> Iterator[tuple[int, str]]:
    """New elements that an Activity put out, with the highest label of what went in (§31.2): derived content does
    not declassify its sources by itself."""
    view, created, rank = tx.view, set(tx.created), labels.rank
    for code in created:
        if code & 7 != ACTIVITY:
            continue
        activity = view.record(code)
        assert isinstance(activity, Activity)
        found = [view.record(edge.target).classification for edge in activity.inputs]
        known = [label for label in found if label is not None]
        if not known:
            continue
        highest = max(known, key=rank)
        for edge in activity.outputs:
            held = view.record(edge.target).classification
            if edge.target in created and (held is None or rank(held) < rank(highest)):
                yield edge.target, highest
