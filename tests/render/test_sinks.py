"""Every place that writes text to a terminal or a file goes through `kipql.escape`, or is known here with a reason.

The places are found in the syntax trees of the packages that show something: calls of `print`, `click.echo`,
`click.secho` and of a method `write`, whose text is no constant. A new one fails until it escapes, or says here why it
need not (docs/security.md, "Output").
"""

import ast
from pathlib import Path

import kipql
from kipql import escape

ROOT = Path(kipql.__file__).parent
SHOWING = ("cli", "repl")  # what prints; `audit` and `render` make texts for them, escaped by form (`test_escape`)
ESCAPING = {name for name, value in vars(escape).items() if callable(value) and not name.startswith("_")}
WRITING = {"print", "echo", "secho", "echo_via_pager", "write", "writelines", "show", "note", "aside"}


ALLOWED = {
    # kipql.runtime.texts.problem_text(s), kipql.audit.reports, kipql.render: each escapes for its form
    "an escaping function": (
        "cli/auditing.py::_publish::rendered(report, given['form'], given['fail_on'])",
        "cli/auditing.py::_publish::wrong",
        "cli/auditing.py::_publish::said",
        "cli/auditing.py::_publish::text",
        "cli/check_command.py::command::problem_text(problem)",
        "cli/explain_command.py::_show::problem_text(entry['error'])",
        "cli/fmt_command.py::_say::problem_text(place(path, error.text or '', error))",
        "cli/options.py::in_file::problem_text(place(path, text, error))",
        "cli/options.py::warn::f'warning: {problem_text(problem)}'",
        "cli/statements.py::_run::as_table(columns, rows, None if given['wide'] else WIDEST, label)",
        "cli/statements.py::_run::FORMATS[given['form']](columns, rows)",
        "cli/statements.py::_run::_receipt(receipt, given['form'])",
        "repl/commands/asking.py::help_::'\\n'.join([*wrapped(_KEYS.split(), screen), '', *lines])",
        "repl/commands/asking.py::params::'\\n'.join(lines) or 'no parameters'",
        "repl/commands/asking.py::plan::terminal_text(text)",
        "repl/commands/around.py::graph::'\\n'.join((terminal(line) for line in lines))",
        "repl/commands/asking.py::schema::'\\n'.join(said)",
        "repl/commands/beliefs.py::explain::'\\n\\n'.join([*drawn, *_standing(shell)])",
        "repl/commands/beliefs.py::timeline_::'\\n\\n'.join([*drawn, *_standing(shell)])",
        "repl/commands/saved.py::run::'\\n'.join(map(terminal, saved.names())) or 'nothing is saved'",
        "repl/start.py::start::greeting(shell)",
        "repl/statements.py::show_rows::text",
        "repl/statements.py::_write::receipt_line(receipt)",
    ),
    # numbers, instants, names that kipql gives or has checked
    "no text of anybody's": (
        "cli/audits_command.py::list_command::f'{name}: {terminal(library.about(name))}'",
        "cli/audits_command.py::list_command::f\"    {step.name} ({said.severity}; {', '.join(said.tags)}{needs})\"",
        "cli/audits_command.py::show_command::library.text(name)",
        "cli/canon_command.py::bring::f\"{articles}; {many(done.logged, 'journal file')} logged, {done.known} known\"",
        "cli/canon_command.py::write_out::f\"{written}, {many(done.unchanged, 'file')} unchanged\"",
        "cli/explain_command.py::_show::f\"{_cost(found, entry['missing'])}\\n\"",
        "cli/export_command.py::lake_command::f'{terminal(done.space)}: up to sequence {done.head}{since}, "
        "{done.rows} rows, {done.bytes} bytes in all{erased}{replaced}'",
        "cli/export_command.py::html_command::f'{terminal(file)}: {len(text.encode())} bytes'",
        "cli/main.py::_version::f'kipql {kipql.__version__}'",
        "cli/serve_command.py::_listening::f'serving {address}/kip'",
        "cli/statements.py::_run::more",
        "repl/commands/asking.py::help_::f'.{found.name} {found.usage}'.rstrip() + f'\\n  {found.help}'",
        "repl/commands/asking.py::mode::f'mode {shell.settings.mode}'",
        'repl/commands/coordinates.py::asof::f"as of {shell.as_of}{at}; a statement\'s own AS OF SEQ wins"',
        "repl/commands/coordinates.py::asof::f'reading the head, {shell.nexus.space_seq}'",
        "repl/commands/coordinates.py::fortime::"
        'f"for time {instant(shell.for_time)}; a statement\'s own FOR TIME wins"',
        "repl/commands/saved.py::save::f\"saved {name}: {cut(terminal(' '.join(kept.split())), _SHOWN)}\"",
        "repl/commands/saved.py::watch::f'-- at {seq}'",
        "repl/commands/session.py::open_::f\"opened {terminal(path or 'an empty memory')} at {opened.space_seq}\"",
        "repl/commands/session.py::limits::'\\n'.join(lines)",
        "repl/commands/session.py::settings::'\\n'.join((f'{name.ljust(9)} {value}' for name, value in shown.items()))",
        "repl/statements.py::_read::more",
        "repl/statements.py::_under::f'({line})'",
        "repl/statements.py::_agreed::f'  and {len(changes) - 20} more'",
    ),
    # a file or a pipe for programs, in a form that is escaped by its maker; `fmt` shows a text as it is
    "no screen": (
        "cli/files.py::write_new::text",
        "cli/files.py::answer_lines::json.dumps(answer(line), ensure_ascii=True, separators=(',', ':'))",
        "cli/fmt_command.py::_file::terminal_lines(shown) if sys.stdout.isatty() else shown",
        "cli/fmt_command.py::_file::better",
    ),
    # the shell's own printers: what they are given is looked at where they are called
    "the printer itself": (
        "repl/console.py::show::text",
        "repl/console.py::show::f'{text}\\n'",
        "repl/console.py::note::text",
        "repl/console.py::aside::text",
    ),
}


