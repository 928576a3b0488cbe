"""`python -m tests.lake.fleet --memories 1000`: one audit of a fleet, and of a lake of as many Spaces; one is damaged.

Every Space has a fact of its own that a check finds, so that an answer that is missing or taken for another's is seen.
`--dask` and `--ray` audit a fleet on two workers of another scheduler instead (tests/lake/fleet_elsewhere.py).
Says what it measured; the exit code is 1 where the audit said anything else than it should have.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import kipql
from kipql import lake
from kipql.lake import manifest

CHECK = """
//! check: number
//! message: {key}
FIND(?r.key, ?r.attributes.number) WHERE { ?r {type: "Robot"} } ORDER BY ?r.key;
//! check: nothing
FIND(?r.key) WHERE { ?r {type: "Robot"} FILTER(?r.attributes.number < 0) };
"""
PACKAGE = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://fleet/robots", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Robot": {
                "kind": "ConceptType",
                "description": "A machine.",
                "attributes": {"open": True, "fields": {"number": {"type": "integer"}}},
            }
        }
    },
}


def names(count: int) -> list[str]:
    return [f"m{number:05}" for number in range(count)]


def memories(folder: Path, count: int) -> list[Path]:
    """Memories with one robot each, named by its number."""
    made = []
    for number, name in enumerate(names(count)):
        path = folder / f"{name}.kip"
        with kipql.open(path, packages=[PACKAGE], durability="none", snapshot_after=None) as nexus:
            nexus.execute(
                'CREATE CONCEPT ?r { TYPE "Robot" SET FIELDS {key: :key} SET ATTRIBUTES {number: :number} }',
                {"key": f"r{number}", "number": number},
            )
        made.append(path)
    return made


def lake_of(paths: Sequence[Path], folder: Path) -> None:
    """A lake with a Space of each memory."""
    for path in paths:
        with kipql.open(path, readonly=True) as nexus:
            lake.export(nexus, folder, name=path.stem)


def flip(path: Path) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def damage_memory(path: Path) -> None:
    (journal,) = (path / "spaces").glob("*/journal")
    flip(journal)


def damage_space(folder: Path, name: str) -> None:
    flip(folder / manifest.read(folder, name).of("concepts")[0].path)


def audited(*where: str, jobs: int) -> tuple[int, dict[str, object], float]:
    """`kipql run` in a process of its own: exit code, the report, seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".kql") as script:
        script.write(CHECK)
        script.flush()
        command = [sys.executable, "-m", "kipql", "run", *where, "--jobs", str(jobs), "--format", "json", script.name]
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
    return done.returncode, json.loads(done.stdout), seconds


def wrong(code: int, report: dict[str, object], count: int, damaged: int) -> list[str]:
    """What a report says that is not so, of `count` Spaces of which one is damaged."""
    checks = {check["check"]: check for check in report["checks"]}  # type: ignore[attr-defined]
    found = [(stem(f["space_id"]), f["message"]) for f in checks["number"]["findings"]]
    told = [(stem(error["space_id"]), error["code"]) for error in report["errors"]]  # type: ignore[attr-defined]
    expected = [(name, f"r{number}") for number, name in enumerate(names(count)) if number != damaged]
    says = {
        "the exit code": (code, 2),
        "the findings": (found, expected),
        "the errors": (told, [(names(count)[damaged], "MemoryDamaged")]),
        "the Spaces": (len(report["spaces"]), count),  # type: ignore[arg-type]
        "the clean check": (checks["nothing"]["found"], 0),
        "that it passed": (checks["nothing"]["passed"], False),
    }
    return [f"{what}: {is_}, not {should}" for what, (is_, should) in says.items() if is_ != should]


def stem(space_id: str) -> str:
    return Path(space_id).stem


def run(count: int, jobs: int, folder: Path) -> list[str]:
    """Both audits; what is wrong with what they say."""
    began = time.perf_counter()
    paths = memories(folder / "fleet", count)
    print(f"{count} memories made in {time.perf_counter() - began:.1f} s", flush=True)
    began = time.perf_counter()
    lake_of(paths, folder / "lake")
    print(f"a lake of {count} Spaces exported in {time.perf_counter() - began:.1f} s", flush=True)
    damaged = count * 2 // 3
    damage_memory(paths[damaged])
    damage_space(folder / "lake", names(count)[damaged])
    problems = []
    for what, where in (
        ("--fleet", ("--fleet", str(folder / "fleet" / "*.kip"))),
        ("--lake", ("--lake", str(folder / "lake"))),
    ):
        code, report, seconds = audited(*where, jobs=jobs)
        answered = sum(1 for space in report["spaces"] if space["answered"])  # type: ignore[attr-defined]
        print(
            f"{what} --jobs {jobs}: {answered} answered, {len(report['errors'])} error, "  # type: ignore[arg-type]
            f"exit {code}, {seconds:.1f} s",
            flush=True,
        )
        problems += [f"{what}: {one}" for one in wrong(code, report, count, damaged)]
    return problems


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.fleet")
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dask", action="store_true", help="on Dask: pip install distributed")
    parser.add_argument("--ray", action="store_true", help="on Ray: pip install ray")
    chosen = parser.parse_args(arguments)
    elsewhere = [name for name in ("dask", "ray") if getattr(chosen, name)]
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        if not elsewhere:
            problems += run(chosen.memories, chosen.jobs, Path(folder))
        for name in elsewhere:
            from tests.lake import fleet_elsewhere

            problems += fleet_elsewhere.differences(name, chosen.memories, Path(folder) / name)
    print("\n".join(problems) or "as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
