"""`execute_kip_readonly`: batches of reads, and the guard against asking again what failed three times.

The memory is seen read-only, so what a command parses to decides: no label, comment or parameter makes a write of it.
The same operation that failed three times in the same way is not run a fourth time while nothing was committed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kipql import Nexus

ALLOWED = 3
_HINT = "it fails the same way each time: change the statement or a parameter, or stop asking"


class Batches:
    """The batches of one Brain."""

    def __init__(self, nexus: "Nexus") -> None:
        self._nexus = nexus.readonly()
        self._failed: dict[str, tuple[int, int, dict[str, Any]]] = {}

    def run(self, operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The response to a batch: one result for each operation, in their order. Never raises a KipError."""
        keys = [json.dumps(operation, sort_keys=True, default=str) for operation in operations]
        held = {at: again for at, key in enumerate(keys) if (again := self._again(key)) is not None}
        asked = [dict(operation) for at, operation in enumerate(operations) if at not in held]
        if not asked:
            return {"kip": "2.0", "status": "failed", "results": [held[at] for at in range(len(operations))]}
        reply = self._nexus.request({"kip": "2.0", "operations": asked, "execution": {"mode": "independent"}})
        if "results" not in reply:
            return reply
        fresh = iter(reply["results"])
        results = [held[at] if at in held else next(fresh) for at in range(len(operations))]
        for at, key in enumerate(keys):
            if at not in held:
                self._note(key, results[at])
        return {**reply, "results": results, "status": _status(results)}

    def _again(self, key: str) -> dict[str, Any] | None:
        known = self._failed.get(key)
        if known is None or known[0] != self._nexus.space_seq or known[1] < ALLOWED:
            return None
        seq, count, error = known
        self._failed[key] = (seq, count + 1, error)
        details = {**error.get("details", {}), "repeat": count + 1}
        retry = {"class": "requires_different_input"}
        return {"status": "failed", "error": {**error, "details": details, "hint": _HINT, "retry": retry}}

    def _note(self, key: str, result: Mapping[str, Any]) -> None:
        if result["status"] == "succeeded":
            self._failed.pop(key, None)
            return
        seq, known = self._nexus.space_seq, self._failed.get(key)
        same = known is not None and known[0] == seq and known[2]["code"] == result["error"]["code"]
        count = known[1] + 1 if same and known is not None else 1
        self._failed[key] = (seq, count, dict(result["error"]))


def _status(results: Sequence[Mapping[str, Any]]) -> str:
    done = sum(one["status"] == "succeeded" for one in results)
    return "succeeded" if done == len(results) else "partial" if done else "failed"
