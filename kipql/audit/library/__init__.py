"""The ready audits: a `.kql` file each, with directives and a comment that says what it looks for.

They read the memory and nothing else, and run like any script; a copy is a good start for one of your own.
"""

from importlib import resources

from kipql.audit.script import ScriptFile, parse_script
from kipql.errors import KipError
from kipql.lang.words import near


def names() -> tuple[str, ...]:
    """The names of the ready audits, in order."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".kql") for name in files if name.endswith(".kql")))


def text(name: str) -> str:
    """The script of an audit. Raises NotFoundOrNotVisible."""
    if name not in names():
        meant = near(name, names())
        hint = f"did you mean {meant}?" if meant else "kipql audits list shows them"
        raise KipError("NotFoundOrNotVisible", f"there is no audit {name}", hint=hint)
    return resources.files(__name__).joinpath(f"{name}.kql").read_text(encoding="utf-8")


def script(name: str) -> ScriptFile:
    """An audit, read for a run; its path is `kipql:NAME.kql`. Raises NotFoundOrNotVisible."""
    return parse_script(f"kipql:{name}.kql", text(name))


def about(name: str) -> str:
    """What an audit looks for: the comment at its head, on one line. Raises NotFoundOrNotVisible."""
    lines = []
    for line in text(name).splitlines():
        if not line.startswith("//") or line.startswith("//!"):
            break
        lines.append(line.removeprefix("//").strip())
    return " ".join(lines)
