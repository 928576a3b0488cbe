"""What every host decision about Governance shares: one commit with an `authorization` control change (§28, §36.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kipql.govern.policy import CONTROL, Policy
from kipql.model import AnyRecord, element_id
from kipql.runtime.guard import reraise
from kipql.runtime.memory import Memory
from kipql.runtime.receipt import Receipt
from kipql.runtime.rules import Operation
from kipql.runtime.session import Session
from kipql.runtime.work import Work


class Deciding:
    """A host that decides: who may, what holds now, and the commit that changes it."""

    __slots__ = ("_memory", "_session")

    def __init__(self, memory: Memory, session: Session) -> None:
        self._memory = memory
        self._session = session

    @property
    def _policy(self) -> Policy:
        return self._session.space.governance.policy

    def _require(self, *permissions: str) -> None:
        self._session.authority.require(*permissions)

    def _elements(self, op: str, codes: Sequence[int], members: Mapping[str, Any]) -> Receipt:
        def changed(record: AnyRecord) -> AnyRecord:
            return replace(record, **members)

        view = self._session.space.view()
        moved = [code for code in codes if changed(view.record(code)) != view.record(code)]
        ids = [element_id(code) for code in moved]
        return self._change([{"op": op, "elements": ids, **members}] if moved else [], dict.fromkeys(moved, changed))

    def _change(
        self, operations: Sequence[Operation], elements: Mapping[int, Callable[[AnyRecord], AnyRecord]] | None = None
    ) -> Receipt:
        """One commit with these operations, and with what they do to elements."""
        session, policy = self._session, self._policy
        try:
            session.refuse_writing()
            if policy.after(operations).configured:
                self._memory.remember_governed()  # before the rule: a crash between must not leave others open
            with Work(session, session.budget()) as work:

                def decide(tx: Any, write: Any) -> None:
                    for code, changed in (elements or {}).items():
                        tx.put(code, changed(tx.view.record(code)))
                    if elements or policy.after(operations) != policy:
                        tx.control(CONTROL, {"operations": list(operations)})

                work.protected(decide)
                return work.commit()
        except Exception as error:
            reraise(error)
