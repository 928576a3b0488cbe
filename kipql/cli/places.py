"""Which Spaces `--fleet` and `--lake` mean, and one audit over all of them (docs/scale.md)."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from kipql.audit.asking import Asks
from kipql.audit.fleet import Heard, Memory, Place, clock_of, run_fleet
from kipql.audit.settings import Settings
from kipql.errors import KipError

if TYPE_CHECKING:
    from kipql.audit.report import Report
    from kipql.audit.script import ScriptFile
    from kipql.cli.auditing import Given

SPARK = "spark"


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


def many_spaces(scripts: "Sequence[ScriptFile]", settings: Settings, given: "Given", heard: Heard | None) -> "Report":
    """Run scripts over every Space that the options mean. Raises NotFoundOrNotVisible where there is none, and
    MemoryUnavailable where the engine can not be reached."""
    places: Sequence[Place] = _fleet(given["fleet"]) if given["fleet"] else _lake(settings, given)
    with _workers(settings, given) as executor:
        return run_fleet(places, scripts, settings=settings, executor=executor, heard=heard)


def _fleet(patterns: Sequence[str]) -> list[Memory]:
    """The memories of patterns and folders, each once."""
    return [Memory(name) for name in dict.fromkeys(name for pattern in patterns for name in _expanded(pattern))]


def _expanded(pattern: str) -> list[str]:
    folder = Path(pattern)
    if (folder / "nexus" / "memory.json").exists():
        return [pattern]
    if folder.is_dir():
        found = sorted(str(each) for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    else:
        found = sorted(glob(pattern, recursive=True)) if has_magic(pattern) else [pattern]  # noqa: PTH207
    if not found:
        raise KipError("NotFoundOrNotVisible", f"there is no memory at {pattern}", hint="give a pattern or a folder")
    return found


def _lake(settings: Settings, given: "Given") -> list[LakeSpace]:
    """The Spaces of a lake, by name."""
    from kipql import lake

    folder, engine, master = str(given["lake"]), given["engine"], given["master"]
    known = lake.spaces(folder)
    names = [name for name in known if not given["spaces"] or any(fnmatchcase(name, one) for one in given["spaces"])]
    if not names:
        problem = f"the lake has no Space {' or '.join(given['spaces'])}" if known else f"{folder} is no lake"
        raise KipError("NotFoundOrNotVisible", problem, hint=f"its Spaces: {', '.join(known[:10])}" if known else None)
    if engine == SPARK:
        from kipql.lake.engines.on_spark import reach

        reach(master)
    threads = None if settings.jobs == 1 else max(1, (os.cpu_count() or 1) // settings.jobs)
    return [LakeSpace(folder, name, engine, master, threads) for name in names]


def _workers(settings: Settings, given: "Given") -> AbstractContextManager[Executor | None]:
    """Threads for Spark, which has workers of its own; processes elsewhere."""
    if given["lake"] is not None and given["engine"] == SPARK:
        return ThreadPoolExecutor(settings.jobs)
    return nullcontext()
