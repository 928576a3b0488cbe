"""`kipql canon`: the articles and the journal of a repository."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kipql.cli.options import db_option, note_unkept, open_memory

if TYPE_CHECKING:
    from kipql.memory.canon import Canon

AUDITS = (
    "constraint-loss",
    "rules-without-sentence",
    "unretained-values",
    "dead-links",
    "orphans",
    "two-articles",
    "long-articles",
    "entries-without-subject",
)
_PACKAGE = "kip://kipql/agent@1.0.0"
mount_option = click.option(
    "--mount", default="", metavar="NAME", help="The tree that paths are in; default: the project."
)
root_option = click.option("--root", metavar="FOLDER", help="The project's folder; it is taken off absolute paths.")


@click.group("canon", short_help="Articles and a journal about a repository's files.")
def command() -> None:
    """Articles and a journal about a repository's files.

    An article is addressed by the path of what it is about, without its extension; the nearest one above a
    path governs it. The journal says what happened, word for word, and is never rewritten.
    """


@command.command("import", short_help="Bring the folders articles/ and journal/ of a repository in.")
@click.argument("root", metavar="FOLDER")
@db_option
@mount_option
@click.pass_obj
def bring(readonly_given: bool, root: str, db: str | None, mount: str) -> None:
    """Bring the Markdown folders articles/ and journal/ of a repository into a memory.

    articles/src/feed/sync.md is the article of src/feed/sync. Everything is read and checked before anything
    is written; bringing it in again changes nothing, and a journal entry that was rewritten is refused.
    """
    from kipql.escape import terminal
    from kipql.memory.canon import Canon
    from kipql.memory.canon.repository import import_repository
    from kipql.render.values import many

    with open_memory(db, [] if readonly_given else [_PACKAGE], write=not readonly_given) as nexus:
        done = import_repository(Canon(nexus, mount), Path(root))
    articles = f"{many(done.created, 'article')} created, {done.updated} updated, {done.unchanged} unchanged"
    click.echo(f"{articles}; {many(done.logged, 'journal file')} logged, {done.known} known")
    if done.left_out:
        click.echo(terminal(f"left out of the journal: {', '.join(done.left_out)}"), err=True)
    note_unkept(db)


@command.command("export", short_help="Write the folders articles/ and journal/ of a canon.")
@click.argument("root", metavar="FOLDER")
@db_option
@mount_option
def write_out(root: str, db: str | None, mount: str) -> None:
    """Write a canon as the Markdown folders articles/ and journal/, as import reads them.

    An article's file is rewritten where it differs. A journal file never is: one whose text is another than
    what was logged stops the export before anything is written.
    """
    from kipql.escape import terminal
    from kipql.memory.canon.export import export_repository
    from kipql.render.values import many

    with open_memory(db, write=False) as nexus:
        done = export_repository(_canon(nexus, mount, None), Path(root))
    written = f"{many(done.articles, 'article')} and {many(done.entries, 'journal file')} written"
    click.echo(f"{written}, {many(done.unchanged, 'file')} unchanged")
    if done.left_out:
        click.echo(terminal(f"erased, and so left out: {', '.join(done.left_out)}"), err=True)


@command.command("resolve", short_help="Tell which article governs a path.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@db_option
@mount_option
@root_option
def resolve(paths: Sequence[str], db: str | None, mount: str, root: str | None) -> None:
    """Tell which article governs each path: its own, else the nearest one above."""
    from kipql.escape import terminal
    from kipql.memory.canon.says import resolved

    with open_memory(db, write=False) as nexus:
        canon = _canon(nexus, mount, root)
        for path in paths:
            click.echo(terminal(resolved(canon, path)))


@command.command("read", short_help="Show the article that governs a path.")
@click.argument("path", metavar="PATH")
@db_option
@mount_option
@root_option
def read(path: str, db: str | None, mount: str, root: str | None) -> None:
    """Show the article that governs a path, with the names of the newest journal entries about it."""
    from kipql.escape import terminal_lines
    from kipql.memory.canon.says import article_text

    with open_memory(db, write=False) as nexus:
        click.echo(terminal_lines(article_text(_canon(nexus, mount, root).read(path))))


@command.command("map", short_help="List the articles at an address and below.")
@click.argument("prefix", metavar="PREFIX", default="")
@db_option
@mount_option
def listed(prefix: str, db: str | None, mount: str) -> None:
    """List the articles at an address and below it; without PREFIX, all of them."""
    from kipql.escape import terminal_lines

    with open_memory(db, write=False) as nexus:
        click.echo(terminal_lines(_canon(nexus, mount, None).map(prefix)))


@command.command("search", short_help="Find articles by their words.")
@click.argument("text", metavar="TEXT")
@db_option
@click.option("--journal", is_flag=True, help="Search the journal too.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="The most hits to show.")
def search(text: str, db: str | None, journal: bool, limit: int) -> None:
    """Find articles by their words, and with --journal what the journal says beside them."""
    from kipql.escape import terminal_lines

    with open_memory(db, write=False) as nexus:
        click.echo(terminal_lines(_canon(nexus, "", None).search(text, journal, limit)))


@command.command("surface", short_help="Show the articles that govern what was touched, once a session.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@db_option
@mount_option
@root_option
@click.option(
    "--session", "state", metavar="FILE", help="Keep the session in this file; without it, a new one each time."
)
@click.option(
    "--budget", type=click.IntRange(0), default=4000, show_default=True, help="Characters of capsules a session."
)
def surface(paths: Sequence[str], db: str | None, mount: str, root: str | None, state: str | None, budget: int) -> None:
    """Touch paths, and show the line of each article that governs them and was not shown in this session.

    Nothing is written to the memory; what was shown is remembered in the session's file.
    """
    from kipql.escape import terminal_lines
    from kipql.memory.canon import SurfacePolicy

    with open_memory(db, write=False) as nexus:
        canon = _canon(nexus, mount, root, SurfacePolicy(budget_chars=budget))
        session = canon.session("cli", None if state is None else _loaded(state))
        session.touch(paths)
        if (message := session.flush()) is not None:
            click.echo(terminal_lines(message))
        if state is not None:
            _saved(state, session.to_dict())


@command.command("audit", short_help="Tell what the canon lost, and what leads nowhere.")
@click.argument("names", nargs=-1, metavar="[AUDIT...]", type=click.Choice(AUDITS))
@db_option
@click.option(
    "--from-seq", type=click.IntRange(0), metavar="SEQ", help="Compare constraint-loss with this sequence only."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to report."
)
def audit(names: Sequence[str], db: str | None, from_seq: int | None, form: str) -> int:
    """Audit a canon; without names, everything. The exit code is 1 when something was found.

    constraint-loss: rule lines (must, never, always, ...) that an earlier wording had. rules-without-sentence:
    rules that are believed and that no governing article says. unretained-values: numbers, ids and quoted
    words of the journal that the article does not hold.
    """
    from kipql.escape import json_text, terminal

    with open_memory(db, write=False) as nexus:
        asked = _canon(nexus, "", None).audit
        found = {name: asked.run(name, from_seq=from_seq) for name in dict.fromkeys(names or AUDITS)}
    if form == "json":
        click.echo(json_text(found, indent=2))
    else:
        for name, findings in found.items():
            for finding in findings:
                click.echo(terminal(f"{name}: {_sentence(finding)}"))
        if not any(found.values()):
            click.echo("nothing found")
    return 1 if any(found.values()) else 0


def _canon(nexus: Any, mount: str, root: str | None, policy: Any = None) -> "Canon":
    from kipql.memory.canon import Canon

    return Canon(nexus, mount, policy, root=root)


def _sentence(finding: dict[str, Any]) -> str:
    """`src/feed: line (evidence: a, b)`: the first member is what it is about."""
    (_, about), *rest = finding.items()
    parts = [f"{name} {', '.join(value) if isinstance(value, list) else value}" for name, value in rest if value]
    return f"{about}: {'; '.join(parts)}" if parts else str(about)


def _loaded(path: str) -> dict[str, Any] | None:
    """The state in a session's file, None where there is none yet."""
    from kipql import KipError

    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise KipError("ArtifactUnavailable", f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise KipError("ArtifactParseError", f"{path} holds no session", hint="name another file, or remove it")
    return state


def _saved(path: str, state: dict[str, Any]) -> None:
    from kipql import KipError

    try:
        Path(path).write_text(json.dumps(state), encoding="utf-8")
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path}: {error.strerror}") from None
