"""Auditing many Spaces in one run: each by a worker, one Report in the order of the places (docs/scale.md).

A place that can not be opened, or whose worker dies, is one problem that names it; the others are audited all the
same, and no check passes that a Space did not answer. The report depends on nothing but what the Spaces hold: neither
on how many run at once nor on who is done first.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING, Any, Protocol

from kipql.audit.asking import Asks
from kipql.audit.parallel import began, can_fork, end_children
from kipql.audit.report import Audited, Outcome, Report
from kipql.audit.run import Chosen, chosen_steps, run_steps, with_scripts
from kipql.audit.script import ScriptFile
from kipql.audit.settings import DEFAULT, Settings
from kipql.errors import KipError
from kipql.limits import hinted
from kipql.runtime.guard import as_kip_error
from kipql.runtime.texts import Problem
from kipql.times import format_instant
from kipql.times import now as clock

if TYPE_CHECKING:
    import kipql

Heard = Callable[[int, int, str], None]
"""(places done, places in all, the name of the one that is done)."""
SPACE_ID = "space_id"


class Place(Protocol):
    """Something with Spaces that a worker opens; it is pickled on its way there."""

    @property
    def name(self) -> str:
        """What it is called where it can not be opened."""

    def opened(self, settings: Settings) -> Iterator[tuple[str, Asks | KipError]]:
        """Its Spaces, one open at a time, by the names that findings have; the error of one that can not be."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory's folder: every Space of it, opened read-only, as it is at that moment.

    Its first Space, `kip:space:default`, has the folder's name in findings, another one `folder#space_id`.
    """

    name: str

    def opened(self, settings: Settings) -> Iterator[tuple[str, Asks | KipError]]:
        import kipql

        limits = None if settings.timeout is None else kipql.Limits(seconds=settings.timeout)
        with kipql.open(self.name, readonly=True, follow=False, limits=limits, clock=clock_of(settings.now)) as first:
            for space_id in first.spaces():
                try:
                    yield self._named(first, space_id), first.space(space_id)
                except KipError as error:
                    yield self._named(first, space_id), error

    def _named(self, first: "kipql.Nexus", space_id: str) -> str:
        return self.name if space_id == first.space_id else f"{self.name}#{space_id}"


def clock_of(now: str | None) -> Callable[[], datetime] | None:
    """The clock of a run whose time is given."""
    if now is None:
        return None
    moment = datetime.fromisoformat(now)
    return lambda: moment


def run_fleet(
    places: Sequence[Place],
    scripts: Sequence[ScriptFile],
    *,
    settings: Settings = DEFAULT,
    executor: Executor | None = None,
    heard: Heard | None = None,
) -> Report:
    """Run scripts over every Space of some places.

    places    in the order of the report
    scripts   read by `read_script`; what is wrong with them is in the report once
    settings  as of `run_scripts`; `jobs` is how many places are audited at once, each in a process
    executor  workers of yours instead, which see the same files: any `concurrent.futures.Executor`, such as the one of
              a Dask client
    heard     called when a place is done
    """
    now = settings.now or format_instant(clock())
    chosen = chosen_steps(scripts, settings)
    work: tuple[Any, ...] = (chosen, replace(settings, jobs=1), now)
    found = _Found(places, heard)
    jobs = min(settings.jobs, len(places))
    if executor is not None:
        for at in _round(executor, places, range(len(places)), work, found):
            found.put(at, [_unanswered(places[at].name, _ended(), now)])
    elif jobs > 1:
        _in_processes(places, jobs, (chosen, replace(settings, jobs=1, cancel=None), now), found)
    else:
        for at, place in enumerate(places):
            found.put(at, audited(place, *work))
    return with_scripts(merged(found.reports(), chosen, now), scripts, chosen, settings)


def audited(place: Place, chosen: Sequence[Chosen], settings: Settings, now: str) -> list[Report]:
    """The report of every Space of a place; what a worker runs."""
    reports: list[Report] = []
    try:
        with closing(place.opened(settings)) as spaces:  # type: ignore[type-var]
            for name, nexus in spaces:
                if isinstance(nexus, KipError):
                    reports.append(_unanswered(name, nexus, now))
                else:
                    reports.append(run_steps(nexus, chosen, settings, now, space_id=name))
    except Exception as error:
        reports.append(_unanswered(place.name, as_kip_error(error), now))
    return [replace(report, problems=tuple(_cured(place, each) for each in report.problems)) for report in reports]


def _cured(place: Place, problem: Problem) -> Problem:
    """Of damage to a memory, what says more about it."""
    error = problem.error
    if error.code != "MemoryDamaged" or not isinstance(place, Memory):
        return problem
    doctor = f"kipql doctor {quote(place.name)} says what is damaged"
    return replace(problem, error=hinted(error, f"{error.hint}; {doctor}" if error.hint else doctor))


def merged(reports: Sequence[Report], chosen: Sequence[Chosen], now: str) -> Report:
    """One report of the reports of several Spaces: a check is one Outcome, its findings in the order of the Spaces."""
    outcomes: dict[int, list[tuple[str, Outcome]]] = defaultdict(list)
    for report in reports:
        for outcome in report.outcomes:
            outcomes[outcome.at].append((str(report.space_id), outcome))
    made: list[Outcome] = []
    for at, (_, step) in enumerate(chosen):
        if found := outcomes.get(at):
            made += [_check(found, len(reports))] if step.directives.is_check else _statements(found)
    return Report(
        tuple(made),
        tuple(problem for report in reports for problem in report.problems),
        now=now,
        spaces=tuple(_audited(report) for report in reports),
    )


def _check(found: Sequence[tuple[str, Outcome]], spaces: int) -> Outcome:
    outcomes = [outcome for _, outcome in found]
    asked = [outcome for outcome in outcomes if outcome.skipped is None] or outcomes[:1]
    return replace(
        asked[0],
        findings=tuple(finding for outcome in asked for finding in outcome.findings),
        columns=(),
        rows=(),
        found=sum(outcome.found for outcome in asked),
        counting=sum(outcome.counting for outcome in asked),
        seconds=sum(outcome.seconds for outcome in asked),
        unanswered=spaces - len(outcomes),
    )


def _statements(found: Sequence[tuple[str, Outcome]]) -> Iterator[Outcome]:
    """The rows of a plain statement, the Space as their first column; where META answers with other columns, apart."""
    apart: dict[tuple[str, ...], list[tuple[str, Outcome]]] = defaultdict(list)
    for space_id, outcome in found:
        apart[outcome.columns].append((space_id, outcome))
    for columns, several in apart.items():
        rows = [[space_id, *row] for space_id, outcome in several for row in outcome.rows]
        seconds = sum(outcome.seconds for _, outcome in several)
        yield replace(several[0][1], columns=(SPACE_ID, *columns), rows=rows, seconds=seconds)


def _audited(report: Report) -> Audited:
    skipped = tuple(check.step.name for check in report.checks if check.skipped is not None)
    answered = bool(report.outcomes) or not report.problems
    return Audited(str(report.space_id), report.space_seq, report.at, answered, skipped)


def _unanswered(name: str, error: KipError, now: str) -> Report:
    """The report of a Space that could not be asked."""
    return Report(problems=(Problem("", 0, 0, error, name),), space_id=name, now=now)


def _ended() -> KipError:
    return KipError(
        "InternalError",
        "the process that audited this memory ended",
        hint="audit it alone to see why; it may have taken more memory than there is",
    )


class _Found:
    """The reports by place, and who hears of them."""

    def __init__(self, places: Sequence[Place], heard: Heard | None) -> None:
        self._places = places
        self._heard = heard
        self._reports: dict[int, list[Report]] = {}

    def put(self, at: int, reports: list[Report]) -> None:
        self._reports[at] = reports
        if self._heard is not None:
            self._heard(len(self._reports), len(self._places), self._places[at].name)

    def reports(self) -> list[Report]:
        """Of every Space, in the order of the places."""
        return [report for at in range(len(self._places)) for report in self._reports[at]]


def _in_processes(places: Sequence[Place], jobs: int, work: tuple[Any, ...], found: _Found) -> None:
    """Every place in a process. A worker that dies takes its pool with it: those that may have been in it are asked
    once more, each alone, so that the one whose fault it is loses nobody else's answer."""
    waiting: Sequence[int] = range(len(places))
    while waiting:
        lost = _pooled(places, jobs, waiting, work, found)
        for at in lost[:jobs]:
            if _pooled(places, 1, [at], work, found):
                found.put(at, [_unanswered(places[at].name, _ended(), work[2])])
        waiting = lost[jobs:]


def _pooled(
    places: Sequence[Place], jobs: int, waiting: Sequence[int], work: tuple[Any, ...], found: _Found
) -> list[int]:
    import multiprocessing

    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    pool = ProcessPoolExecutor(min(jobs, len(waiting)), mp_context=context, initializer=began)
    before = multiprocessing.active_children()
    try:
        return _round(pool, places, waiting, work, found)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_children(before)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _round(
    pool: Executor, places: Sequence[Place], waiting: Sequence[int], work: tuple[Any, ...], found: _Found
) -> list[int]:
    """Audit places in a pool. Those that were lost with it, in order."""
    lost: list[int] = []
    futures = {}
    for at in waiting:
        try:
            futures[pool.submit(audited, places[at], *work)] = at
        except BrokenExecutor:
            lost.append(at)
    try:
        for future in as_completed(futures):
            at = futures[future]
            try:
                found.put(at, future.result())
            except BrokenExecutor:
                lost.append(at)
            except Exception as error:  # the way there and back: a place or a report that can not be pickled
                found.put(at, [_unanswered(places[at].name, as_kip_error(error), work[2])])
    finally:
        for future in futures:
            future.cancel()
    return sorted(lost)
