"""`kipql doctor`: check, recover and search the folder of a memory."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kipql.escape import json_text, terminal

if TYPE_CHECKING:
    from kipql.store.examining import Finding

_PROVEN = (
    "no frame of the journal, no state, posting or table of a snapshot and no other file of the Space says more "
    "than the stub; backups, earlier dumps and blocks that the disk no longer shows are not looked at"
)


@click.command("doctor", short_help="Check the folder of a memory, recover it, prove an erasure.")
@click.argument("db", metavar="DB")
@click.option(
    "--recover", "target", metavar="OUT", help="Write a copy with everything up to the damage to a new folder."
)
@click.option("--prove-erased", "element", metavar="ID", help="Look in every file for what a purged element said.")
@click.option("--space", "space_id", metavar="SPACE", default="kip:space:default", help="The Space of that element.")
@click.option("--text", metavar="TEXT", help="Something it said, to be searched for byte by byte.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(db: str, target: str | None, element: str | None, space_id: str, text: str | None, as_json: bool) -> int:
    """Check every file of the memory in the folder DB, without changing any.

    Each frame of the journals and each snapshot against its checksums and digests; then the records, which
    must rebuild to themselves, and the postings, which must say what the records say. It needs the memory
    twice in RAM. Exit code: 0 sound (or nothing of the element is left), 1 findings, 2 could not run.

    With --recover the exit code is 1 when something was lost; what, is listed.
    """
    from kipql.render.values import many
    from kipql.runtime import doctor
    from kipql.runtime.folder import path_of

    path = path_of(db)
    if target is not None and element is not None:
        raise click.UsageError("give --recover or --prove-erased, not both")
    if text is not None and element is None:
        raise click.UsageError("--text goes with --prove-erased")
    if target is not None:
        return _recover(path, path_of(target), as_json)
    if element is not None:
        found = doctor.prove_erased(path, space_id, element, text)
        return _erased(element, found, as_json)
    report = doctor.check(path)
    if as_json:
        click.echo(json_text(report.to_dict()))
    else:
        for each in report.looked_at:
            held = f"{many(int(each['frames']), 'frame')}, {many(int(each['snapshots']), 'snapshot')}"
            click.echo(terminal(f"{each['space']}: head {each['head']}, {held}"))
        _show(report.findings)
        click.echo("sound" if report.sound else "damaged")
    return 0 if report.sound else 1


def _recover(path: Path, target: Path, as_json: bool) -> int:
    from kipql.runtime import doctor

    found = doctor.recover_into(path, target)
    if as_json:
        click.echo(json_text({space_id: each._asdict() for space_id, each in found.items()}))
    else:
        for space_id, each in found.items():
            kept = "nothing was kept" if each.head is None else f"kept up to commit {each.head}"
            click.echo(terminal(f"{space_id}: {kept}"))
            for what in each.lost:
                click.echo(terminal(f"  lost: {what}"))
    return 1 if any(each.lost for each in found.values()) else 0


def _erased(element: str, found: "list[Finding]", as_json: bool) -> int:
    gone = all(finding.level == "note" for finding in found)
    if as_json:
        listed = [{**each._asdict(), "path": str(each.path)} for each in found]
        click.echo(json_text({"id": element, "erased": gone, "proven": _PROVEN if gone else None, "findings": listed}))
    else:
        _show(found)
        click.echo(terminal(f"{element} is erased: {_PROVEN}" if gone else f"{element} is not erased"))
    return 0 if gone else 1


def _show(findings: "list[Finding]") -> None:
    for each in findings:
        at = "" if each.offset is None else f" at offset {each.offset}"
        click.echo(terminal(f"{each.level}: {each.path}{at}: {each.what}"))
