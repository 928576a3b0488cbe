"""Condensing a session's window and assembling prompts from it: what goes into the next model call, and what leaves.

Nothing that was recorded changes: turns leave the live window and stay readable.
"""

from collections.abc import Sequence
from typing import Any

import kipql
from kipql.memory import ledger, progress
from kipql.memory.assembly import Context, assemble
from kipql.memory.channels import Question
from kipql.memory.committing import commit
from kipql.memory.core import Core, refusal
from kipql.memory.graph import now
from kipql.memory.profiles import profile_of
from kipql.memory.window import State, WindowPlan, leave_window, plan_window, read_state, read_window


class Condensing(Core):
    """The window of a session."""

    def window(self) -> list[dict[str, Any]]:
        """The messages of the live window, oldest first."""
        return [live.message for live in read_window(self._nexus, self.session)]

    def working_state(self) -> State | None:
        """The rolling summary and the sequence it speaks for; None before the first compaction."""
        return read_state(self._nexus, self.session)

    def plan_compaction(self, **settings: Any) -> WindowPlan:
        """`plan_compaction` over the live window, with the session's window and estimate unless told otherwise."""
        settings.setdefault("context_tokens", self.window_tokens)
        settings.setdefault("estimate_tokens", self._given_estimate)
        return plan_window(self._nexus, self.session, **settings)

    def commit_compaction(
        self, plan: WindowPlan, summary: str | None = None, facts: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Replace the middle of a plan by a summary: `{committed, reason, ...}`, one transaction or nothing.

        plan     from `mem.plan_compaction`
        summary  a text of at least 30 characters, else summary_unusable
        facts    texts about the session, `(subject, predicate, object)`, or `{subject, predicate, object, turns}`:
                 claims inferred from the turns

        The turns stay readable. A plan whose turns changed since is plan_outdated. Raises TypeMismatch for another
        plan, and what a fact that does not fit raises.
        """
        if not isinstance(plan, WindowPlan) or plan.session != self.session:
            hint = "use the plan that this session's plan_compaction returned"
            raise kipql.KipError("TypeMismatch", "this is no plan of this session's window", hint=hint)
        started = now()
        try:
            outcome = commit(self._nexus, plan, summary, list(facts), started)
        except kipql.KipError as error:
            outcome = {"committed": False, "reason": refusal(error)}
        done = progress.compacted(plan) if outcome["committed"] else progress.failed(outcome["reason"])
        self._tell(done, plan.basis_seq)
        return outcome

    def compact(self, summarise: progress.Summarise, **settings: Any) -> list[dict[str, Any]]:
        """Condense the window until it is below the threshold, at most `passes` times; the outcomes.

        summarise  a callable from a plan to the summary of `plan.middle_messages()`; `plan.previous` is what to update
        """
        outcomes: list[dict[str, Any]] = []
        plan = self.plan_compaction(**settings)
        while plan.triggered and len(outcomes) < plan.passes:
            self._tell(progress.compacting(plan), plan.basis_seq)
            outcomes.append(self.commit_compaction(plan, summarise(plan)))
            if not outcomes[-1]["committed"]:
                break
            plan = self.plan_compaction(**{**settings, "force": False})
        return outcomes

    def reset(self) -> dict[str, Any]:
        """Empty the live window: `{reset, code}`. What was recorded, pinned and summarised stays readable."""
        try:
            with self._nexus.transaction() as tx:
                leave_window(tx, self.session)
        except kipql.KipError as error:
            return {"reset": False, "code": refusal(error), "snapshot_seq": self._nexus.space_seq}
        self.trace.write(ledger.RESET, self.turn, self._nexus.space_seq)
        return {"reset": True, "code": "ok", "snapshot_seq": self._nexus.space_seq}

    def assemble(
        self,
        goal: str = "",
        *,
        profile: str = "deliberate",
        window_tokens: int | None = None,
        reserve: int | None = None,
        topics: Sequence[str] = (),
        capsules: Sequence[str] = (),
    ) -> Context:
        """A prompt for the next turn under a token budget, with its coverage.

        goal           what the turn is for
        profile        "reflex" or "deliberate": how much room the answer keeps and how far is looked
        window_tokens  the window; the session's when not given
        reserve        output tokens kept free; the profile's when not given
        topics         what to look up; the goal when not given
        capsules       lines that the canon surfaced

        Not `ok`: window_smaller_than_reserve, required_channel_exceeds_budget. It writes nothing to the memory.
        """
        chosen = profile_of(profile)
        question = Question(self.session, goal, tuple(topics), tuple(capsules), chosen)
        window = self.window_tokens if window_tokens is None else window_tokens
        kept = chosen.reserve if reserve is None else reserve
        turn = self.turn
        context = assemble(self._nexus, question, turn, window, kept, self._count)
        self._inject(goal, profile, context)
        return context

    def _inject(self, goal: str, profile: str, context: Context) -> None:
        """Note what was put into a prompt; the texts only where the trace is a file."""
        blocks = context.blocks
        if self.trace.path is None:
            blocks = [{name: value for name, value in block.items() if name != "text"} for block in blocks]
        held = {
            "ok": context.ok,
            "reason": context.reason,
            "coverage": context.coverage.to_dict(),
            "skipped": context.skipped,
        }
        seq, turn = context.basis.snapshot_seq, context.basis.turn
        self.trace.write(ledger.CONTEXT, turn, seq, goal=goal, profile=profile, blocks=blocks, **held)
