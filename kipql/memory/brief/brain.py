"""A Brain: recall over a memory, by mode, with what stands for each answer and what is missing from it.

It reads through a read-only view and writes nothing, not even that something was read: that goes to the exposure log.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief import modes
from kipql.memory.brief.answers import ABSENT, DIRECT, NOT_FOUND, PARTIAL, SUCCESS, THIN, Briefing, Recalled
from kipql.memory.brief.batches import Batches
from kipql.memory.brief.briefing import briefing
from kipql.memory.brief.coverage import coverage, narrowed
from kipql.memory.brief.draft import Draft
from kipql.memory.brief.exposure import Exposure
from kipql.memory.brief.items import Channel, Plain, ordered
from kipql.memory.brief.naming import Subject, ground, resolve
from kipql.memory.brief.question import HEED, MODES, Question, question
from kipql.memory.brief.reading import Reading
from kipql.memory.brief.skills import check_procedure_status

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.memory.wiki import Wiki

_SUBJECT_FREE = ("experience", "procedure", "failure", "wake", "self")
_CHANNELS = ("constraints", "commitments", "dependencies", "failures", "experiences", "skills", "evidence")


class Brain:
    """Recall over a memory.

    nexus     the memory; only read
    wiki      a `Wiki` for questions of policy, procedure, definition and limit; None where the host has none
    exposure  a file for the exposure log; without one the last records are kept in the process
    policy    the epistemic policy that decides beliefs
    constraints  Predicates whose claims are rules that every briefing carries

    >>> import kipql
    >>> nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
    >>> ada = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }').handles["a"]
    >>> _ = nexus.execute('ASSERT (:ada, "speaks", "Italian") {by: :ada, mode: "stated"}', {"ada": ada})
    >>> Brain(nexus).recall("What does Ada speak?").text
    'Ada speaks Italian'
    """

    def __init__(
        self,
        nexus: "Nexus",
        *,
        wiki: "Wiki | None" = None,
        exposure: str | Path | None = None,
        policy: str | None = None,
        constraints: Sequence[str] = (HEED,),
    ) -> None:
        self.nexus = nexus.readonly()
        self.wiki = wiki
        self.exposure = Exposure(exposure)
        self.batches = Batches(nexus)
        self._policy = policy
        self._heed = tuple(constraints)

    def recall(
        self,
        query: str,
        *,
        mode: str | None = None,
        context: Mapping[str, Any] | None = None,
        action_context: Mapping[str, Any] | None = None,
        time: Mapping[str, Any] | None = None,
        scope: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: Any = None,
        forms: Sequence[str] = (),
        detail: str = "brief",
    ) -> Recalled | Briefing:
        """Answer one question; with mode "action" a Briefing, else a Recalled.

        query           what is asked, in words
        mode            one of `MODES`; without one "action" where an action context is given, "belief" where a
                        Predicate is, "document" for what a wiki answers first, else "fact"
        context         `{counterparty, agent, source, topic}`; the counterparty is a Concept's key
        action_context  `{goal, current_state, available_tools}`: it influences relevance and permits nothing
        time            `{valid_at, as_of_seq}`: a moment of the world, a state of the memory
        scope           `{task_ref, context_refs}`
        budget          `{items, max_output_tokens, deadline_ms}`
        subject, predicate, object
                        exact references where the caller has them
        forms           the question in other languages or wordings; all are probed in one batch
        detail          "evidence" adds how each channel was read

        Raises KipError: TypeMismatch for arguments, IdentitySelectorRequired for a key of several Concepts,
        HistoricalSnapshotUnavailable, NotAuthorized, ResultLimitExceeded.
        """
        asked = question(
            query,
            context=context,
            action_context=action_context,
            time=time,
            scope=scope,
            budget=budget,
            subject=subject,
            predicate=predicate,
            object=object,
            forms=tuple(forms),
            policy=self._policy,
            heed=self._heed,
        )
        chosen = mode or self._mode(asked)
        if chosen not in MODES:
            raise kipql.KipError("TypeMismatch", f"there is no mode {chosen!r}", hint=f"one of {', '.join(MODES)}")
        reading = Reading(self.nexus, asked)
        if chosen == "action":
            brief = briefing(reading, reading.self_id(), plans=detail == "evidence")
            self.exposure.retrieved(reading, brief.refs(), uuid.uuid4().hex)
            return brief
        answer, refs = self._answer(chosen, reading, plans=detail == "evidence")
        self.exposure.retrieved(reading, refs, uuid.uuid4().hex)
        return answer

    def brief(self, query: str, **how: Any) -> Briefing:
        """What to know before acting: the twelve fields. Arguments and errors are those of `recall`."""
        answer = self.recall(query, **{**how, "mode": "action"})
        assert isinstance(answer, Briefing)
        return answer

    def ground(self, *forms: str, limit: int = 10) -> list[Plain]:
        """The Concepts that any form of a name might mean, best first: one batch for all forms, no belief."""
        asked = question(forms[0] if forms else "")
        found = ground(Reading(self.nexus, asked), forms, limit)
        return [one.to_dict() | {"aliases": list(one.aliases), "score": one.score} for one in found[:limit]]

    def check_procedure_status(self, skill: str) -> Plain:
        """Whether a Skill may be recommended: `{recommendation_allowed, reason, revision, evaluation,
        review_deadline}`. What may be recommended is still not permitted."""
        return check_procedure_status(Reading(self.nexus, question("")), skill)

    def used(self, refs: Iterable[str], decision_ref: str | None = None) -> None:
        """Note off the graph which memories a decision rested on."""
        nexus = self.nexus
        self.exposure.used(nexus.space_id, nexus.principal.id, nexus.space_seq, refs, decision_ref)

    def tools(self) -> list[dict[str, Any]]:
        """The tools for a model: `{name, description, parameters}`; `call` runs them."""
        from kipql.memory.brief.tools import specs

        return specs(self)

    def call(self, name: str, arguments: Any = None) -> dict[str, Any]:
        """Run a tool by name. Never raises: what goes wrong is `{error, detail, code}`."""
        from kipql.memory.brief.tools import call

        return call(self, name, arguments)

    def _mode(self, asked: Question) -> str:
        from kipql.memory.brief.routing import for_documents

        if asked.action.goal is not None:
            return "action"
        if asked.predicate is not None:
            return "belief"
        return "document" if for_documents(asked.query) else "fact"

    def _answer(self, mode: str, reading: Reading, *, plans: bool) -> tuple[Recalled, list[str]]:
        if mode == "document":
            return self._from_documents(reading, plans=plans)
        needless = mode in _SUBJECT_FREE and reading.asked.subject is None
        subject = Subject(None, "none") if needless else resolve(reading)
        draft = modes.read(mode, reading, subject)
        return _finished(mode, reading, subject, draft, plans=plans), draft.refs

    def _from_documents(self, reading: Reading, *, plans: bool) -> tuple[Recalled, list[str]]:
        """Documents first; where there are none, or none that fits, the claims and sources, and a word about it."""
        passages = self.wiki.search(reading.asked.query, as_of_seq=reading.seq) if self.wiki is not None else []
        if passages:
            draft = Draft(found=True)
            draft.show(
                [
                    {"ref": one["ref"], "role": "document", "text": f"{one['text']} [{one['citation']}]", **one}
                    | {"text": f"{one['text']} [{one['citation']}]"}
                    for one in passages
                ]
            )
            draft.support = [{"ref": one["ref"], "citation": one["citation"]} for one in passages]
            return _finished("document", reading, Subject(None, "none"), draft, plans=plans), draft.refs
        subject = resolve(reading)
        draft = modes.read("fact", reading, subject)
        missing = "there is no authoritative source here" if self.wiki is None else "no document answers this"
        draft.gaps.insert(0, f"{missing}; what follows comes from memory")
        draft.thin = True
        return _finished("document", reading, subject, draft, plans=plans), draft.refs


def _finished(mode: str, reading: Reading, subject: Subject, draft: Draft, *, plans: bool) -> Recalled:
    gaps = list(dict.fromkeys([*draft.gaps, *reading.gaps]))
    stale = any(one.kind == "stale_dependency" for one in draft.warnings)
    if not draft.found:
        status, uncertainty = NOT_FOUND, ABSENT
    else:
        incomplete = bool(gaps) or draft.thin or stale or any(not one.completed for one in draft.channels.values())
        status = PARTIAL if bool(gaps) or draft.belief in ("contested", "uncertain") else SUCCESS
        uncertainty = max(THIN if incomplete else DIRECT, round(1 - draft.match, 6))
    text = "\n".join(draft.lines) or "nothing was found"
    return Recalled(
        mode=mode,
        status=status,
        text=text,
        gaps=gaps,
        answer=draft.answer,
        belief=draft.belief,
        support=draft.support,
        opposition=draft.opposition,
        warnings=ordered(draft.warnings),
        found=draft.found,
        uncertainty=uncertainty,
        subject={"how": subject.how, **(subject.chosen.to_dict() if subject.chosen else {"id": None})},
        coverage=coverage(reading, _named_channels(draft.channels), plans=plans),
        basis=narrowed(reading.basis, reading.bases),
    )


def _named_channels(channels: Mapping[str, Channel]) -> dict[str, Channel]:
    """The channels of a RecallCoverage; claims are read from Evidence's channel."""
    named = {name: one for name, one in channels.items() if name in _CHANNELS}
    if "facts" in channels and "evidence" not in named:
        named["evidence"] = channels["facts"]
    if "facts" in channels:
        named["dependencies"] = Channel("dependencies", completed=channels["facts"].completed)
    return named
