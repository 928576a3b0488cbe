"""Writing the source of one run: lines, names, constants, nested functions.

The generated module holds one function `run(view, p, budget, wanted)`. What does not change during a run (values,
symbol numbers, postings of constants, members of the view) is bound to locals before the loops, once each.
Python allows 20 nested blocks and 100 levels of indentation: deep plans go on in a function of their own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kipql.exec.wanted import fields_read
from kipql.plan import nodes

MOST_LOOPS = 12
MOST_DEPTH = 44
TERMS = 16  # of a condition cost about as much as a row of a pattern


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable is.

    name    a local
    sure    whether it is certainly bound
    row     a local with its row, if there is one
    kind    the element kind it has here, where a pattern has checked it
    record  a local with the newest state of the Concept that it is (`direct.record_of`)
    packed  the locals with the flags and the ends of the Assertion that it is (`hot.unpacked`)
    """

    name: str
    sure: bool = True
    row: str | None = None
    kind: int | None = None
    record: str | None = None
    packed: tuple[str, str, str] | None = None


Scope = Mapping[str, Place]
Then = Callable[[Scope], None]


class Emitter:
    """The source of one plan, being written.

    merges   whether identities must be resolved through merges (§43.2)
    direct   whether postings are read from the store's graph (see `direct`)
    left     whether recall may leave anything out
    kept     whether an Assertion may have a record that says more than its columns
    fields   which fields of which variables the plan reads
    """

    fused = False  # whether what is written is a ready path's (`exec.fused`)
    timed = False  # whether the view is nearly always one of the past
    left = kept = True

    def __init__(self, plan: nodes.Plan, merges: bool, direct: bool) -> None:
        self.plan = plan
        self.merges = merges
        self.direct = direct
        self.shapes = dict(plan.shapes)
        self.fields = fields_read(plan)
        self.namespace: dict[str, Any] = {}
        self.main = True
        self.exists = False
        self.carried: tuple[str, ...] = ()
        self._setup: list[str] = []
        self._functions: list[str] = []
        self._body: list[str] = []
        self._depth = 1
        self._loops = 0
        self._count = 0
        self._owed = 0
        self._locals: dict[str, str] = {}
        self._globals: dict[tuple[str, int], str] = {}

    # lines

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self._body.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A compound statement; what is written inside is its body."""
        self.line(head)
        loop = head.startswith("for ")
        self._depth += 1
        self._loops += loop
        yield
        self._depth -= 1
        self._loops -= loop

    @property
    def deep(self) -> bool:
        """Whether the next operator should go on in a function of its own."""
        return self._loops >= MOST_LOOPS or self._depth >= MOST_DEPTH

    # names

    def fresh(self, prefix: str) -> str:
        """A local name not used before."""
        self._count += 1
        return f"{prefix}{self._count}"

    def local(self, expression: str, prefix: str) -> str:
        """A local bound to `expression` before the loops; the same expression is bound once."""
        name = self._locals.get(expression)
        if name is None:
            name = self._locals[expression] = self.fresh(prefix)
            self._setup.append(f"    {name} = {expression}")
        return name

    def early(self, name: str) -> bool:
        """Whether a local is bound before the loops."""
        return any(entry.split(maxsplit=1)[0] == name for entry in self._setup)

    def own(self, expression: str, prefix: str) -> str:
        """A local of its own, bound to `expression` before the loops."""
        name = self.fresh(prefix)
        self._setup.append(f"    {name} = {expression}")
        return name

    @property
    def looping(self) -> bool:
        """Whether a `continue` would stand in a loop of this function."""
        return self._loops > 0

    def member(self, name: str) -> str:
        """A member of the view, as a local."""
        expression = f"view.{name}"
        if expression not in self._locals:
            self._locals[expression] = name
            self._setup.append(f"    {name} = {expression}")
        return self._locals[expression]

    def constant(self, value: Any, prefix: str) -> str:
        """A name of the module for an object of the planner's."""
        key = (prefix, id(value))
        name = self._globals.get(key)
        if name is None:
            name = self._globals[key] = self.fresh(prefix.upper() + "_")
            self.namespace[name] = value
        return name

    def helper(self, function: Callable[..., Any]) -> str:
        """A name of the module for a function of the engine, by its own name."""
        name: str = function.__name__
        self.namespace[name] = function
        return name

    def value(self, slot: nodes.Slot) -> str:
        """The value of a slot, as a local."""
        return self.local(f"p[{slot.index}]", "v")

    def plain_class(self, slot: nodes.Slot) -> str:
        """The class that a constant compares in place with, as a local (`fields.plain_class`)."""
        from kipql.exec.fields import plain_class

        return self.local(f"{self.helper(plain_class)}({self.value(slot)})", "c")

    def instant(self, slot: nodes.Slot) -> str | None:
        """The instant that a constant writes, as a local, whose value is None for anything else; None where that is
        known not to be one."""
        from kipql.exec.hot import instant_or_none

        return self.local(f"{self.helper(instant_or_none)}({self.value(slot)})", "i")

    def element(self, constant: nodes.Constant) -> str | None:
        """A local with the code of a constant that can only be an element; None where that is not known."""
        return None

    def named(self, local: str) -> str | None:
        """The parameter whose code a local is (`element`), where rows may be looked up by it; None elsewhere."""
        return None

    def symbol(self, symbol: nodes.SymbolRef) -> str:
        """A local with the lineage number of a symbol in the run's view."""
        from kipql.exec.terms import lineage_number, symbol_number

        if symbol.slot is None:
            return self.local(f"{self.helper(lineage_number)}(view, {symbol.lineage!r})", "n")
        where = self.constant(symbol.slot.where, "at")
        value = self.value(symbol.slot)
        return self.local(f"{self.helper(symbol_number)}(view, {symbol.group!r}, {value}, {where})", "n")

    def keyed(self, slot: nodes.Slot, lineage: str) -> str | None:
        """A local with the Concepts that have a key, of a Type; None where it is asked of the view."""
        return None

    def known(self, slot: nodes.Slot) -> Any:
        """The value of a constant where it is one of the text at hand, None elsewhere."""
        return None

    def context(self) -> str:
        """A local with the run's Context, for operators that walk by themselves."""
        from kipql.exec.context import Context

        plan = self.constant(self.plan, "plan")
        return self.local(f"{self.helper(Context)}.of({plan}, view, p, budget)", "context")

    # budget

    def charge(self, ticks: str) -> None:
        """Spend work; the clock is looked at in strides."""
        self.line(f"t += {ticks}")
        with self.block("if t > 4095:"):
            self.line("spend(t)")
            self.line("t = 0")

    def owe(self, terms: int) -> None:
        """Charge the terms of a condition, once they come to a tick."""
        self._owed += terms
        if self._owed >= TERMS:
            self.charge(str(self._owed // TERMS))
            self._owed %= TERMS

    def settle(self) -> None:
        """Spend what is left before a function returns."""
        with self.block("if t > 3:"):
            self.line("spend(t)")

    # functions

    def function(self, name: str, arguments: Sequence[str], write: Callable[[], None], end: Sequence[str]) -> None:
        """A nested function; `end` are its last lines."""
        kept = (self._body, self._depth, self._loops, self.main)
        self._body, self._depth, self._loops, self.main = [], 2, 0, False
        write()
        self.settle()
        for text in end:
            self.line(text)
        head = [f"    def {name}({', '.join(arguments)}):", "        t = 0"]
        self._functions.extend([*head, *self._body])
        self._body, self._depth, self._loops, self.main = kept

    @contextmanager
    def collecting(self, *carried: str) -> Iterator[None]:
        """Inside, solutions are collected in the named locals."""
        kept = (self.exists, self.carried)
        self.exists, self.carried = False, carried
        yield
        self.exists, self.carried = kept

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Inside, the first solution decides."""
        kept = (self.exists, self.carried)
        self.exists, self.carried = True, ()
        yield
        self.exists, self.carried = kept

    def apart(self, scope: Scope, write: Then) -> None:
        """Write the rest in a function of its own and call it."""
        name = self.fresh("part")
        arguments = list(dict.fromkeys([*(place.name for place in scope.values()), *self.carried]))
        inner = {name: replace(place, row=None, record=None, packed=None) for name, place in scope.items()}
        end = ["return False"] if self.exists else []
        self.function(name, arguments, lambda: write(inner), end)
        call = f"{name}({', '.join(arguments)})"
        if self.exists:
            with self.block(f"if {call}:"):
                self.line("return True")
        else:
            self.line(call)

    def buffer(self, rows: str) -> None:
        """Check the number of rows held, now and then."""
        with self.block(f"if not len({rows}) & 4095:"):
            self.line(f"budget.buffer(len({rows}))")

    def enough(self, out: str) -> None:
        """End the run when there are as many rows as are wanted."""
        with self.block(f"if len({out}) == wanted:"):
            self.line("spend(t)")
            self.line(f"return {out}")

    def source(self, head: str, last: str) -> str:
        """The whole module."""
        lines = [
            head,
            "    spend = budget.spend",
            *self._setup,
            *self._functions,
            "    t = 0",
            *self._body,
            "    spend(t)",
            f"    {last}",
        ]
        return "\n".join(lines) + "\n"
