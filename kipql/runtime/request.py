"""Answering a request envelope (§70-§83): the wire in, the wire out, never an exception.

The order of decisions is the one of §32.3: form, Space, capabilities, what each operation is by its parse tree,
whether its outcome is already retained, preconditions, and only then execution. What fails before an operation
starts is the top-level error; what fails inside one is that operation's error.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kipql.errors import KipError
from kipql.runtime import capabilities, form
from kipql.runtime.envelope import Request, read_envelope
from kipql.runtime.guard import as_kip_error, wire_error
from kipql.runtime.ingestion import attach
from kipql.runtime.reading import answer as answer_read
from kipql.runtime.reading import read_inside
from kipql.runtime.receipt import Receipt
from kipql.runtime.response import Wire, read_result, refusal, rehearsed_result, response, write_result
from kipql.runtime.session import Session
from kipql.runtime.snapshots import MEMBER, check_read, check_start, pinned
from kipql.runtime.steps import Step, steps_of
from kipql.runtime.work import Work
from kipql.runtime.writing import rehearse, write
from kipql.values import Json


def answer(envelope: object, enter: Callable[[str | None], Session]) -> Wire:
    """The response to a wire request.

    enter  gives the session of a Space id (None is the default Space); raises NotFoundOrNotVisible
    """
    request: Request | None = None
    began = time.monotonic()
    try:
        request = read_envelope(envelope)
        session = enter(request.space)
        return _respond(request, session, began)
    except Exception as error:
        return refusal(envelope, request, as_kip_error(error))


def _respond(request: Request, session: Session, began: float) -> Wire:
    if said := {name: request.context[name] for name in ("purpose", "risk") if name in request.context}:
        session = replace(session, projecting=replace(session.projecting, **said))
    if request.requires:
        capabilities.require(request.requires, session.capabilities)
    session = pinned(session, request.snapshot_token)
    steps = steps_of(request, session)
    _check_binding(request, steps)
    writes = [step for step in steps if step.writes]
    cognitive = [step for step in writes if not step.defines]
    if cognitive or not any(step.failure for step in steps):
        attach(request.ingest, len(cognitive), request.mode, [step.operation.parameters for step in steps])
    if not _retained(session, writes):
        _check_preconditions(request, session)
    if request.mode == "atomic":
        return _atomic(request, session, steps, began)
    results = _one_by_one(request, session, steps, began, alone=len(writes) == 1)
    return response(request, session, results, warnings=_caveats(request, writes))


def _in_time(request: Request, session: Session, began: float) -> Session:
    """The session with what is left of the deadline, which covers the whole request (§80.1).

    Raises ExecutionTimeout when nothing is left; what committed before stays committed (§80.2).
    """
    if request.deadline_ms is None:
        return session
    left = request.deadline_ms / 1000 - (time.monotonic() - began)
    if left <= 0:
        raise KipError(
            "ExecutionTimeout",
            f"the deadline of {request.deadline_ms} ms has passed",
            hint="give the request more time, or send fewer operations",
            details={"limit": "deadline_ms", "value": request.deadline_ms, "cancelled": False},
        )
    return replace(session, limits=replace(session.limits, seconds=min(session.limits.seconds, left)))


def _caveats(request: Request, writes: Sequence[Step]) -> list[Json]:
    """What a success does not say."""
    if not (request.dry_run and len(writes) > 1):
        return []
    message = "each write was tried on the present state, without the writes before it; atomic mode tries them together"
    return [{"code": "RehearsedSeparately", "message": message}]


def _retained(session: Session, writes: Sequence[Step]) -> bool:
    """Whether every write has a retained outcome, so that nothing will be decided anew.

    Raises IdempotencyConflict when a key of the request stands for another one.
    """
    outcomes = session.space.outcomes
    known = [step.binding is not None and outcomes.replay(step.binding) is not None for step in writes]
    return bool(known) and all(known)


def _check_binding(request: Request, steps: Sequence[Step]) -> None:
    """Refuse a token over a sequence that goes on after a write: what follows would have to see the write (§75.2)
    and the state before it. Raises InvalidRequestEnvelope."""
    if request.snapshot_token is not None and request.mode == "sequence" and any(step.writes for step in steps[:-1]):
        form.refuse(
            MEMBER,
            "holds for one state, and operations follow a write",
            "use atomic mode, or write in a request of its own",
        )


def _check_preconditions(request: Request, session: Session) -> None:
    view = session.space.view()
    for name, wanted, found in (
        ("space_seq", request.space_seq, view.seq),
        ("schema_environment_version", request.schema_environment_version, view.environment.version),
    ):
        if wanted is not None and wanted != found:
            raise KipError(
                "PreconditionFailed",
                f"the Space has {name} {found}, not {wanted}",
                details={"precondition": name, "expected": wanted, "found": found},
            )


def _one_by_one(request: Request, session: Session, steps: Sequence[Step], began: float, *, alone: bool) -> list[Wire]:
    """Independent and sequence modes, and a single operation: each write commits by itself (§75.1, §75.2).

    alone  there is one write, which then holds the preconditions of the request against its own snapshot
    """
    results: list[Wire] = []
    stopped = False
    for step in steps:
        if stopped:
            results.append(step.labelled({"status": "skipped"}))
            continue
        try:
            if step.failure is not None:
                raise step.failure
            results.append(step.done(_run(request, _in_time(request, session, began), step, alone)))
        except Exception as error:
            results.append(step.failed(error))
            stopped = request.mode == "sequence" and request.on_error == "stop"
    return results


def _run(request: Request, session: Session, step: Step, alone: bool) -> Wire:
    parsed, parameters = step.parsed, step.operation.parameters
    assert parsed is not None
    if not parsed.mutation:
        found = answer_read(session, parsed, parameters)
        return read_result(found if request.snapshot_token is None else check_read(session, found))
    budget = session.budget()
    if session.readonly:
        parsed.refuse_mutation()
    entries = () if step.defines else request.ingest
    if request.dry_run:
        return rehearsed_result(session, rehearse(session, parsed, parameters, budget, entries))

    def decide() -> Receipt | None:
        known = session.retained(step.binding)
        if known is None and alone:
            _check_preconditions(request, session)
        return known

    receipt = write(session, parsed, parameters, budget, entries=entries, binding=step.binding, decide=decide)
    return write_result(session, receipt)


def _atomic(request: Request, session: Session, steps: Sequence[Step], began: float) -> Wire:
    """One transaction for all operations; reads see its writes; all or none (§75.3)."""
    if not any(step.writes for step in steps):
        if len(steps) > 1 and session.pinned is None:  # all of them read one state
            session = replace(session, pinned=session.space.view().seq)
        return response(request, session, _one_by_one(request, session, steps, began, alone=False))
    binding = next((step.binding for step in steps if step.binding is not None), None)
    results, at = [], 0
    if len(steps) > 1 and (defining := next((at for at, step in enumerate(steps) if step.defines), None)) is not None:
        alone = KipError("InvalidSyntax", "a DEFINE is a transaction of its own (§20.16)")
        return _aborted(request, session, steps, defining, alone)
    if session.readonly:
        at, violation = next(
            (at, step.parsed.violation()) for at, step in enumerate(steps) if step.parsed and step.writes
        )
        return _aborted(request, session, steps, at, violation)
    try:
        budget = _in_time(request, session, began).budget()
        with Work(session, budget, rehearsal=request.dry_run) as work:
            known = session.retained(binding)
            if known is not None:
                status = "no_effect" if known.status == "no_effect" else "succeeded"
                return response(request, session, [step.labelled({"status": status}) for step in steps], known)
            _check_preconditions(request, session)
            check_start(session)
            minted = work.ingest(request.ingest)
            for step in steps:
                results.append(step.done(_atomic_step(session, work, step, minted)))
                at += 1
            if request.dry_run:
                results[-1]["result"] = work.rehearse()
                return response(request, session, results)
            receipt = work.commit(binding)
    except Exception as error:
        return _aborted(request, session, steps, at, error)
    if receipt.status == "no_effect":
        for step, result in zip(steps, results, strict=True):
            if step.writes:
                result["status"] = "no_effect"
    return response(request, session, results, receipt)


def _atomic_step(session: Session, work: Work, step: Step, minted: Mapping[str, str]) -> Wire:
    if step.failure is not None:
        raise step.failure
    assert step.parsed is not None
    if step.parsed.mutation:
        done = work.write(step.parsed, {**step.operation.parameters, **minted})
        return {"status": "succeeded", "result": done.result}
    return read_result(check_read(session, read_inside(work, step.parsed, step.operation.parameters)))


def _aborted(request: Request, session: Session, steps: Sequence[Step], at: int, error: Exception) -> Wire:
    """Everything before the failed operation is rolled back; a failure at the end belongs to the whole."""
    results = [
        step.labelled({"status": "rolled_back" if index < at else "skipped"}) for index, step in enumerate(steps)
    ]
    if at < len(steps):
        results[at] = steps[at].failed(error)
        return response(request, session, results)
    return {**response(request, session, results), "status": "failed", "error": wire_error(as_kip_error(error))}
