"""The ready path as source: one function from the caller's mapping to a Result, with the plan's loops in it.

The module's function `make` is called once per head: what a head says (numbers of symbols, postings, bounds, rows of
constants) is bound there, and the function it returns closes over it. What follows from a parameter, or from the
sequence of AS OF, is bound at each call. A parameter is checked by what it is used for: an id that reads as its row
writes it, a name or an instant that a table knows, need no other check (§74).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.errors import KipError
from kipql.exec.direct import keyed_concepts
from kipql.exec.emit import Emitter
from kipql.exec.fields import plain_class
from kipql.exec.heads import Memories
from kipql.exec.hot import instant_or_none
from kipql.exec.named import KeyRows
from kipql.exec.unready import CODES, SHORT, Unready, admitted
from kipql.limits import Budget, Limits, exhausted
from kipql.plan import nodes
from kipql.store.postings import NO_ROWS
from kipql.times import PARSED
from kipql.values import MAX_SAFE_INTEGER

REFUSED = "(Unready, KipError, LookupError, TypeError, ValueError)"  # what a value that is not in order comes to
_CHARGE, SPENT, BUDGET = "CHARGE()", "SPENT()", "BUDGET()"
_WORD = re.compile(r"[A-Za-z_]\w*")
_OF_HEAD = re.compile(r"\bview\.(graph|environment|lineage_of|symbol_ref|subjects|predicates|objects)\b")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a head is like, as far as the source differs by it.

    merges  whether any Concept is merged
    direct  whether postings are read from the store's graph (`exec.direct`)
    left    whether recall leaves anything out
    kept    whether an Assertion has a record that says more than its columns
    unique  whether the plan gives no solution twice
    """

    merges: bool
    direct: bool
    left: bool
    kept: bool
    unique: bool


def charged(budget: Budget | None, limits: Limits, ticks: int) -> Budget:
    """Spend work; there is a Budget from the first stride on."""
    if budget is None:
        budget = Budget(limits)
    budget.spend(ticks)
    return budget


def held(rows: int, limits: Limits) -> None:
    """Check the number of rows held at once."""
    if rows > limits.buffered:
        exhausted("buffered", limits.buffered, f"the query holds {rows} rows at once")


