"""Auditing one memory: scripts and settings in, a Report out.

Statements run in order, or several at once (`jobs`); the report is the same, in the order of the files. A statement
that fails is a problem, and the others still run: one broken check must not hide another.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kipql.audit.asking import Asks, Elsewhere
from kipql.audit.coordinates import sequence
from kipql.audit.parallel import Answer, answers
from kipql.audit.report import Outcome, Report
from kipql.audit.script import ScriptFile, Step
from kipql.audit.selection import Selection
from kipql.audit.settings import DEFAULT, NOW, Settings
from kipql.audit.step import Asked, problem_of
from kipql.errors import KipError
from kipql.lang.words import near
from kipql.runtime.texts import Problem, place
from kipql.times import format_instant
from kipql.times import now as clock

Told = Callable[[int, int, Step], None]
Chosen = tuple[ScriptFile, Step]


def run_scripts(
    nexus: Asks,
    scripts: Sequence[ScriptFile],
    *,
    tags: Iterable[str] = (),
    settings: Settings = DEFAULT,
    space_id: str | None = None,
    told: Told | None = None,
) -> Report:
    """Run every step of every script.

    nexus     the memory, or a Space of a lake; a read-only one refuses mutations, which are then problems
    scripts   read by `read_script`; their own problems are part of the report
    tags      when given, only checks that carry one of them run, besides what `settings` select
    settings  which checks run, at what state and time, and how long
    space_id  named by every finding, when several Spaces are audited
    told      called when a step is done: how many are, of how many, and which

    Everything that is wrong is in the report; nothing is raised but what is a defect.
    """
    if words := tuple(f"tag:{tag}" for tag in tags):
        selection = Selection((*settings.selection.select, *words), settings.selection.exclude)
        settings = replace(settings, selection=selection)
    chosen = chosen_steps(scripts, settings)
    report = run_steps(nexus, chosen, settings, settings.now or format_instant(clock()), space_id=space_id, told=told)
    return with_scripts(report, scripts, chosen, settings)


def chosen_steps(scripts: Sequence[ScriptFile], settings: Settings) -> list[Chosen]:
    """The steps that are to run, each with its script."""
    return [(script, step) for script in scripts for step in script.steps if step in settings.selection]


def run_steps(
    nexus: Asks,
    chosen: Sequence[Chosen],
    settings: Settings,
    now: str,
    *,
    space_id: str | None = None,
    told: Told | None = None,
) -> Report:
    """What the steps find, and what of them could not run; nothing of what is wrong with the scripts themselves."""
    try:
        asked = Asked(settings, now, sequence(nexus, settings.as_of), _packages(nexus, chosen), space_id)
    except KipError as error:
        return Report((), (Problem("", 0, 0, error, space_id),), nexus.space_seq, space_id=space_id, now=now)
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    for at, ((script, step), answer) in enumerate(zip(chosen, _answers(nexus, chosen, asked, told), strict=True)):
        if isinstance(answer, Outcome):
            outcomes.append(replace(answer, at=at))
        else:
            problems.append(replace(problem_of(answer, script.text, step), space_id=space_id))
    return Report(
        tuple(outcomes), tuple(problems), nexus.space_seq, space_id=space_id, now=now, at=asked.seq
    )  # fmt: skip


def with_scripts(report: Report, scripts: Sequence[ScriptFile], chosen: Sequence[Chosen], settings: Settings) -> Report:
    """The report with what is wrong with the scripts and with what was asked of them."""
    before = (problem for script in scripts for problem in script.problems)
    after = (*_repeated(scripts), *settings.selection.problems(scripts), *_unused(scripts, settings.parameters))
    failed = {_place(problem) for problem in report.problems}
    warnings = tuple(each for _, step in chosen for each in step.warnings if _place(each) not in failed)
    return replace(report, problems=(*before, *report.problems, *after), warnings=warnings)


def _place(problem: Problem) -> tuple[str, int, int, str]:
    """What a warning and an error share that say the same."""
    return problem.path, problem.line, problem.column, problem.error.code


def _answers(nexus: Asks, chosen: Sequence[Chosen], asked: Asked, told: Told | None) -> Iterator[Answer]:
    steps = [step for _, step in chosen]
    for done, (step, answer) in enumerate(zip(steps, answers(nexus, steps, asked), strict=True), 1):
        if told is not None:
            told(done, len(steps), step)
        yield answer


def _packages(nexus: Asks, chosen: Sequence[Chosen]) -> frozenset[str]:
    """The packages that are active, by their id; looked up only where a check asks for one."""
    if not any(step.directives.requires or step.directives.unless for _, step in chosen):
        return frozenset()
    if isinstance(nexus, Elsewhere):
        return nexus.packages()
    rows = nexus.query('LIST SCHEMA PACKAGES STATUS "active"').rows
    return frozenset(row["package_id"] for row in rows)


def _unused(scripts: Sequence[ScriptFile], given: Mapping[str, object]) -> Iterator[Problem]:
    """A parameter that no statement uses: a misspelt one would leave the default in force."""
    used = {name for script in scripts for step in script.steps for name in step.parameters}
    for name in sorted(set(given) - used - {NOW}):
        meant = near(name, sorted(used))
        hint = f"did you mean {meant}?" if meant else f"used here: {', '.join(sorted(used)) or 'none'}"
        yield Problem("", 0, 0, KipError("ReferenceError", f"no statement uses the parameter :{name}", hint=hint))


def _repeated(scripts: Sequence[ScriptFile]) -> Iterator[Problem]:
    """A name that two checks of one script share: a report could not tell them apart. Scripts name theirs freely."""
    for script in scripts:
        seen: set[str] = set()
        for step in script.steps:
            name = step.directives.check
            if name is not None and name in seen:
                error = KipError("InvalidSyntax", f"two checks are named {name}", span=step.directives.span)
                yield place(script.path, script.text, error)
            elif name is not None:
                seen.add(name)
