"""Memories that fronts stand in front of."""

from pathlib import Path

import pytest

import kipql

ROOT = Path(__file__).resolve().parents[2]
NASTY = "\x1b[2J\u202egnp\u2028<img src=x onerror=alert(1)></script><!-- ::error::x\u200b"


def people(path: Path) -> Path:
    """A memory of seven people, one with a hostile name; each is a commit."""
    with kipql.open(path) as nexus:
        for at, name in enumerate(("Ada", "Bo", "Cy", "Di", "Ed", "Fay", NASTY)):
            given = {"name": name, "key": f"p{at}"}
            nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME :name SET FIELDS {key: :key} }', given)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The memory of `people`."""
    return people(tmp_path / "brain.kip")
