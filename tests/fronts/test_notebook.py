"""`%load_ext kipql.notebook` in IPython's own shell: cells, parameters, drawings, errors."""

import json

import pytest

import kipql
from tests.fronts.conftest import NASTY

pytest.importorskip("IPython", reason="IPython is not installed")
NAMES = "FIND(?p.name) WHERE { ?p CONCEPT {} } ORDER BY ?p.key LIMIT 2"


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell(config=config)
    made.run_cell("%load_ext kipql.notebook")
    yield made
    made.run_cell("%unload_ext kipql.notebook")


def run(shell, text):
    """The answer of a cell that works."""
    done = shell.run_cell(text)
    done.raise_error()
    return done.result


def refused(shell, text):
    """The error of a cell that does not; the cells after it do not run."""
    done = shell.run_cell(text)
    assert not done.success
    return str(done.error_in_exec)


def html(shell, value):
    return shell.display_formatter.format(value)[0].get("text/html")


def test_a_cell_asks_the_memory_that_a_line_opened(shell, folder, capsys):
    run(shell, f"%kql {folder}")
    assert capsys.readouterr().out == "kip:space:default at 7, as kip:owner\n"
    result = run(shell, f"%%kql\n{NAMES}")
    assert result.rows == ["Ada", "Bo"] and "<td" in html(shell, result)
    run(shell, "%kql")
    assert "at 7" in capsys.readouterr().out


def test_parameters_are_the_variables_of_the_notebook(shell, folder):
    run(shell, f"%kql {folder}")
    run(shell, "key = 'p1'; unused = object()")
    assert run(shell, "%%kql\nFIND(?p.name) WHERE { ?p {key: :key} }").rows == ["Bo"]
    run(shell, f"key = {NASTY!r}")
    assert run(shell, "%%kql\nFIND(?p.name) WHERE { ?p {key: :key} }").rows == []
    assert "ReferenceError" in refused(shell, "%%kql\nFIND(?p.name) WHERE { ?p {key: :kei} }")
    assert "TypeMismatch" in refused(
        shell, "key = object()\nget_ipython().run_cell_magic('kql', '', 'FIND(?p) WHERE { ?p {key: :key} }')"
    )


def test_a_numpy_number_is_a_number(shell, folder):
    run(shell, f"%kql {folder}")
    run(shell, "import numpy; most = numpy.int64(3)")
    assert len(run(shell, "%%kql\nFIND(?p.name) WHERE { ?p CONCEPT {} } LIMIT :most")) == 3


def test_a_memory_is_read_only_until_it_is_said(shell, folder):
    run(shell, f"%kql {folder}")
    write = '%%kql\nCREATE CONCEPT ?p { TYPE "Person" NAME "Gus" }'
    assert "ReadonlyViolation" in refused(shell, write)
    run(shell, f"%kql {folder} --write --as planner")
    receipt = run(shell, write)
    assert receipt.space_seq == 8 and receipt.principal_id == "planner"


def test_a_cell_may_hold_several_statements_and_name_the_answer(shell):
    run(shell, "%kql --new --package kip://domains/general@1.0.0")
    assert run(shell, f'%%kql -o people\nCREATE CONCEPT ?p {{ TYPE "Person" NAME "Ada" }};\n{NAMES}') is None
    assert shell.user_ns["people"].rows == ["Ada"]


def test_a_nexus_of_the_notebook_is_used_and_left_open(shell, folder):
    with kipql.open(folder) as nexus:
        shell.user_ns["memory"] = nexus
        run(shell, "%kql memory")
        assert run(shell, f"%%kql\n{NAMES}").rows == ["Ada", "Bo"]
        assert "ReadonlyViolation" in refused(shell, '%%kql\nCREATE CONCEPT ?p { TYPE "Person" }')
        run(shell, "%kql --new")
        assert nexus.query(NAMES).rows == ["Ada", "Bo"]


def test_an_error_is_its_caret_without_a_traceback(shell, folder, capsys):
    assert "no memory is open" in refused(shell, f"%%kql\n{NAMES}")
    assert "no memory is open" in refused(shell, "%kql")
    assert "nowhere.kip" in refused(shell, "%kql nowhere.kip")
    run(shell, f"%kql {folder}")
    capsys.readouterr()
    error = refused(shell, "%%kql\nFIND(?p.name WHERE")
    assert "InvalidSyntax" in error and "^" in error
    assert "Traceback" not in "".join(capsys.readouterr())
    assert "unrecognized" in refused(shell, "%kql --nonsense x")


