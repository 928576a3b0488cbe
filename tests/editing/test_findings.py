"""What is wrong with a text while it is written, and its outline: in every text, at places that are in it."""

import random
from pathlib import Path

import pytest

from kipql.editing.around import around
from kipql.editing.findings import findings
from kipql.editing.outline import outline

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.kql"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_that_is_right_has_no_findings(path):
    assert findings(str(path), path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_outline_covers_every_statement(path):
    import kipql

    text = path.read_text("utf-8")
    entries = list(outline(str(path), text))
    assert [entry.head.start for entry in entries] == [part.span.start for part in kipql.split(text)]
    assert all(entry.span.start <= entry.head.start <= entry.head.end <= entry.span.end for entry in entries)


@pytest.mark.parametrize("seed", range(60))
def test_a_text_that_was_broken_somewhere_has_a_finding_inside_it(seed):
    chance = random.Random(seed)
    text = chance.choice(SCRIPTS).read_text("utf-8")
    at = chance.randrange(len(text))
    broken = chance.choice(
        [text[:at] + text[at + 1 :], text[:at] + chance.choice('{}()"?:\x00]') + text[at:], text[:at]]
    )
    for finding in findings("x.kql", broken):
        assert 0 <= finding.span.start <= finding.span.end <= len(broken)
    for entry in outline("x.kql", broken):
        assert 0 <= entry.span.start < entry.span.end <= len(broken)


@pytest.mark.parametrize("seed", range(40))
def test_one_break_leaves_most_of_a_script_readable(seed):
    chance = random.Random(seed)
    text = (EXAMPLES / "audits.kql").read_text("utf-8")
    before = [entry.name for entry in outline("x.kql", text)]
    place = text.index("WHERE", chance.randrange(len(text) - 400))
    broken = f"{text[:place]}WHER{text[place + 5 :]}"
    after = [entry.name for entry in outline("x.kql", broken)]
    assert len(after) == len(before) - 1
    assert [name for name in before if name in after] == after
    assert len([finding for finding in findings("x.kql", broken) if finding.sure]) == 1


def test_findings_are_in_order_and_each_is_there_once():
    text = "FIND(?a) WHERE { ?b {} }\n" * 5 + "FIND(\n" + "FIND(?a) WHERE { ?b {} }\n"
    found = findings("x.kql", text)
    assert [finding.span for finding in found] == sorted({finding.span for finding in found})
    assert len(found) == 7


@pytest.mark.parametrize(
    ("text", "at", "part"),
    [
        ("FIND(?x)\nFIND(?y)", 10, "FIND(?y)"),
        ("FIND(?x)\n// a\n//! check: b\nFIND(?y)", 12, "// a\n//! check: b\nFIND(?y)"),
        ("FIND(?x)\n  WHERE {}\nLIST TYPES", 12, "FIND(?x)\n  WHERE {}\n"),
        ("", 0, ""),
        ("?x", 1, "?x"),
        ("FINDING\nfind(?x)", 9, "find(?x)"),
    ],
)
def test_the_part_around_a_position(text, at, part):
    span = around(text, at)
    assert text[span.start : span.end] == part
