"""Policies and trust of a Space over its sequences (specification §21.10, §22.5, §48.6).

Both are control state: the host installs them, each change has a sequence, and a read uses what was in force at
its snapshot. What ships with kipql is in force everywhere.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from kipql.belief.core.policy import SHIPPED, Policy, policy_from_artifact
from kipql.errors import KipError
from kipql.govern.trust import KIND as TRUST
from kipql.govern.trust import TrustRecord, records
from kipql.lang.words import near
from kipql.model import element_id, parse_id

if TYPE_CHECKING:
    from kipql.store.graph import Graph
    from kipql.store.view import View

POLICY = "policy"
DEFAULT = "kip:policy:baseline"


@dataclass(frozen=True, slots=True)
class Installed:
    """A policy in force from a sequence on; `artifact` as the host gave it."""

    seq: int
    policy: Policy
    artifact: Mapping[str, Any]


class Control:
    """Reads the control changes of one Space; safe beside a writer, who only appends to them."""

    __slots__ = ("_changes", "_lock", "_policies", "_read", "_trust", "_trust_seqs", "_weights")

    def __init__(self, graph: "Graph") -> None:
        self._changes = graph.controls
        self._lock = Lock()
        self._read = 0
        self._policies: list[Installed] = []
        self._trust: list[Mapping[str, Any]] = []
        self._trust_seqs: list[int] = []
        self._weights: tuple[tuple[int, int], dict[int, float]] = ((0, 0), {})

    def follow(self, graph: "Graph") -> None:
        """Read the control changes of another graph of the same Space from now on: a reader opened it anew."""
        fresh = Control(graph)
        fresh._catch_up()
        with self._lock:
            for name in ("_changes", "_policies", "_trust", "_trust_seqs", "_weights", "_read"):
                setattr(self, name, getattr(fresh, name))

    # policies

    def policy(self, name: str, seq: int) -> Policy:
        """The policy in force at a sequence under an id; `id@version` names any version ever installed, also for
        an older snapshot. Raises ProjectionPolicyUnavailable."""
        known = self.installed(name, seq)
        if known is None:
            raise self.unavailable(name, seq)
        return known.policy

    def installed(self, name: str, seq: int) -> Installed | None:
        """The same with where it comes from, None when there is none."""
        self._catch_up()
        shipped = SHIPPED.get(name)
        if shipped is not None:
            return Installed(0, shipped, {})
        for found in reversed(self._policies):
            if found.policy.id == name and found.seq <= seq:
                return found
        for found in reversed(self._policies):
            if f"{found.policy.id}@{found.policy.version}" == name:
                return found
        for policy in SHIPPED.values():
            if f"{policy.id}@{policy.version}" == name:
                return Installed(0, policy, {})
        return None

    def policies(self, seq: int) -> list[Policy]:
        """Every policy in force at a sequence, by id."""
        self._catch_up()
        found = dict(SHIPPED)
        found.update((each.policy.id, each.policy) for each in self._policies if each.seq <= seq)
        return [found[name] for name in sorted(found)]

    def unavailable(self, name: str, seq: int) -> KipError:
        """The error of an id under which no policy is in force at a sequence."""
        later = next((each for each in self._policies if each.policy.id == name), None)
        if later is not None:
            return KipError(
                "ProjectionPolicyUnavailable",
                f"the epistemic policy {name!r} was not in force at sequence {seq}",
                hint=f'it is since {later.seq}; to judge older state by it, name "{name}@{later.policy.version}"',
            )
        ids = [policy.id for policy in self.policies(seq)]
        close = near(name, ids)
        return KipError(
            "ProjectionPolicyUnavailable",
            f"no epistemic policy {name!r} is installed",
            hint=f"did you mean {close!r}?" if close else f"installed are {', '.join(ids)}",
        )

    # trust

    def trust_records(self, view: "View") -> dict[str, TrustRecord]:
        """The trust records in force at a view, by the actor that each is about there (§11.5)."""
        self._catch_up()
        return records(self._trust[: bisect_right(self._trust_seqs, view.seq)], lambda actor: identity(view, actor))

    def trust_version(self, seq: int) -> str:
        """How many trust changes there were up to a sequence."""
        self._catch_up()
        return str(bisect_right(self._trust_seqs, seq))

    def trust(self, view: "View") -> dict[int, float]:
        """Weights by canonical actor at a view."""
        self._catch_up()
        state = (bisect_right(self._trust_seqs, view.seq), view.identity_version)
        known, weights = self._weights
        if known != state or view.narrowed:
            weights = {}
            for record in self.trust_records(view).values():
                code = parse_id(record.actor)
                if code is not None and view.exists(code):
                    weights[code] = record.value
            if not view.narrowed:  # identities and actors are the caller's own there
                self._weights = (state, weights)
        return weights

    def _catch_up(self) -> None:
        if self._read == len(self._changes):
            return
        with self._lock:
            for seq, kind, payload in self._changes[self._read :]:
                if kind == POLICY:
                    artifact: Any = payload
                    self._policies.append(Installed(seq, policy_from_artifact(artifact), artifact))
                elif kind == TRUST:
                    change: Any = payload
                    self._trust.append(change)
                    self._trust_seqs.append(seq)
                self._read += 1


def identity(view: "View", actor: str) -> str:
    """The id of whom an actor's id stands for at a view; an actor that is not there stands for itself."""
    code = parse_id(actor)
    return actor if code is None or not view.exists(code) else element_id(view.canonical(code))