def places() -> set[str]:
    """`file::function::the text's source` of every place that does not escape in the call itself."""
    found: set[str] = set()
    for folder in SHOWING:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef):
                    for text in _texts(function):
                        found.add(f"{path.relative_to(ROOT).as_posix()}::{function.name}::{ast.unparse(text)}")
    return found


def _texts(function: ast.FunctionDef) -> list[ast.expr]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _name(node.func) in WRITING]
    return [text for call in calls for text in call.args[:1] if not _is_escaped(text)]


def _is_escaped(text: ast.expr) -> bool:
    if isinstance(text, ast.Call) and _name(text.func) in ESCAPING:
        return True
    if isinstance(text, ast.IfExp):
        return _is_escaped(text.body) and _is_escaped(text.orelse)
    if isinstance(text, ast.JoinedStr):
        return all(_is_escaped(part.value) for part in text.values if isinstance(part, ast.FormattedValue))
    return isinstance(text, ast.Constant)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_every_place_that_shows_text_escapes_it_or_says_why_not() -> None:
    known = {place for listed in ALLOWED.values() for place in listed}
    assert places() - known == set(), "escape it (kipql.escape), or name it in ALLOWED with a reason"
    assert known - places() == set(), "named in ALLOWED and not there any more"


def test_a_place_that_does_not_escape_is_found() -> None:
    def texts(source: str) -> int:
        (function,) = ast.parse(source).body
        assert isinstance(function, ast.FunctionDef)
        return len(_texts(function))

    assert texts("def f(x):\n click.echo(x)") == texts("def f(x):\n out.write(f'a {x}')") == 1
    assert texts("def f(x):\n print(terminal(x) if x else x)") == 1
    assert texts("def f(x):\n click.echo(terminal(x)); print('done'); out.write(f'a {xml(x)}')") == 0
