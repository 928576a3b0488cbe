"""The repeat guard (K20, E23)."""

import threading

import pytest

import kipql
from kipql.memory import AgentMemory
from tests.memory.support import fixture_s

FAILING = 'FIND(?c) WHERE { ?c {type: "Nothing"} }'
WITH = "FIND(?c) WHERE { ?c {id: :id} ?c {type: :type} }"


def failed(memory, text=FAILING, parameters=None):
    with pytest.raises(kipql.KipError) as raised:
        memory.query(text, parameters)
    return raised.value


@pytest.fixture
def counted(monkeypatch):
    """A session, and how often its queries reached the memory."""
    memory, reached = fixture_s(), []
    ask = type(memory._nexus).query

    def counting(nexus, text, *rest, **options):
        reached.append(text)
        return ask(nexus, text, *rest, **options)

    monkeypatch.setattr(type(memory._nexus), "query", counting)
    return memory, reached


def test_K20_the_fourth_time_is_answered_by_the_guard():
    memory = fixture_s()
    for _ in range(3):
        assert "repeat" not in failed(memory).details
    fourth = failed(memory)
    assert (fourth.code, fourth.details["repeat"], fourth.retry) == (
        "SchemaSymbolNotFound",
        4,
        "requires_different_input",
    )
    assert fourth.to_dict()["retry"]["class"] == "requires_different_input"
    assert failed(memory).details["repeat"] == 5


def test_E23_a_query_that_failed_three_times_is_not_executed(counted):
    memory, reached = counted
    for _ in range(5):
        failed(memory)
    assert len(reached) == 3


@pytest.mark.parametrize(
    "text", [FAILING.lower().replace("nothing", "Nothing"), f"// once more\n{FAILING}", FAILING.replace(" ", "\n")]
)
def test_E23_layout_and_comments_make_no_other_query(counted, text):
    memory, reached = counted
    for _ in range(3):
        failed(memory)
    failed(memory, text)
    assert len(reached) == 3


def test_E23_a_commit_resets_it(counted):
    memory, reached = counted
    for _ in range(4):
        failed(memory)
    memory._nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Ada" }')
    assert "repeat" not in failed(memory).details
    assert len(reached) == 4


def test_E23_a_changed_parameter_resets_it(counted):
    memory, reached = counted
    text = "FIND(?c) WHERE { ?c CONCEPT {} } LIMIT :n"
    for _ in range(4):
        failed(memory, text, {"n": "many"})
    failed(memory, text, {"n": "more"})
    assert len(reached) == 4


def test_E23_what_succeeds_is_never_held_back(counted):
    memory, reached = counted
    for _ in range(10):
        assert memory.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() > 0
    assert len(reached) == 10


def test_E23_an_unreadable_text_is_guarded_too(counted):
    memory, reached = counted
    for _ in range(3):
        failed(memory, "FIND(")
    assert failed(memory, "FIND(").details["repeat"] == 4
    assert len(reached) == 3


def test_a_session_has_a_guard_of_its_own():
    nexus = kipql.open()
    one, other = AgentMemory(nexus, session="one"), AgentMemory(nexus, session="other")
    for _ in range(4):
        failed(one)
    assert "repeat" not in failed(other).details


def test_E24_a_cancelled_read_is_no_short_answer_and_a_commit_stands():
    memory = fixture_s()
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(kipql.KipError) as raised:
        memory.query(
            "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} ?d CONCEPT {} ?e CONCEPT {} }",
            cancel=cancel,
        )
    assert (raised.value.code, raised.value.details["cancelled"]) == ("ExecutionTimeout", True)
    late = threading.Event()
    receipt = memory._nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Ada" }', cancel=late)
    late.set()
    assert receipt.status == "committed"
    assert memory.query('FIND(?p.name) WHERE { ?p {type: "Person", name: "Ada"} }').rows == ["Ada"]


def test_reads_only_are_asked():
    assert failed(fixture_s(), 'CREATE CONCEPT ?c { TYPE "Person" }').code == "ReadonlyViolation"
