"""Refresh what `.kqt` cases expect: `python -m tests.exec.complete [FILE...]`.

Rows are written again where a query now answers others, and added where a case has none yet; a code and a
position where an error now has others. Expected values come from the rule: read the diff line by line, and keep
a line only where the rule gives it. A query that fails, and an error case that no longer does, are named and
left as they are.
"""

import json
import sys
from pathlib import Path

from kipql.errors import KipError
from kipql.spans import position
from tests.exec.kqt import Case, read
from tests.exec.memories import memory
from tests.exec.running import rows_of, run

CASES = Path(__file__).parent.parent / "cases"


def completed(case: Case, lines: list[str]) -> list[str]:
    """The lines of a case (its head first) with what it answers now. Raises ValueError where that is no refresh."""
    try:
        rows = rows_of(run(memory(case.memory), case.text, case.parameters))
    except KipError as error:
        if case.code is None:
            raise ValueError(f"fails with {error.code}") from None
        return [_head(case, error, lines[0]), *lines[1:]]
    if case.code is not None:
        raise ValueError("does not fail any more")
    found = [[json.dumps(cell, ensure_ascii=False) for cell in row] for row in rows]
    held = [[json.dumps(cell, ensure_ascii=False) for cell in row] for row in case.rows or []]
    if case.rows is not None and (found == held or (not case.ordered and sorted(found) == sorted(held))):
        return lines
    at = next((number for number, line in enumerate(lines) if line in ("rows", "rows unordered")), len(lines))
    return [*lines[:at], lines[at] if at < len(lines) else "rows", *(" ".join(row) for row in found)]


def _head(case: Case, error: KipError, head: str) -> str:
    """The `error` line; a position stays left out where it was, a hint stays as it is."""
    found = ["error", error.code]
    if case.position is not None and error.span is not None:
        at = position(case.text, error.span.start)
        found.append(f"@{at.line}:{at.column}")
    _, mark, hint = head.partition(" hint ")
    return " ".join(found) + mark + hint


def complete(path: Path) -> int:
    """Refresh a file; how many of its cases could not be."""
    old = path.read_text(encoding="utf-8")
    lines, failed = old.splitlines(), 0
    for case in reversed(list(read(path))):  # from the last, so that line numbers stay right
        first = case.line - 1
        end = next((at for at in range(first, len(lines)) if not lines[at].strip()), len(lines))
        try:
            lines[first:end] = completed(case, lines[first:end])
        except ValueError as problem:
            print(f"{case.name}: {problem}", file=sys.stderr)
            failed += 1
    new = "\n".join(lines) + "\n"
    if new != old:
        path.write_text(new, encoding="utf-8")
        print(f"changed {path}")
    return failed


if __name__ == "__main__":
    files = [Path(name) for name in sys.argv[1:]] or sorted(CASES.glob("*.kqt"))
    sys.exit(1 if sum(map(complete, files)) else 0)