class Fused(Emitter):
    """The source of a ready path, being written.

    values   what the slots of the plan are: the local of a parameter, or (the value itself,)
    timed    whether the view is another one at each call (AS OF)
    limited  whether `wanted` rows are enough
    after    what makes the Result of `out`, the last lines of the function
    """

    fused = True

    def __init__(
        self,
        plan: nodes.Plan,
        kind: Kind,
        values: Sequence[str | tuple[Any]],
        timed: bool,
        limited: bool,
        after: Sequence[str],
    ) -> None:
        super().__init__(plan, kind.merges, kind.direct)
        self.left, self.kept, self.unique = kind.left, kind.kept, kind.unique
        self.values = values
        self.timed = timed
        self.limited = limited
        self.after = after
        self.checked: dict[str, None] = {}
        self._proven: set[str] = set()
        self._owned: set[str] = set()
        self._used: dict[tuple[str, str], str] = {}
        self.out = self.own("[]", "out")
        self.namespace.update(
            Budget=Budget, CODES=CODES, KipError=KipError, NO_ROWS=NO_ROWS, PARSED=PARSED, Unready=Unready,
            admitted=admitted, charged=charged, held=held,
        )  # fmt: skip

    # constants

    def value(self, slot: nodes.Slot) -> str:
        value = self.values[slot.index]
        if isinstance(value, tuple):
            return self._literal(slot.index, value[0])
        if value != "reading":
            self.checked[value] = None
        return value

    def _literal(self, index: int, value: object) -> str:
        name = f"LITERAL_{index}"
        self.namespace[name] = value
        return name

    def known(self, slot: nodes.Slot) -> Any:
        value = self.values[slot.index]
        return value[0] if isinstance(value, tuple) else None

    def plain_class(self, slot: nodes.Slot) -> str:
        value = self.values[slot.index]
        if isinstance(value, tuple):
            return self.constant(plain_class(value[0]), "class")
        self.checked[value] = None
        return self.local(f"object if {value} is None else {value}.__class__", "c")

    def _use(self, value: str, what: str, prefix: str, lines: str) -> str:
        """A local that a parameter is turned into, which says that the parameter is in order; written once."""
        made = self._used.get((value, what))
        if made is None:
            made = self._used[value, what] = self.fresh(prefix)
            self._owned.add(made)
            self._setup.append(lines.strip("\n").replace("@", made))
        return made

    def element(self, constant: nodes.Constant) -> str | None:
        value = self.values[constant.slot.index]
        if constant.literal or not constant.element or self.merges or isinstance(value, tuple):
            return None
        self._proven.add(value)
        return self._use(value, "element", "k", f"@ = CODES[{value}]")

    def named(self, local: str) -> str | None:
        return next((value for (value, what), made in self._used.items() if what == "element" and made == local), None)

    def symbol(self, symbol: nodes.SymbolRef) -> str:
        if symbol.slot is None:
            return self.local(f"number_of(head, {symbol.lineage!r})", "n")
        value = self.values[symbol.slot.index]
        if isinstance(value, tuple):
            return super().symbol(symbol)
        names = self.local(f"names({symbol.group!r})", "names")
        self._proven.add(value)
        return self._use(value, symbol.group, "n", f"@ = {names}[{value}]")

    def instant(self, slot: nodes.Slot) -> str | None:
        value = self.values[slot.index]
        read = self.helper(instant_or_none)
        if isinstance(value, tuple):
            found = instant_or_none(value[0])
            return None if found is None else repr(found)
        self._proven.add(value)
        lines = f"@ = PARSED.get({value})\nif @ is None and (@ := {read}({value})) is None:\n    raise Unready"
        return self._use(value, "instant", "i", lines)

    def keyed(self, slot: nodes.Slot, lineage: str) -> str | None:
        value = self.values[slot.index]
        if not self.direct or isinstance(value, tuple):
            return None
        if lineage != "None" and not self.timed and self.early(lineage):
            self.namespace.update(KeyRows=KeyRows, Memories=Memories)
            keys = self.local(f"{self.local('Memories(head, KeyRows)', 'keyed')}[{lineage}]", "keys")
            return self._use(value, f"keyed {lineage}", "rows", f"@ = {keys}[{value}]")
        table, types = self.local("view.graph.keyed.table()", "table"), self.local("view.graph.types", "types")
        lineages = self.local("view.graph.symbols.lineage_of", "lineages")
        bound, row = self.local("view.bounds[0]", "bound"), self.fresh("r")
        of_type = "" if lineage == "None" else f" and {lineages}[{types}[{row}]] == {lineage}"
        slow = f"{self.helper(keyed_concepts)}(view, admitted({value}), {lineage})"
        one = f"({row} := {table}.get({value})).__class__ is int"
        text = f"(({row},) if {row} < {bound}{of_type} else NO_ROWS) if {one} else {slow}"
        return self._use(value, f"keyed {lineage}", "rows", f"@ = {text}")

    # lines

    def own(self, expression: str, prefix: str) -> str:
        name = super().own(expression, prefix)
        self._owned.add(name)
        return name

    def charge(self, ticks: str) -> None:
        self.line(f"t += {ticks}")
        with self.block("if t > 4095:"):
            self.line(_CHARGE)
            self.line(f"held(len({self.out}), limits)")
            self.line("t = 0")

    def buffer(self, rows: str) -> None:
        """Every row costs a tick at least, and `charge` looks at how many there are."""

    def enough(self, out: str) -> None:
        if self.limited:
            with self.block(f"if len({out}) == wanted:"):
                for line in self.after:
                    self.line(line)

    def module(self, before: Sequence[str]) -> str:
        """The whole module; `before` is what a call needs before the plan's own locals: parameters, snapshot."""
        entries = [_OF_HEAD.sub(_whole, entry.removeprefix("    ")) for entry in self._setup]
        inside = [line.removeprefix("    ") for line in (*self._functions, *self._body)]
        every = "\n".join((*entries, *inside, *self.after))
        words = Counter(_WORD.findall(every))  # a code that nothing reads was checked by the look-up of its rows
        entries = [entry for entry in entries if not self._is_code(entry) or words[entry.split()[0]] > 1]
        eager = bool(self._functions) or bool(re.search(r"\b(spend|budget)\b", every))
        given = []
        if re.search(r"(?<!')\bp\b(?!')", every):
            given = [f"p = ({''.join(self.value(nodes.Slot(at)) + ', ' for at in range(len(self.values)))})"]
        if eager:
            given += ["budget = Budget(limits)", "spend = budget.spend"]
        once, each = self._split(entries)
        checks = [line for name in self.checked if name not in self._proven for line in check(name)]
        call = [
            "try:",
            *indented([*before, *checks, *given, *each, "pass"]),
            f"except {REFUSED}:",
            "    raise Unready from None",
            *([] if eager else ["budget = None"]),
            *inside[: len(self._functions)],
            "t = 0",
            *inside[len(self._functions) :],
            *self.after,
        ]
        charge = "spend(t)" if eager else "budget = charged(budget, limits, t)"
        spent = charge if eager else "if budget is not None: charged(budget, limits, t)"
        made = module(once, call)
        whole = "charged(budget, limits, t)"
        return made.replace(_CHARGE, charge).replace(SPENT, spent).replace(BUDGET, whole)

    def _is_code(self, entry: str) -> bool:
        return any(
            what == "element" and entry == f"{made} = CODES[{value}]" for (value, what), made in self._used.items()
        )

    def _split(self, entries: Sequence[str]) -> tuple[list[str], list[str]]:
        """The lines that are done once per head, and those of each call: what follows from what a call brings."""
        moving = {"p", "spend", "budget", "reading", *self._owned, *(v for v in self.values if isinstance(v, str))}
        if self.timed:
            moving.add("view")
        once: list[str] = []
        each: list[str] = []
        for entry in entries:
            moves = not moving.isdisjoint(_WORD.findall(entry))
            if moves:
                moving.add(entry.partition(" ")[0])
            (each if moves else once).extend(entry.splitlines())
        return once, each


