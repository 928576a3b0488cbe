"""The commands of the shell: `.name`, one small function each; `.help` and docs/shell.md are made from this table."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from kipql.escape import terminal
from kipql.lang.words import near
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse

Run = Callable[[Shell, str], None]
Offers = Callable[[Shell], Iterable[str]]
MODULES = ("asking", "beliefs", "coordinates", "around", "session", "saved", "agents")


@dataclass(frozen=True, slots=True)
class Command:
    """name    without the dot
    usage   its arguments, `[optional]`
    help    one sentence
    run     does it: the shell and what stands behind the name; raises Misuse, KipError, Leave
    offers  words that its first argument may be, for completion
    """

    name: str
    usage: str
    help: str
    run: Run
    offers: Offers


_commands: dict[str, Command] = {}


def command(name: str, usage: str, help: str, *, offers: Offers = lambda _: ()) -> Callable[[Run], Run]:
    """Register a function as `.name`."""

    def register(run: Run) -> Run:
        assert name not in _commands, name
        _commands[name] = Command(name, usage, help, run, offers)
        return run

    return register


def commands() -> Iterator[Command]:
    """Every command, in the order of `.help`."""
    for module in MODULES:
        import_module(f"kipql.repl.commands.{module}")
    yield from _commands.values()


def find(name: str) -> Command:
    """The command of a name. Raises Misuse with the nearest name."""
    known = {each.name: each for each in commands()}
    if name in known:
        return known[name]
    meant = near(name, known) or next((each for each in known if len(name) > 1 and each.startswith(name)), None)
    hint = f"; did you mean .{meant}?" if meant else "; .help lists them"
    raise Misuse(f"there is no command .{terminal(name)}{hint}")


def run_command(shell: Shell, line: str) -> None:
    """Run `.name arguments`. Raises Misuse, KipError, Leave."""
    name, _, rest = line.strip().removeprefix(".").partition(" ")
    found = find(name)
    try:
        found.run(shell, rest.strip())
    except Misuse as misuse:
        raise Misuse(f"{misuse}\nusage: .{found.name} {found.usage}".rstrip()) from None
