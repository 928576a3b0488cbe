"""What is around an element, what became of it, what changed lately."""

from typing import Any

from kipql.escape import terminal
from kipql.render.people import people
from kipql.repl.naming import subject
from kipql.repl.registry import command
from kipql.repl.shell import Shell
from kipql.repl.statements import show_rows
from kipql.repl.usage import Misuse, whole, words
from kipql.values import Json

_MOST = 50
_OUT = "FIND(?p, ?o, ?b.status) WHERE {{ ?p ({{id: :id}}, ?q, ?o) ?b BELIEF (?p) }} LIMIT {}"
_IN = "FIND(?p, ?s, ?b.status) WHERE {{ ?p (?s, ?q, {{id: :id}}) ?b BELIEF (?p) }} LIMIT {}"
_CLAIMS = "FIND(?a) WHERE {{ ?a ASSERTION {{proposition: {{id: :id}}}} }} LIMIT {}"


@command(
    "graph", "ID|KEY|NAME", "The neighbourhood of an element: what it says, what is said of it, and what is believed."
)
def graph(shell: Shell, rest: str) -> None:
    from kipql.repl.commands.asking import _ELEMENT, flat

    if not rest:
        raise Misuse("the graph around what?")
    identity = str(subject(shell, words(rest)[0])["id"])
    found: Any = shell.read(_ELEMENT[identity[0]], {"id": identity})
    if not found:
        raise Misuse(f"there is no {identity}")
    label = shell.label
    lines = [people(found[0], label)]
    if identity[0] == "C":
        branches = [f"{_name(p)} -> {people(o, label)}  [{status}]" for p, o, status in _rows(shell, _OUT, identity)]
        branches += [f"{_name(p)} <- {people(s, label)}  [{status}]" for p, s, status in _rows(shell, _IN, identity)]
    else:
        branches = [
            f"{path} -> {people(value, label)}" for path, value in flat(found[0]) if _refers(value) and path != "id"
        ]
        if identity[0] == "P":
            branches += [f"claim <- {people(row, shell.label)}" for row in _rows(shell, _CLAIMS, identity)]
    lines += [f"{'`-' if at == len(branches) else '|-'} {branch}" for at, branch in enumerate(branches, 1)]
    if len(branches) >= _MOST:
        lines.append(f"   at most {_MOST} of each kind are drawn")
    shell.console.show("\n".join(terminal(line) for line in lines))


def _rows(shell: Shell, text: str, identity: str) -> list[Any]:
    return shell.read(text.format(_MOST), {"id": identity})


def _name(proposition: Any) -> str:
    return str(proposition["predicate_ref"]).rpartition("/")[2]


def _refers(value: Json) -> bool:
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, dict) and "id" in item for item in items)


@command("history", "ID|KEY|NAME", "Every commit that touched an element.")
def history(shell: Shell, rest: str) -> None:
    if not rest:
        raise Misuse("the history of what?")
    identity = subject(shell, words(rest)[0])["id"]
    until = "" if shell.as_of is None else f" TO SEQ {shell.as_of}"
    show_rows(shell, *_told(shell.nexus.query(f"HISTORY ELEMENT :id{until}", {"id": identity}).rows))


@command("changes", "[AFTER]", "The last ten commits, or those after a sequence.")
def changes(shell: Shell, rest: str) -> None:
    head = shell.nexus.space_seq if shell.as_of is None else shell.as_of
    after = whole(rest, "a sequence") if rest else max(0, head - 10)
    show_rows(
        shell, *_told(shell.nexus.query(f"HISTORY SPACE FROM SEQ {after + 1} TO SEQ {max(head, after + 1)}").rows)
    )


def _told(envelopes: list[Any]) -> tuple[tuple[str, ...], list[tuple[Json, ...]]]:
    """A row per change: when, what happened, to what."""
    rows: list[tuple[Json, ...]] = []
    for envelope in envelopes:
        commit = (envelope["space_seq"], envelope["committed_at"][:19].replace("T", " "))
        for change in envelope["changes"]:
            moved = change.get("state") or {}
            what = f"{moved.get('from')} to {moved['to']}" if moved.get("to") else ""
            ref = change.get("schema_ref") or change.get("predicate_ref") or change.get("kind", "")
            named = str(ref).rpartition("/")[2]
            rows.append((*commit, change["op"], change.get("id"), named, change.get("new_version"), what))
        control = envelope.get("control_changes", ())
        rows += [(*commit, "control", None, str(change.get("kind", "")), None, "") for change in control]
    return ("seq", "committed", "op", "id", "kind", "version", "state"), rows
