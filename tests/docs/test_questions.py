"""The ten questions of docs/examples: a conversation of our own, imported, claimed, asked (query, belief, ledger)."""

from pathlib import Path

from click.testing import CliRunner

import kipql
from kipql.audit.script import read_script
from kipql.cli.main import cli
from kipql.render import ledger

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def run(*arguments: str) -> str:
    called = CliRunner().invoke(cli, list(arguments))
    assert called.exit_code == 0, called.output
    return called.output


def test_ten_questions_are_answered_as_the_example_says(tmp_path: Path) -> None:
    memory = str(tmp_path / "talk.kip")
    run("import", "chat", str(EXAMPLES / "talk.json"), "--db", memory)
    told = run("run", "--write", "--db", memory, str(EXAMPLES / "talk.kql"), str(EXAMPLES / "questions.kql"))
    assert "32 checks: 32 passed" in told
    with kipql.open(memory, readonly=True) as nexus:
        slot = nexus.query(
            """FIND(?b) WHERE { ?b BELIEF SLOT ({type: "Person", key: "chat:talk:person:Tom"}, "lives_in") }
            FOR TIME "2026-10-15T00:00:00.000Z" WITH EPISTEMIC {explanation: "ledger"}"""
        ).scalar()
        lines = {line.split()[2]: line for line in ledger(slot).splitlines()[2:]}
        assert "expired" in lines["Linz"] and "slot line" in lines["Linz"]
        assert "retracted" in lines["Berlin"] and "support" in lines["Salzburg"]


def test_each_question_is_a_query_a_belief_and_a_ledger() -> None:
    names = {step.name for step in read_script(str(EXAMPLES / "questions.kql")).steps}
    for number in range(1, 11):
        assert {f"q{number}-said", f"q{number}-believed", f"q{number}-ledger"} <= names
