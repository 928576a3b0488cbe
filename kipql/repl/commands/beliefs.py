"""Why something is believed: the ledger, and the claims over world time."""

from dataclasses import replace
from typing import Any

from kipql.lang import ast
from kipql.lang.canonical import format_node
from kipql.lang.walk import iterate
from kipql.render.beliefs import heading, ledger, timeline
from kipql.render.people import instant
from kipql.repl.naming import subject, value
from kipql.repl.registry import command
from kipql.repl.saved import last_query
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse, words

_SLOT = 'FIND(?b) WHERE { ?b BELIEF SLOT (:_s, :_p) } WITH EPISTEMIC {explanation: "ledger"}'
_CLAIM = 'FIND(?b) WHERE { ?b BELIEF (:_s, :_p, :_o) } WITH EPISTEMIC {explanation: "ledger"}'
_BY_ID = 'FIND(?b) WHERE { ?b BELIEF (id: :_p) } WITH EPISTEMIC {explanation: "ledger"}'
_MOST = 20
_AXIS = 60


@command(
    "explain",
    "[SUBJECT PREDICATE [OBJECT] | P-ID]",
    "The belief ledger: of a slot, a claim, or the last query's beliefs.",
)
def explain(shell: Shell, rest: str) -> None:
    found = _asked(shell, words(rest)) if rest else _last(shell)
    if not found:
        raise Misuse("there is nothing to explain: no claim was made there")
    screen, label = shell.console.width, shell.named
    drawn = [
        f"{heading(belief, label, screen=screen)}\n\n{ledger(belief, label, screen=screen)}" for belief in found[:_MOST]
    ]
    if len(found) > _MOST:
        drawn.append(f"and {len(found) - _MOST} more beliefs")
    shell.console.show("\n\n".join([*drawn, *_standing(shell)]))


@command("timeline", "SUBJECT PREDICATE", "The claims of a slot as bars over world time, and who made them.")
def timeline_(shell: Shell, rest: str) -> None:
    given = words(rest)
    if len(given) != 2:
        raise Misuse("a subject and a Predicate")
    drawn = [timeline(slot, shell.named, columns=_AXIS, screen=shell.console.width) for slot in _asked(shell, given)]
    if not drawn:
        raise Misuse("there is nothing to draw: no claim was made there")
    shell.console.show("\n\n".join([*drawn, *_standing(shell)]))


def _standing(shell: Shell) -> list[str]:
    facts = [] if shell.as_of is None else [f"as of {shell.as_of}"]
    facts += [] if shell.for_time is None else [f"for time {instant(shell.for_time)}"]
    return [f"({', '.join(facts)})"] if facts else []


def _asked(shell: Shell, given: list[str]) -> list[Any]:
    """The belief that the words are about."""
    if len(given) == 1 and given[0].startswith("P-"):
        return shell.read(_BY_ID, {"_p": given[0]})
    if len(given) == 2:
        return shell.read(_SLOT, {"_s": subject(shell, given[0]), "_p": given[1]})
    if len(given) == 3:
        return shell.read(_CLAIM, {"_s": subject(shell, given[0]), "_p": given[1], "_o": value(shell, given[2])})
    raise Misuse("a subject and a Predicate, or the id of a Proposition")


def _last(shell: Shell) -> list[Any]:
    """The beliefs of the last query, asked again with their ledgers."""
    find = last_query(shell).statement
    if not isinstance(find, ast.Find):
        raise Misuse("the last statement was no query")
    variables = dict.fromkeys(
        node.var.name for node in iterate(find.where) if isinstance(node, ast.BeliefPattern | ast.BeliefSlotPattern)
    )
    if not variables:
        raise Misuse("the last query asks for no BELIEF")
    members = find.epistemic.members if find.epistemic is not None else ()
    kept = tuple(member for member in members if member.name != "explanation")
    wanted = ast.Object((*kept, ast.Member("explanation", ast.Literal("ledger"))))
    asked = replace(find, items=tuple(map(ast.Var, variables)), epistemic=wanted, order_by=(), cursor=None)
    rows = shell.read(format_node(asked), shell.parameters)
    found = [cell for row in rows for cell in (row if isinstance(row, tuple) else (row,))]
    return [cell for cell in found if isinstance(cell, dict) and cell.get("explanation")]
