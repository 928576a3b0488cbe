"""Every `.kqt` case, in all three modes: generated source, closures, and closures without any rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from kipql.errors import KipError
from kipql.spans import position
from tests.exec.kqt import Case, read
from tests.exec.memories import memory
from tests.exec.running import MODES, rows_of, run

FILES = sorted((Path(__file__).parent.parent / "cases").glob("*.kqt"))
CASES = [case for file in FILES for case in read(file)]


def _sorted(rows: list[list[Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, mode: str) -> None:
    if case.code is not None:
        with pytest.raises(KipError) as caught:
            _ = run(memory(case.memory), case.text, case.parameters, mode).rows
        _check_error(case, caught.value)
        return
    found = rows_of(run(memory(case.memory), case.text, case.parameters, mode))
    assert case.rows is not None
    if case.ordered:
        assert json.dumps(found) == json.dumps(case.rows)
    else:
        assert _sorted(found) == _sorted(case.rows)


def _check_error(case: Case, error: KipError) -> None:
    assert error.code == case.code, str(error)
    if case.position is not None:
        assert error.span is not None, error
        at = position(case.text, error.span.start)
        assert (at.line, at.column) == case.position, str(error)
    if case.hint is not None:
        assert case.hint in (error.hint or "")
