"""Refreshing `.kqt` files: what the rule gave stays as written, what is wrong or missing is written again."""

from pathlib import Path

import pytest

from tests.exec.complete import CASES, complete

WRITTEN = """fixture lab

# ordered (§44.7)
query
FIND(?r.key, ?r.name) WHERE { ?r {type: "Robot"} } ORDER BY ?r.key
rows
"r1" "Ada"
"r2"   "Bob"
"r3" "Ada"

query
FIND(?r.key) WHERE { ?r {type: "Robot"} }
rows unordered
"r3"
"r1"
"r2"

error InvalidSyntax @1:44 hint "bind"
FIND(?r) WHERE { ?r {type: "Robot"} FILTER(?z.key == "a") }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.kqt"


def test_right_cases_stay_as_they_were_written(file: Path) -> None:
    file.write_text(WRITTEN)
    assert complete(file) == 0
    assert file.read_text() == WRITTEN


def test_wrong_rows_and_positions_are_written_again(file: Path) -> None:
    wrong = (
        WRITTEN.replace('"r2"   "Bob"', '"r2" "Rob"\n"r9" "Ida"').replace('"r3"\n"r1"\n', "").replace("@1:44", "@9:9")
    )
    file.write_text(wrong)
    assert complete(file) == 0
    text = file.read_text()
    assert '"r1" "Ada"\n"r2" "Bob"\n"r3" "Ada"\n\n' in text
    assert 'rows unordered\n"r1"\n"r2"\n"r3"\n' in text
    assert 'error InvalidSyntax @1:44 hint "bind"\n' in text


def test_a_case_without_rows_gets_them(file: Path) -> None:
    file.write_text('fixture lab\n\nquery\nFIND(?r.key) WHERE { ?r {key: "r2"} }\n')
    assert complete(file) == 0
    assert file.read_text().endswith('{key: "r2"} }\nrows\n"r2"\n')


def test_a_query_that_fails_is_named_and_left_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'fixture lab\n\n# why (§1)\nquery\nFIND(?r.key) WHERE { ?r {type: "Nobody"} }\nrows\n"r2"\n'
    file.write_text(text)
    assert complete(file) == 1
    assert file.read_text() == text
    assert capsys.readouterr().err == "some:4 why (§1): fails with SchemaSymbolNotFound\n"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.kqt")), ids=lambda path: path.stem)
def test_the_cases_of_the_repository_are_complete(path: Path, file: Path) -> None:
    file.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert complete(file) == 0
    assert file.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
