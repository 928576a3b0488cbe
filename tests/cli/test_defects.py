"""An exception that is no KipError is told in one line, with exit code 2; its origin only to who asks for it."""

import pytest

from kipql.cli import main as cli


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise ValueError("boom\n\x1b[31m::error::x")

    monkeypatch.setattr(cli, "import_module", load)


@pytest.mark.usefixtures("broken")
def test_a_defect_is_one_line(kipql, monkeypatch):
    monkeypatch.delenv(cli.TRACEBACK, raising=False)
    code, out, err = kipql("query", "-c", "FIND(?c) WHERE { ?c CONCEPT {} }")
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("InternalError: ValueError: boom") and cli.TRACEBACK in line
    assert "\x1b" not in err and "Traceback" not in err


@pytest.mark.usefixtures("broken")
def test_where_a_defect_comes_from_is_shown_to_who_asks(kipql, monkeypatch):
    monkeypatch.setenv(cli.TRACEBACK, "1")
    code, _, err = kipql("query", "-c", "FIND(?c) WHERE { ?c CONCEPT {} }")
    assert code == 2 and err.startswith("Traceback (most recent call last)") and "test_defects.py" in err
    assert "ValueError: boom" in err and "\x1b" not in err


def test_a_disk_that_refuses_is_no_traceback_either(kipql, monkeypatch):
    def load(name: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cli, "import_module", load)
    monkeypatch.delenv(cli.TRACEBACK, raising=False)
    code, _, err = kipql("query", "-c", "FIND(?c) WHERE { ?c CONCEPT {} }")
    assert code == 2 and len(err.splitlines()) == 1 and "No space left on device" in err
