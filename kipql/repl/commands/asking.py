"""Help, the vocabulary, parameters, the output mode, the plan."""

from kipql.escape import json_text, terminal
from kipql.render.modes import MODES
from kipql.render.tables import wrapped
from kipql.repl import registry
from kipql.repl.registry import command
from kipql.repl.saved import last_query
from kipql.repl.shell import Leave, Shell
from kipql.repl.statements import show_rows
from kipql.repl.usage import Misuse, pair, words
from kipql.values import Json

_DESCRIBED = {"types": "TYPE", "predicates": "PREDICATE", "facets": "FACET", "fields": "STRUCTURAL FIELD"}


@command("help", "[COMMAND]", "List the commands, or explain one.", offers=lambda _: _names())
def help_(shell: Shell, rest: str) -> None:
    if rest:
        found = registry.find(rest.removeprefix("."))
        shell.console.show(f".{found.name} {found.usage}".rstrip() + f"\n  {found.help}")
        return
    known = [(f".{each.name} {each.usage}".rstrip(), each.help) for each in registry.commands()]
    wide = max(len(usage) for usage, _ in known)
    screen = shell.console.width
    lines = [f"{usage.ljust(wide)}  {told}" for usage, told in known]
    if screen < max(map(len, lines)):
        lines = [line for usage, told in known for line in (usage, *wrapped(told.split(), screen, "    ", "    "))]
    shell.console.show("\n".join([*wrapped(_KEYS.split(), screen), "", *lines]))


_KEYS = "Enter runs a whole statement, else it adds a line (Alt-Enter always does). Ctrl-C stops, Ctrl-D leaves."


def _names() -> list[str]:
    return [each.name for each in registry.commands()]


@command("schema", "[NAME]", "The packages in force and what they define, or one symbol.", offers=lambda s: _symbols(s))
def schema(shell: Shell, rest: str) -> None:
    if rest:
        describe(shell, rest)
        return
    environment = shell.nexus.prepare("DESCRIBE SCHEMA ENVIRONMENT", as_of=shell.as_of).query().one()
    lines = [f"schema environment {environment['schema_environment_version']} at {environment['snapshot_seq']}"]
    lines += [f"  {package['package_ref']}" for package in environment["packages"]]
    known = shell.symbols
    for title, names in (
        ("types", known.types),
        ("predicates", known.predicates),
        ("facets", known.facets),
        ("structural fields", known.fields),
    ):
        lines.append(f"{title}: {', '.join(names) or 'none'}")
    screen = shell.console.width
    said = [part for line in lines for part in wrapped(terminal(line).split(" "), screen, more="  ")]
    shell.console.show("\n".join(said))


@command("types", "[WORD]", "The Concept Types, or those whose name holds a word.")
def types(shell: Shell, rest: str) -> None:
    _list(shell, "types", rest)


@command("predicates", "[WORD]", "The Predicates, or those whose name holds a word.")
def predicates(shell: Shell, rest: str) -> None:
    _list(shell, "predicates", rest)


def _list(shell: Shell, section: str, word: str) -> None:
    names = getattr(shell.symbols, section)
    wanted = [name for name in names if word.casefold() in name.casefold()]
    rows: list[tuple[Json, ...]] = []
    for name in wanted:
        found = shell.describe(_DESCRIBED[section], name)
        rows.append((name, found["package_ref"], found.get("description")))
    show_rows(shell, ("name", "package", "description"), rows)


def _symbols(shell: Shell) -> list[str]:
    known = shell.vocabulary.symbols
    return [*known.types, *known.predicates, *known.facets, *known.fields]


