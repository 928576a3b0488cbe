"""`whole=True` writes a Space anew, whatever is there; what else an export is told and says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake import manifest
from tests.lake.test_export import SPACE, founded
from tests.properties.vocabulary import PACKAGE

RENAME = 'UPDATE ?x SET FIELDS {name: :n} WHERE { ?x {type: "Robot", key: "r0"} }'
NAMES = 'FIND(?c.key, ?c.name) WHERE { ?c {type: "Robot"} } ORDER BY ?c.key'


def refused(ask: Callable[[], object]) -> KipError:
    with pytest.raises(KipError) as raised:
        ask()
    return raised.value


def asked(folder: Path, space: str, text: str) -> list[Any]:
    with lake.open(folder, space=space) as opened:
        return opened.query(text).rows


def test_many_increments_become_one_file_a_table(tmp_path: Path) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path, name="a")
    for number in range(4):
        nexus.execute(RENAME, {"n": f"n{number}"})
        lake.export(nexus, tmp_path, name="b")
    assert len(manifest.read(tmp_path, "b").of("concepts")) == 4
    other = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/space_id=a/*")}
    done = lake.export(nexus, tmp_path, name="b", whole=True)
    held = manifest.read(tmp_path, "b")
    assert (done.since, done.head, done.replaced) == (0, 5, False)
    assert len(held.parts) == len({part.table for part in held.parts})
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/space_id=b/*")} == held.named
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/space_id=a/*")} == other
    assert asked(tmp_path, "b", NAMES) == nexus.query(NAMES).rows


@pytest.mark.parametrize("file", ["manifest", "concepts", "gone"])
@pytest.mark.parametrize("name", ["b", "L" * 300])
def test_a_damaged_space_is_mended(tmp_path: Path, file: str, name: str) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path, name=name)
    nexus.execute(RENAME, {"n": "new"})
    part = tmp_path / manifest.read(tmp_path, name).of("concepts")[0].path
    path = manifest.path_of(tmp_path, name) if file == "manifest" else part
    if file == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    error = refused(lambda: lake.export(nexus, tmp_path, name=name))
    assert (error.code, error.hint) == ("MemoryDamaged", "export it again with whole=True (--whole)")
    assert f"the lake's {path.relative_to(tmp_path).as_posix()} is damaged" in error.message
    lake.export(nexus, tmp_path, name=name, whole=True)
    assert lake.spaces(tmp_path) == [name]
    assert asked(tmp_path, name, NAMES) == nexus.query(NAMES).rows


def test_a_damaged_manifest_is_the_problem_of_one_space(tmp_path: Path) -> None:
    nexus = founded()
    for name in ("a", "b", "L" * 300):
        lake.export(nexus, tmp_path, name=name)
    path = manifest.path_of(tmp_path, "L" * 300)
    path.write_bytes(path.read_bytes()[:100])
    assert lake.spaces(tmp_path) == [path.stem, "a", "b"]
    assert refused(lambda: lake.open(tmp_path, space=path.stem)).code == "MemoryDamaged"
    assert asked(tmp_path, "a", NAMES) == nexus.query(NAMES).rows


@pytest.mark.parametrize("stem", ["%%x", "a b", "%80", "%62", "%%" + "0" * 64])
@pytest.mark.parametrize("name", ["b", "L" * 300])
def test_a_copied_manifest_is_damage_and_no_space_twice(tmp_path: Path, stem: str, name: str) -> None:
    lake.export(founded(), tmp_path, name=name)
    (tmp_path / "spaces" / f"{stem}.json").write_bytes(manifest.path_of(tmp_path, name).read_bytes())
    assert lake.spaces(tmp_path) == sorted([name, stem])
    error = refused(lambda: lake.open(tmp_path, space=stem))
    assert (error.code, f"spaces/{stem}.json" in error.message) == ("MemoryDamaged", True)
    lake.open(tmp_path, space=name).close()


def test_a_file_name_that_is_no_text_can_be_listed_and_printed(tmp_path: Path) -> None:
    lake.export(founded(), tmp_path, name="b")
    try:
        (tmp_path / "spaces" / "\udcff.json").write_bytes(b"{}")
    except OSError:
        pytest.skip("this file system has no such names")
    assert lake.spaces(tmp_path) == ["\\xff", "b"]
    assert refused(lambda: lake.open(tmp_path, space="\\xff")).code == "MemoryDamaged"


SETUPS: list[tuple[Callable[[kipql.Nexus], object], str]] = [
    (lambda nexus: nexus.install_package(PACKAGE), 'FIND(?r) WHERE { ?r {type: "Robot"} }'),
    (
        lambda nexus: nexus.install_policy(
            {"policy_id": "acme:newest", "version": "1", "precedence": {"order": ["recency"]}}
        ),
        'FIND(?b.status) WHERE { ?p {type: "Person"} ?b BELIEF SLOT (?p, "prefers") } '
        'WITH EPISTEMIC {policy: "acme:newest"}',
    ),
]


@pytest.mark.parametrize(("change", "text"), SETUPS)
def test_a_change_of_set_up_before_the_first_commit_is_exported(
    tmp_path: Path, change: Callable[[kipql.Nexus], object], text: str
) -> None:
    nexus = kipql.open()
    lake.export(nexus, tmp_path)
    change(nexus)
    assert nexus.space_seq == 0
    assert lake.export(nexus, tmp_path).rows > 0
    assert asked(tmp_path, SPACE, text) == nexus.query(text).rows == []
    assert lake.export(nexus, tmp_path).rows == 0


@pytest.mark.parametrize(
    ("nexus", "named"),
    [(None, {}), ("pay.kip", {}), (True, {"whole": 1}), (True, {"progress": 5}), (True, {"name": 5})],
)
def test_what_is_given_wrongly_is_a_type_mismatch(tmp_path: Path, nexus: Any, named: Any) -> None:
    given = founded() if nexus is True else nexus
    assert refused(lambda: lake.export(given, tmp_path / "lake", **named)).code == "TypeMismatch"
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize("error", [ValueError("mine"), OSError("mine"), KipError("LimitExceeded", "mine")])
def test_an_error_of_the_callers_progress_is_the_callers(tmp_path: Path, error: Exception) -> None:
    def progress(done: int, total: int) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        lake.export(founded(), tmp_path, progress=progress)
    assert raised.value is error
    assert lake.spaces(tmp_path) == []