def test_a_caveat_is_on_standard_error(shell, folder, capsys):
    run(shell, f"%kql {folder}")
    run(shell, '%%kql\nFIND(?a) WHERE { ?a ASSERTION {status: "active"} }')
    assert "warning" in capsys.readouterr().err


def test_beliefs_and_elements_are_drawn_with_names_and_other_mappings_are_not(shell):
    from tests.repl.conftest import lab

    with lab() as nexus:
        shell.user_ns["memory"] = nexus
        run(shell, "%kql memory")
        asked = (
            'FIND(?b) WHERE { ?r {key: "rover"} ?b BELIEF SLOT (?r, "stands_in") } '
            'WITH EPISTEMIC {explanation: "ledger"}'
        )
        belief = run(shell, f"%%kql\n{asked}")
        for value in (belief, belief.scalar()):
            drawn = html(shell, value)
            assert "<svg" in drawn and "the museum (C-10)" in drawn
        element = run(shell, '%%kql\nFIND(?r) WHERE { ?r {key: "rover"} }').scalar()
        assert "Rover" in html(shell, element)
    assert html(shell, {"a": 1}) is None and html(shell, {}) is None


def test_stored_text_is_text(shell, folder):
    run(shell, f"%kql {folder}")
    drawn = html(shell, run(shell, '%%kql\nFIND(?p.name, ?p) WHERE { ?p {key: "p6"} }'))
    assert "<img" not in drawn and "\x1b" not in drawn and "\u202e" not in drawn and "&lt;img" in drawn


def test_without_the_extension_a_result_draws_itself_and_a_belief_can_be_asked_to(folder):
    from kipql.notebook import Drawn

    with kipql.open(folder, readonly=True) as nexus:
        assert "<td" in nexus.query(NAMES)._repr_html_()
        element = nexus.query('FIND(?p) WHERE { ?p {key: "p0"} }').scalar()
    assert "Ada" in Drawn(element)._repr_html_() and Drawn({"a": 1})._repr_html_() is None
    assert json.loads(json.dumps(Drawn(element).value)) == element


def test_an_interrupt_ends_the_call_and_keeps_the_session(shell, monkeypatch):
    from concurrent.futures import Future

    run(shell, "%kql --new")
    run(shell, "%%kql\nMUTATE { " + " ".join(f'CREATE CONCEPT ?a{n} {{ TYPE "Person" }}' for n in range(200)) + " }")
    result = Future.result

    def interrupted(future, timeout=None):
        monkeypatch.setattr(Future, "result", result)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    slow = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} ?d CONCEPT {} FILTER(?a.id != ?d.id) }"
    done = shell.run_cell(f"%%kql\n{slow}")
    assert isinstance(done.error_in_exec, KeyboardInterrupt)
    assert run(shell, "%%kql\nFIND(COUNT(?a)) WHERE { ?a CONCEPT {} }").scalar() == 200


def test_a_write_to_what_was_opened_for_reading_says_how_it_is_opened_for_writing(shell, folder):
    run(shell, f"%kql {folder}")
    said = refused(shell, '%%kql\nCREATE CONCEPT ?new { TYPE "Person" NAME "New" }')
    assert "ReadonlyViolation" in said and "%kql DB --write" in said and "kipql exec" not in said


@pytest.mark.parametrize(
    "line", ['FIND(?p) WHERE { ?p {key: "p1"} }', "FIND (?p.name) WHERE { ?p CONCEPT {} }", "LIST TYPES"]
)
def test_a_statement_on_the_line_is_sent_into_a_cell(shell, folder, line):
    run(shell, f"%kql {folder}")
    said = refused(shell, f"%kql {line}")
    assert "%%kql in a cell" in said and "unrecognized" not in said


def test_a_memory_named_in_capitals_is_no_statement(shell, folder):
    shell.push({"BRAIN": kipql.open(folder)})
    run(shell, "%kql BRAIN --write")
    run(shell, "%kql BRAIN")
    shell.user_ns["BRAIN"].close()


@pytest.mark.parametrize("options", ["", " --write"])
def test_a_misspelt_name_makes_no_memory(shell, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    kipql.open("lab.kip").close()
    before = set(tmp_path.iterdir())
    said = refused(shell, f"%kql labb{options}")
    assert "there is no memory labb" in said and "did you mean lab.kip?" in said and "%kql ./labb --write" in said
    assert set(tmp_path.iterdir()) == before