@command("describe", "NAME | ID", "A Type, Predicate, Facet, field or package, or an element.", offers=_symbols)
def describe(shell: Shell, rest: str) -> None:
    from kipql.repl.naming import subject

    if not rest:
        raise Misuse("describe what?")
    (name,) = words(rest)[:1]
    known = shell.symbols
    rows: list[tuple[Json, ...]] = []
    for section, kind in _DESCRIBED.items():
        if name in getattr(known, section):
            rows += flat(shell.describe(kind, name))
    if name.startswith("kip://"):
        kind = "TYPE" if "/" in name.partition("@")[2] else "PACKAGE"
        rows = flat(shell.describe(kind, name))
    if not rows:
        identity = subject(shell, name)["id"]
        found = shell.read(_ELEMENT[str(identity)[0]], {"id": identity})
        if not found:
            raise Misuse(f"there is no {name}")
        rows = flat(found[0])
    show_rows(shell, ("member", "value"), rows)


_ELEMENT = {
    "C": "FIND(?x) WHERE { ?x CONCEPT {id: :id} }",
    "P": "FIND(?x) WHERE { ?x PROPOSITION (id: :id) }",
    "A": "FIND(?x) WHERE { ?x ASSERTION {id: :id} }",
    "E": "FIND(?x) WHERE { ?x EVIDENCE {id: :id} }",
    "X": "FIND(?x) WHERE { ?x ACTIVITY {id: :id} }",
}


def flat(value: Json, path: str = "") -> list[tuple[Json, ...]]:
    """The members of a JSON object down to what is no object, by their paths; null and empty ones are left out."""
    if isinstance(value, dict) and value and not ("id" in value and set(value) <= {"id", "role"}):
        return [row for name, item in value.items() for row in flat(item, f"{path}.{name}" if path else name)]
    return [] if value is None or value in ({}, []) else [(path, value)]


@command("params", "[NAME=JSON... | -NAME | clear]", "Show, set or forget the parameters of statements.")
def params(shell: Shell, rest: str) -> None:
    if rest == "clear":
        shell.parameters.clear()
    elif rest.startswith("-"):
        name = rest[1:].removeprefix(":")
        if shell.parameters.pop(name, shell) is shell:
            raise Misuse(f"there is no parameter {name}")
    elif rest:
        given = [pair(word) for word in _pairs(rest)]
        shell.parameters.update(given)
    lines = [f":{name} = {json_text(value)}" for name, value in sorted(shell.parameters.items())]
    shell.console.show("\n".join(lines) or "no parameters")


def _pairs(rest: str) -> list[str]:
    """`a=1 b="x y"`: split where a blank stands before a name and `=`, so that JSON keeps its quotes and blanks."""
    import re

    return re.split(r"\s+(?=:?[A-Za-z_][A-Za-z0-9_]*=)", rest)


@command("mode", f"[{'|'.join(MODES)}]", "Show or set how rows are written.", offers=lambda _: MODES)
def mode(shell: Shell, rest: str) -> None:
    if rest:
        if rest not in MODES:
            from kipql.lang.words import near

            meant = near(rest, MODES)
            raise Misuse(f"there is no mode {rest}" + (f"; did you mean {meant}?" if meant else ""))
        shell.settings.mode = rest
    shell.console.aside(f"mode {shell.settings.mode}")


@command("plan", "[QUERY]", "How a query is run and what it costs; without one, the last.")
def plan(shell: Shell, rest: str) -> None:
    part = last_query(shell, rest)
    if not rest and part is not shell.last:
        shell.console.aside(terminal(f"the last query: {part.text}"))
    statement = shell.nexus.prepare(part.text, as_of=shell.as_of, for_time=shell.for_time)
    missing = set(statement.parameters) - set(shell.parameters)
    text = statement.explain(None if missing else shell.parameters)
    if missing:
        text += f"\nnot run: no value for {', '.join(f':{name}' for name in sorted(missing))}"
    shell.console.show(terminal_text(text))


def terminal_text(text: str) -> str:
    """Several lines made safe for a terminal."""
    from kipql.escape import terminal_lines

    return terminal_lines(text)


@command("quit", "", "Leave the shell.")
def quit_(shell: Shell, rest: str) -> None:
    raise Leave