def module(once: Sequence[str], call: Sequence[str]) -> str:
    """A module whose `make` does `once`, and gives the function that does `call`."""
    head = ["def make(head, limits, new, kind, names, pasts, number_of):", "    graph = head.graph", "    view = head"]
    # What is bound once comes as defaults: they lie beside each other, cells and what is in them do not.
    read = set(_WORD.findall("\n".join(call)))
    bound = [name for name in _targets(once) if name in read]
    bound += [name for name in ("head", "graph", "limits", "new", "kind", "pasts") if name in read]
    if "view" in read and not any(line.lstrip().startswith("view = ") for line in call):
        bound.append("view")
    defaults = "".join(f", {name}={name}" for name in bound)
    inner = [f"def ready(given, projections, cursors{defaults}):", *indented(call), "return ready"]
    return "\n".join([*head, *indented([*once, *inner])]) + "\n"


def _targets(lines: Sequence[str]) -> list[str]:
    """The names that assignments bind."""
    found: dict[str, None] = {}
    for line in lines:
        targets, equals, _ = line.partition(" = ")
        if equals and not line.startswith(" "):
            found.update(dict.fromkeys(name.strip() for name in targets.split(",")))
    return list(found)


def indented(lines: Iterable[str]) -> list[str]:
    """The lines, one level deeper."""
    return ["    " + line for line in lines]


def check(name: str) -> list[str]:
    """A parameter as any value is checked (§74)."""
    text = f"{name}.__class__ is str and {name}.isascii() and len({name}) <= {SHORT}"
    number = f"{name}.__class__ is int and -{MAX_SAFE_INTEGER} <= {name} <= {MAX_SAFE_INTEGER}"
    return [f"if not ({text} or {number}):", f"    {name} = admitted({name})"]


def _whole(match: re.Match[str]) -> str:
    return "graph" if match[1] == "graph" else f"head.{match[1]}"
