"""`kipql lsp` through real clients: pygls' own, and one that speaks JSON-RPC by hand, badly where it must."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

import kipql
from tests.fronts.lsp_client import URI, Client, edit

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
LAB = ("--package", str(EXAMPLES / "lab.json"))
CHECK = """//! check: robots
//! title: robots that stand somewhere
FIND(?r.key)
WHERE { ?r {type: "Robot"} (?r, "stands_in", ?room) }

DESCRIBE PROTOCOL
"""


@pytest.fixture(scope="module")
def plain():
    """A server without a memory."""
    with Client() as client:
        yield client


@pytest.fixture(scope="module")
def lab():
    """A server with the words of the example."""
    with Client(*LAB) as client:
        yield client


@pytest.fixture(autouse=True)
def closed(request):
    """Each test opens the text anew."""
    yield
    for name in ("plain", "lab"):
        if name in request.fixturenames:
            client = request.getfixturevalue(name)
            client.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
            client.diagnostics()


def spot(diagnostic):
    """code, line, first and last column."""
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    return diagnostic["code"], start["line"], start["character"], end["character"]


# --- through pygls' client --------------------------------------------------------------------------------


def test_a_whole_session_with_the_client_of_pygls():
    async def session():
        client, told = LanguageClient("test", "1"), asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            told.put_nowait(params)

        await client.start_io(sys.executable, "-m", "kipql", "lsp", *LAB)
        begun = await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        assert begun.server_info.name == "kipql"
        assert begun.capabilities.text_document_sync.change == types.TextDocumentSyncKind.Incremental
        client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(URI, "kql", 1, CHECK)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        assert not (await asyncio.wait_for(told.get(), 30)).diagnostics
        document = types.TextDocumentIdentifier(URI)
        hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(3, 32)))
        assert "The robot's place" in hover.contents.value
        found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert [symbol.name for symbol in found] == ["robots", "DESCRIBE PROTOCOL"]
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(asyncio.wait_for(session(), 60))


# --- diagnostics ------------------------------------------------------------------------------------------


def test_a_right_text_has_no_diagnostics(lab):
    assert lab.open(CHECK) == []


def test_a_syntax_error_says_what_was_expected(plain):
    (found,) = plain.open("FIND(?x WHERE { ?x {} }")
    assert spot(found) == ("InvalidSyntax", 0, 8, 13)
    assert "expected" in found["message"] and "`)`" in found["message"]
    assert found["severity"] == 1 and found["source"] == "kipql"


def test_statements_around_a_syntax_error_are_checked_too(plain):
    text = "FIND(?a) WHERE { ?b {} }\n\nFIND(?x WHERE { ?x {} }\n\n//! colour: red\nFIND(?y) WHERE { ?y {} }\n"
    found = plain.open(text + "DESCRIBE EVERYTHING\nFIND(?y) WHERE { ?z {} }")
    assert [(code, line) for code, line, _, _ in map(spot, found)] == [
        ("InvalidSyntax", line) for line in (0, 2, 4, 6, 7)
    ]
    assert "nothing binds ?a" in found[0]["message"] and "unknown directive" in found[2]["message"]


@pytest.mark.parametrize("half", ["FIND(", "FIND(?x)", "MUTATE {", "FIND(?x) WHERE {", "ASSERT (?a,"])
def test_half_a_statement_is_wrong_and_the_whole_one_below_it_is_not(plain, half):
    (found,) = plain.open(f"{half}\n\nFIND(?y) WHERE {{ ?y {{}} }}\n")
    assert spot(found)[:2] == ("InvalidSyntax", 0)


def test_what_is_hardly_meant_is_a_warning(plain):
    (found,) = plain.open('FIND(?a.id) WHERE { ?a ASSERTION {status: "active"} }')
    assert found["severity"] == 2
    assert "lifecycle.status" in found["message"]


def test_an_unknown_directive_is_an_error_at_its_place(plain):
    (found,) = plain.open('//! check: a\n//! severty: error\nFIND(?x) WHERE { ?x {type: "Person"} }')
    assert spot(found)[1] == 1 and "severity" in found["message"]


def test_symbols_are_checked_with_a_package_only(lab, plain):
    text = 'FIND(?r) WHERE { ?r {type: "Robott"} }'
    assert plain.open(text) == []
    (found,) = lab.open(text)
    assert found["code"] == "SchemaSymbolNotFound" and "Robot" in found["message"]


def test_a_define_of_the_script_counts_and_is_forgotten_with_it(lab):
    text = 'DEFINE CONCEPT TYPE "Wheel" {description: "turns"}\nFIND(?w) WHERE { ?w {type: "Wheel"} }'
    assert lab.open(text) == []
    lab.change(2, {"text": text.split("\n")[1]})
    assert [each["code"] for each in lab.diagnostics(2)] == ["SchemaSymbolNotFound"]


def test_a_memory_gives_its_symbols_and_is_not_written(tmp_path):
    path = tmp_path / "brain.kip"
    with kipql.open(path, packages=[json.loads((EXAMPLES / "lab.json").read_text("utf-8"))]) as nexus:
        nexus.execute('CREATE CONCEPT ?r { TYPE "Robot" NAME "Rover" SET FIELDS {key: "rover"} }')
        seq = nexus.space_seq
    with Client("--db", str(path)) as client:
        assert client.open('FIND(?r) WHERE { ?r {type: "Robot", key: "ro"} }\nDEFINE PREDICATE "x" {}') == []
        assert '"rover"' in client.words(0, 44)
    with kipql.open(path, readonly=True) as nexus:
        assert nexus.space_seq == seq


def test_a_change_is_checked_once_after_a_pause(plain):
    plain.open("FIND(?x) WHERE { ?x {} }")
    for version in range(2, 12):
        plain.change(version, edit(0, 0, 0, "x"))
    assert plain.diagnostics(11)
    assert plain.told.empty()


def test_closing_a_text_clears_its_diagnostics(plain):
    assert plain.open("FIND(")
    plain.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert plain.diagnostics() == []


# --- incremental changes and positions --------------------------------------------------------------------


def test_changes_are_applied_in_order_and_over_lines(plain):
    plain.open("FIND(?x)\nWHERE {\n?y {} }")
    plain.change(2, edit(2, 1, 2, "x"), edit(0, 8, 0, " ", end_line=1), edit(1, 6, 6, " }"))
    (found,) = plain.diagnostics(2)
    assert spot(found)[:2] == ("InvalidSyntax", 1)
    plain.change(3, edit(1, 6, 8, ""))
    assert plain.diagnostics(3) == []


ROBOT = "\U0001f916"


@pytest.mark.parametrize(
    ("encodings", "wide"), [(None, 2), (["utf-16"], 2), (["utf-8"], 4), (["utf-32"], 1), (["utf-7", "utf-8"], 4)]
)
def test_positions_count_the_units_that_were_agreed_on(encodings, wide):
    with Client(encodings=encodings) as client:
        before = 'FIND(?x) WHERE { ?x {name: "'
        (found,) = client.open(f'{before}{ROBOT}{ROBOT}"}} ]')
        at = len(before) + 2 * wide + 3
        assert spot(found) == ("InvalidSyntax", 0, at, at + 1)
        client.change(2, edit(0, at, at + 1, "}"))
        assert client.diagnostics(2) == []
        client.change(3, edit(0, len(before), len(before) + wide, ""))
        client.diagnostics(3)
        (whole,) = client.formatted()
        assert f'"{ROBOT}"' in whole["newText"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_lf_cr_and_crlf_end_a_line(plain, sign):
    found = plain.open(f"FIND(?x) // {sign} remark\r\nWHERE {{ ?x {{}} }}\rLIMIT ]")
    assert spot(found[-1]) == ("InvalidSyntax", 2, 6, 7)


@pytest.mark.parametrize(
    "change", [edit(99, 0, 0, "x"), edit(0, 999, 9999, ""), edit(5, 3, 1, "y", end_line=2), edit(0, 2, 2, "")]
)
def test_a_change_at_a_place_that_is_not_there_is_applied_at_the_nearest(plain, change):
    plain.open("FIND(?x) WHERE { ?x {} }")
    plain.change(2, change)
    plain.diagnostics(2)
    plain.change(3, {"text": "DESCRIBE PROTOCOL"})
    assert plain.diagnostics(3) == []


# --- completion -------------------------------------------------------------------------------------------


def test_completion_offers_what_the_grammar_accepts(plain):
    plain.open("FIND(?x) \n")
    assert plain.words(0, 9)[0] == "WHERE"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('FIND(?r) WHERE { ?r {type: "Ro', ['"Robot"', '"Room"']),
        ('FIND(?r) WHERE { (?r, "stan', ['"stands_in"']),
        ("FIND(?robot, ?room) WHERE { ?ro", ["?robot", "?room"]),
        ("FIND(?c) WHERE { ?c ASSERTION {} FILTER(?c.conf", ["confidence"]),
        ('FIND(?c.facets["Mnem', ['"MnemonicState"']),
        ('FIND(?c.facets["MnemonicState"].sal', ["salience"]),
    ],
)
def test_completion_offers_symbols_variables_and_fields(lab, text, words):
    lab.open(f"DESCRIBE PROTOCOL\n{text} }}\n\nLIST TYPES")
    assert lab.words(1, len(text)) == words


def test_a_quote_that_the_editor_closed_is_replaced(lab):
    lab.open('FIND(?r) WHERE { ?r {type: "Robo"} }')
    (item,) = lab.at("completion", 0, 32)["items"]
    assert item["textEdit"]["newText"] == '"Robot"'
    assert item["textEdit"]["range"]["start"]["character"] == 27
    assert item["textEdit"]["range"]["end"]["character"] == 33


def test_completion_works_below_a_statement_that_is_wrong(plain):
    plain.open("FIND(?x WHERE\n\nFIND(?y) \n")
    assert "WHERE" in plain.words(2, 9)


def test_completion_knows_directives(plain):
    plain.open("//! sev\nFIND(?x) WHERE { ?x {} }")
    assert plain.words(0, 7) == ["severity: "]
    assert len(plain.words(0, 4)) > 10


# --- hover, formatting, symbols ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("FIND(COUNT(?x)) WHERE { ?x {} }", "COUNT", "How many solutions"),
        ('FIND(?x) WHERE { ?x {} FILTER(CONTAINS(?x.name, "a")) }', "CONTAINS", "holds the part"),
        ('FIND(?x) WHERE { ?x {type: "Robot"} }', '"Robot"', "A robot of the lab"),
        ('FIND(?x) WHERE { (?x, "stands_in", ?y) }', "stands_in", "functional"),
        ('DESCRIBE ERROR "InvalidSyntax"', "Invalid", "not a well-formed statement"),
        ('UPDATE ?x SET FACET "MnemonicState" {salience: 1} WHERE { ?x {} }', "Mnemonic", "salience"),
        ("FIND(?x) WHERE { ?x ASSERTION {} }", "?x", "Assertion"),
        ("//! severity: error\n//! check: a\nFIND(?x) WHERE { ?x {} }", "severity", "`warning`"),
    ],
)
def test_hover_says_what_a_word_means(lab, text, word, said):
    lab.open(text)
    found = lab.at("hover", 0, text.index(word) + 1)
    assert said in found["contents"]["value"]
    assert found["contents"]["kind"] == "markdown"


def test_hover_has_nothing_to_say_of_a_blank_or_an_unknown_name(lab):
    lab.open('FIND(?x)  WHERE { ?x {type: "Nobody"} }')
    assert lab.at("hover", 0, 9) is None
    assert lab.at("hover", 0, 30) is None


def test_what_a_package_says_is_text_in_a_hover(tmp_path):
    package = json.loads((EXAMPLES / "lab.json").read_text("utf-8"))
    text = json.dumps(package).replace("A robot of the lab.", "<b>[x](command:evil)</b> \\u202e `a`")
    (tmp_path / "evil.json").write_text(text, "utf-8")
    with Client("--package", str(tmp_path / "evil.json")) as client:
        client.open('FIND(?x) WHERE { ?x {type: "Robot"} }')
        said = client.at("hover", 0, 30)["contents"]["value"]
    assert "](" not in said.replace("\\](", "") and "<b>" not in said.replace("\\<b", "") and "\u202e" not in said


def test_formatting_is_that_of_fmt(plain):
    plain.open("find( ?x )where{?x{}} // kept")
    (change,) = plain.formatted()
    assert change["newText"] == kipql.format("find( ?x )where{?x{}} // kept")
    plain.change(2, {"text": change["newText"]})
    plain.diagnostics(2)
    assert plain.formatted() == []


def test_a_text_that_can_not_be_read_is_not_formatted(plain):
    plain.open("FIND(")
    assert plain.formatted() == []


def test_symbols_are_the_checks_by_name_and_other_statements(plain):
    plain.open(f'FIND(\n\n{CHECK}\nCREATE CONCEPT ?a {{ TYPE "Person" }}\n')
    found = plain.of("documentSymbol")
    assert [(each["name"], each["detail"]) for each in found] == [
        ("robots", "robots that stand somewhere"),
        ("DESCRIBE PROTOCOL", "META"),
        ('CREATE CONCEPT ?a { TYPE "Person" }', "KML"),
    ]
    assert found[0]["range"]["start"]["line"] == 2
    assert found[0]["selectionRange"]["start"]["line"] == 4


# --- hostile ----------------------------------------------------------------------------------------------

HOSTILE = [
    "",
    "\x00\x01\x7f",
    "\ufeffFIND(?x) WHERE { ?x {} }",
    '"' * 3_000,
    "(" * 30_000,
    "{" * 500,
    "FIND(" + "!" * 10_000,
    "//! " * 2_000,
    "//! check: \u202e\x1b[31m\nFIND(?x) WHERE { ?x {} }",
    "\n" * 100_000,
    "FIND(?x) WHERE { ?x {} }\n" * 3_000,
    "FIND(\n" * 3_000,
    "\U0001f916" * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_answered_and_the_server_goes_on(lab, text):
    for diagnostic in lab.open(text):
        assert not set(diagnostic["message"]) & set("\x00\x01\x1b\u202e")
    lines = text.split("\n")
    line = len(lines) // 2
    lab.words(line, len(lines[line]) // 2)
    lab.at("hover", line, len(lines[line]) // 2)
    lab.of("documentSymbol")
    lab.formatted()


def test_lone_surrogates_in_json_are_text(lab):
    text = 'FIND(?x) WHERE { ?x {name: "\\ud800"} } \ud800'
    assert lab.open(text)[0]["code"] == "InvalidSyntax"
    lab.words(0, 30)
    lab.formatted()


def test_a_text_larger_than_a_command_may_be_is_said_to_be_too_large(plain):
    text = "// remark\n" * 300_000 + "FIND(?x) WHERE { ?x {} }\nFIND(?y) "
    (found,) = plain.open(text)
    assert found["code"] == "ResourceExhausted"
    assert "WHERE" in plain.words(300_001, 9)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00",
        b'{"jsonrpc": "2.0", "method": "textDocument/hover", "id": 7, "params": {"text": "\xc3\x28"}}',
        b"{",
        b"[]",
        b"null",
        b'{"jsonrpc": "1.0", "method": "x"}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 5}}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": '
        b'{"uri": "u:x", "version": 1}, "contentChanges": [{"text": "x"}]}}',
        b'{"jsonrpc": "2.0", "method": "no/such", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 99, "result": null}',
    ],
    ids=range(10),
)
def test_a_message_that_is_none_leaves_the_server_running(plain, body):
    plain.raw(body)
    assert plain.open("FIND(?x) WHERE { ?x {} }") == []


HOVER = '"jsonrpc": "2.0", "method": "textDocument/hover", "params": '


@pytest.mark.parametrize(
    ("body", "id_", "code"),
    [
        (f'{{"id": 700, {HOVER} {{}}}}', 700, -32602),
        (f'{{"id": "a", {HOVER} null}}', "a", -32602),
        (f'{{"id": 700, {HOVER} []}}', 700, -32602),
        (f'{{"id": 700, {HOVER} {{"textDocument": {{"uri": "u:x"}}, "position": {{"line": -1, "character": 0}}}}}}',
         700, -32602),
        (f'{{"id": 700, {HOVER} {{"textDocument": {{"uri": "u:x"}}, "position": {{"line": "a", "character": 0}}}}}}',
         700, -32602),
        ('{"id": 700, "jsonrpc": "2.0", "method": "textDocument/formatting", "params": {"textDocument": 5}}',
         700, -32602),
        ('{"id": 700, "jsonrpc": "2.0", "method": 5}', 700, -32600),
        ('{"id": 700, "jsonrpc": "2.0", "method": {"a": []}}', 700, -32600),
        ('{"id": 700, "jsonrpc": "1.0", "method": "textDocument/hover"}', 700, -32600),
        ('{"id": 700, "method": "textDocument/hover"}', 700, -32600),
        ('{"id": {"a": 1}, "jsonrpc": "2.0", "method": "textDocument/hover"}', None, -32600),
        ('{"id": true, "jsonrpc": "2.0", "method": "textDocument/hover"}', None, -32600),
        ('{"id": 1.5, "jsonrpc": "2.0", "method": "textDocument/hover"}', None, -32600),
        ("[]", None, -32600),
        ("null", None, -32600),
        ('"x"', None, -32600),
        ("{", None, -32700),
        ("nonsense", None, -32700),
        ("[" * 100_000 + "]" * 100_000, None, -32700),
        (f'{{"id": 700, {HOVER} "\xff"}}', None, -32700),
    ],
    ids=range(20),
)  # fmt: skip
def test_who_sends_what_is_no_request_is_told(plain, body, id_, code):
    (answer,) = plain.heard(body.encode("latin-1"))
    assert answer["id"] == id_ and answer["error"]["code"] == code and answer["jsonrpc"] == "2.0"
    assert answer["error"]["message"] and len(answer["error"]["message"]) < 400 and "data" not in answer["error"]


def test_the_place_that_does_not_fit_is_named(plain):
    (answer,) = plain.heard(f'{{"id": 1, {HOVER} {{"textDocument": {{"uri": "u:x"}}}}}}'.encode())
    assert "position" in answer["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 5}}',
        '{"jsonrpc": "2.0", "method": "no/such", "params": {}}',
        '{"jsonrpc": "2.0", "id": 99, "result": null}',
        '{"jsonrpc": "2.0", "id": 99, "error": {"code": "x"}}',
        '{"jsonrpc": "2.0", "id": {"a": 1}, "result": 5}',
        '{"jsonrpc": "2.0"}',
        '{"jsonrpc": "2.0", "method": "no/such", "params": {"jsonrpc": "2.0", "id": 5, "method": "shutdown"}}',
    ],
    ids=range(7),
)
def test_nobody_waits_for_an_answer_to_a_notification_or_an_answer(plain, body):
    assert plain.heard(body.encode()) == []


def test_after_shutdown_a_request_is_answered_that_it_is_too_late():
    client = Client()
    client.ask("shutdown", None)
    assert client.answer("textDocument/hover", {})["error"]["code"] == -32600
    client.tell("exit", None)
    client.process.stdin.close()
    assert client.process.wait(timeout=20) == 0
    client.process.stdout.close()


def test_an_unknown_request_is_an_error_and_no_end(plain):
    assert plain.answer("textDocument/noSuch", {})["error"]["code"] == -32601
    assert plain.open("DESCRIBE PROTOCOL") == []


def test_a_text_that_is_not_open_has_no_answers_and_is_not_read(plain, tmp_path):
    path = tmp_path / "broken.kql"
    path.write_bytes(b"FIND(\xff\xfe")
    for method in ("hover", "completion"):
        assert plain.at(method, 0, 1, uri=path.as_uri()) is None
    assert plain.of("documentSymbol", uri=path.as_uri()) is None


def test_the_server_ends_when_its_input_does():
    client = Client()
    client.process.stdin.close()
    assert client.process.wait(timeout=20) == 0
    client.process.stdout.close()


def test_a_memory_that_is_not_there_is_said_and_nothing_is_served(tmp_path):
    from kipql.cli.main import main

    assert main(["lsp", "--db", str(tmp_path / "none.kip")]) == 2
    assert not (tmp_path / "none.kip").exists()


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    from click.testing import CliRunner

    from kipql.cli.main import cli

    monkeypatch.setitem(sys.modules, "pygls", None)
    called = CliRunner().invoke(cli, ["lsp"])
    assert isinstance(called.exception, kipql.KipError)
    assert called.exception.hint == 'pip install "kipql[lsp]"'
