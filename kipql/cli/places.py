"""Which Spaces `--fleet` and `--lake` mean, and one audit over all of them (docs/scale.md)."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from kipql.audit.asking import Asks
from kipql.audit.fleet import Heard, Memory, clock_of, run_fleet
from kipql.audit.parallel import stoppable_threads
from kipql.audit.settings import Settings
from kipql.cli.audit_options import SPARK
from kipql.errors import KipError

if TYPE_CHECKING:
    from kipql.audit.report import Report
    from kipql.audit.script import ScriptFile


@dataclass(frozen=True, slots=True)
class LakeSpace:
    """One Space of a lake."""

    folder: str
    name: str
    engine: str
    master: str | None
    threads: int | None

    def opened(self, settings: Settings) -> Iterator[tuple[str, Asks | KipError]]:
        import kipql
        from kipql import lake

        limits = None if settings.timeout is None else kipql.Limits(seconds=settings.timeout)
        with lake.open(
            self.folder,
            space=self.name,
            engine=self.engine,
            master=self.master,
            threads=self.threads,
            limits=limits,
            clock=clock_of(settings.now),
        ) as opened:
            yield self.name, opened


@dataclass(frozen=True, slots=True)
class Asked:
    """Spaces of a lake: those whose names fit one of the patterns, all where there is none."""

    folder: str
    engine: str
    master: str | None
    patterns: tuple[str, ...]


def audit_fleet(
    scripts: "Sequence[ScriptFile]", settings: Settings, patterns: Sequence[str], heard: Heard | None
) -> "Report":
    """Run scripts over every memory of the patterns. Raises NotFoundOrNotVisible where there is none."""
    return run_fleet(_fleet(patterns), scripts, settings=settings, heard=heard)


def audit_lake(scripts: "Sequence[ScriptFile]", settings: Settings, asked: Asked, heard: Heard | None) -> "Report":
    """Run scripts over every Space that is asked for. Raises NotFoundOrNotVisible where there is none, and
    MemoryUnavailable where the engine can not be reached."""
    places = _lake(settings, asked)
    if asked.engine != SPARK and min(settings.jobs, len(places)) > 1:
        return run_fleet(places, scripts, settings=settings, heard=heard)
    # Spark has workers of its own; and an engine that runs in the main thread keeps an interrupt from it.
    with stoppable_threads(settings.jobs, settings) as (executor, stopped):
        return run_fleet(places, scripts, settings=stopped, executor=executor, heard=heard)


def _fleet(patterns: Sequence[str]) -> list[Memory]:
    """The memories of patterns and folders, each once, however many names lead to it."""
    once: dict[str, str] = {}
    for name in (name for pattern in patterns for name in _expanded(pattern)):
        once.setdefault(os.path.realpath(name), name)
    return [Memory(name) for name in once.values()]


def _expanded(pattern: str) -> list[str]:
    folder = Path(pattern)
    if (folder / "nexus" / "memory.json").exists():
        return [pattern]
    if folder.is_dir():
        found = sorted(str(each) for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    else:
        found = sorted(glob(pattern, recursive=True)) if has_magic(pattern) else [pattern]  # noqa: PTH207
        if "**" in pattern:
            base = Path(os.path.dirname(pattern.partition("**")[0]))  # noqa: PTH120
            found = [name for name in found if not _through_link(base, name)]
    if not found:
        raise KipError("NotFoundOrNotVisible", f"there is no memory at {pattern}", hint="give a pattern or a folder")
    return found


def _through_link(base: Path, name: str) -> bool:
    """Whether what `**` found below a folder is a link, or behind one: it could lead back, or to anywhere."""
    below = Path(name).relative_to(base)
    return any((base / part).is_symlink() for part in (below, *below.parents) if part.parts)


def _lake(settings: Settings, asked: Asked) -> list[LakeSpace]:
    """The Spaces of a lake, by name."""
    from kipql import lake

    known = lake.spaces(asked.folder)
    names = [name for name in known if not asked.patterns or any(fnmatchcase(name, one) for one in asked.patterns)]
    if not names:
        problem = f"the lake has no Space {' or '.join(asked.patterns)}" if known else f"{asked.folder} is no lake"
        raise KipError("NotFoundOrNotVisible", problem, hint=f"its Spaces: {', '.join(known[:10])}" if known else None)
    if asked.engine == SPARK:
        from kipql.lake.engines.on_spark import check_reachable

        check_reachable(asked.master)
    threads = None if settings.jobs == 1 else max(1, (os.cpu_count() or 1) // settings.jobs)
    return [LakeSpace(asked.folder, name, asked.engine, asked.master, threads) for name in names]
