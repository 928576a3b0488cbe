"""The notebook: `%kql` opens a memory, `%%kql` runs a cell on it, and answers are drawn (`kipql.render.html`).

    %load_ext kipql.notebook
    %kql brain.kip
    %%kql -o people
    FIND(?p.name) WHERE { ?p {type: :kind} }

Parameters are the variables of the notebook: `:kind` is the value of `kind`. Values are bound, never put into the text.
"""

import argparse
import re
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import kipql
from kipql.errors import KipError
from kipql.escape import terminal_lines
from kipql.lang import walk
from kipql.limits import hinted
from kipql.nexus import Nexus
from kipql.render.html import belief_html, element_html, is_belief, result_html
from kipql.render.people import concept_name
from kipql.runtime.places import is_place, meant
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result

Answer = Result | Receipt | None


class Session:
    """The memory of a notebook: what `%kql` opened, and what elements are called in it."""

    def __init__(self) -> None:
        self.nexus: Nexus | None = None
        self._owned = False

    def use(self, nexus: Nexus, *, owned: bool) -> None:
        """Take another memory; the one before is closed if it was opened here."""
        self.close()
        self.nexus, self._owned = nexus, owned

    def close(self) -> None:
        """Let go of the memory."""
        nexus, self.nexus = self.nexus, None
        if nexus is not None and self._owned:
            nexus.close()

    def label(self, identity: str) -> str:
        """A Concept by its name or key, anything else by its id."""
        nexus = self.nexus
        if nexus is None or not identity.startswith("C-"):
            return identity
        try:
            name = concept_name(identity, lambda text, parameters: nexus.query(text, parameters).rows)
        except KipError:
            return identity
        return identity if name is None else f"{name} ({identity})"

    def run(self, text: str, namespace: Mapping[str, Any]) -> Answer:
        """Run the statements of a cell; the answer is the last one's. Raises KipError."""
        if self.nexus is None:
            raise KipError(
                "PreconditionFailed", "no memory is open", hint="%kql brain.kip opens one, %kql --new an empty one"
            )
        answer: Answer = None
        for part in kipql.split(text):
            try:
                answer = _interruptible(self.nexus.execute, part.text, _parameters(part.text, namespace))
            except KipError as error:
                if error.code != "ReadonlyViolation":
                    raise
                raise hinted(error, "%kql DB --write opens a memory for writing") from None
            if isinstance(answer, Result):
                for caveat in answer.warnings:
                    print(f"warning: {terminal_lines(str(caveat.message))}", file=sys.stderr)
        return answer


def _parameters(text: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that a statement names; what is not there is left to the error of the statement."""
    names = [each.name for each in walk.parameters(kipql.parse(text))]
    return {name: _plain(namespace[name]) for name in names if name in namespace}


def _plain(value: Any) -> Any:
    """A NumPy scalar as the number it is."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _interruptible(call: Callable[..., Any], *arguments: Any) -> Any:
    """A call that an interrupt of the kernel ends: the engine looks at its flag, and nothing half done stays."""
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(call, *arguments, cancel=cancel)
        try:
            return future.result()
        except KeyboardInterrupt:
            cancel.set()
            raise


# --- the magic ----------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise KipError("PreconditionFailed", message, hint=self.format_usage().strip())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise KipError("PreconditionFailed", message or self.format_usage().strip())


_STATEMENT = re.compile(r"\s*(?:[A-Z]{3,}\s*[({]|[A-Z]{3,}\s+[^-\s])")  # `FIND(`, `LIST TYPES`: no name of a memory


def _line_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%kql", add_help=False)
    parser.add_argument("db", nargs="?", help="the folder of a memory, or a variable that holds a Nexus")
    parser.add_argument("--new", action="store_true", help="an empty memory")
    parser.add_argument("--write", action="store_true", help="allow writes")
    parser.add_argument("--package", action="append", default=[], help="a schema package to activate")
    parser.add_argument("--as", dest="principal", help="whom every statement comes from")
    return parser


def _cell_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%kql", add_help=False)
    parser.add_argument("-o", "--out", help="the variable that takes the answer")
    return parser


def _open(session: Session, line: str, namespace: Mapping[str, Any]) -> None:
    if _STATEMENT.match(line):
        raise KipError(
            "PreconditionFailed", "%kql opens a memory and runs nothing", hint="a statement goes below %%kql in a cell"
        )
    given = _line_parser().parse_args(shlex.split(line))
    named = namespace.get(given.db) if given.db else None
    if isinstance(named, Nexus):
        seen = named if given.write else named.readonly()
        session.use(seen if given.principal is None else seen.as_principal(given.principal), owned=False)
    elif given.db or given.new:
        write = given.write or given.new
        if given.db and not is_place(given.db):
            near = meant(given.db)
            hint = f"did you mean {near}? " if near else ""
            raise KipError(
                "PreconditionFailed",
                f"there is no memory {given.db}",
                hint=f"{hint}%kql ./{given.db} --write makes one",
            )
        opened = kipql.open(given.db, readonly=not write, packages=given.package, principal=given.principal)
        session.use(opened, owned=True)
    if (nexus := session.nexus) is None:
        raise KipError("PreconditionFailed", "no memory is open", hint=_line_parser().format_usage().strip())
    print(f"{nexus.space_id} at {nexus.space_seq}, as {terminal_lines(nexus.principal.id)}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext kipql.notebook` calls."""
    from IPython.core.error import UsageError

    session = Session()

    def kql(line: str, cell: str | None = None) -> Any:
        """%kql DB opens a memory (--write, --new, --package P, --as WHO); %%kql [-o NAME] runs the cell on it."""
        namespace = shell.user_ns
        try:
            if cell is None:
                return _open(session, line, namespace)
            given = _cell_parser().parse_args(shlex.split(line))
            answer = session.run(cell, namespace)
        except (KipError, ValueError) as error:
            # A UsageError is shown without the traceback, and ends "run all" as any error does.
            raise UsageError(terminal_lines(str(error))) from None
        if given.out is None:
            return answer
        namespace[given.out] = answer
        return None

    shell.register_magic_function(kql, "line_cell", "kql")
    drawn = shell.display_formatter.formatters["text/html"]
    drawn.for_type(Result, lambda result: result_html(result, session.label))
    drawn.for_type(dict, lambda value: html_of(value, session.label))
    shell.kql_session = session


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext kipql.notebook` calls: the memory is closed."""
    drawn = shell.display_formatter.formatters["text/html"]
    for kind in (Result, dict):
        drawn.pop(kind, None)
    shell.magics_manager.magics["line"].pop("kql", None)
    shell.magics_manager.magics["cell"].pop("kql", None)
    shell.kql_session.close()


def html_of(value: Mapping[str, Any], label: Callable[[str], str] = str) -> str | None:
    """A belief or a whole element as HTML; None for any other mapping, which a notebook then shows as it does."""
    if is_belief(value):
        return belief_html(value, label)
    if isinstance(value.get("_system"), Mapping) and isinstance(value.get("id"), str):
        return element_html(value, label)
    return None


class Drawn:
    """A belief or an element that a notebook draws, also where the extension is not loaded.

    >>> Drawn({"id": "C-1", "kind": "concept", "_system": {}})._repr_html_()[:20]
    '<div><b>Concept (C-1'
    """

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def _repr_html_(self) -> str | None:
        return html_of(self.value)

    def __repr__(self) -> str:
        return repr(self.value)
