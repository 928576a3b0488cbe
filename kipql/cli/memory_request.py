"""`kipql memory request`: the Memory Interface as JSON lines."""

from typing import TYPE_CHECKING, Any

import click

from kipql.cli.files import answer_lines, decoded
from kipql.cli.options import db_option, open_memory
from kipql.errors import KipError

if TYPE_CHECKING:
    from kipql.memory.interface import MemoryInterface

STAGE, PROCESS, REVIEW, DESCRIBE = "$stage", "$process", "$review", "$describe"


@click.command("request", short_help="Answer Memory Interface requests, one JSON object a line.")
@db_option
@click.option("--defer", is_flag=True, help="Leave formation to $process lines.")
@click.option("--principal", metavar="ID", help="Whom every request comes from, as you authenticated them.")
@click.option("--readonly", is_flag=True, help="Only recall.")
def request(db: str | None, defer: bool, principal: str | None, readonly: bool) -> None:
    """Read one Memory Interface request a line from standard input and write one response a line.

    The host's own lines: {"$stage": {"ref": ..., "content": ..., "speaker": ..., "observed_at": ...}} holds a source
    ready, {"$process": true} settles what is recorded, {"$review": true} raises what is due, {"$describe": true}
    answers the descriptor. An error is in its response; the exit code is 0 unless the memory can not be opened.
    """
    from kipql.memory.interface import MemoryInterface

    with open_memory(db, write=not readonly) as nexus:
        seen = nexus if principal is None else nexus.as_principal(principal)
        memory = MemoryInterface(seen, defer=defer)
        answer_lines(lambda line: answer(memory, line))


def answer(memory: "MemoryInterface", line: bytes) -> dict[str, Any]:
    """The response to one line; never an exception for what the line holds."""
    try:
        given = decoded(line)
    except (ValueError, RecursionError):
        return memory.request(None)
    if not isinstance(given, dict) or len(given) != 1 or next(iter(given)) not in (STAGE, PROCESS, REVIEW, DESCRIBE):
        return memory.request(given)
    try:
        return _host(memory, *next(iter(given.items())))
    except KipError as error:
        return {"error": {name: value for name, value in error.to_dict().items() if value is not None}}


def _host(memory: "MemoryInterface", name: str, given: Any) -> dict[str, Any]:
    if name == STAGE:
        if not isinstance(given, dict) or not {"ref", "content"} <= given.keys():
            raise KipError("TypeMismatch", f'{STAGE} needs an object with "ref" and "content"')
        after = {"after": tuple(given["after"])} if isinstance(given.get("after"), list) else {}
        return {"staged": memory.stage(**{**given, **after})}
    if given is not True:
        raise KipError("TypeMismatch", f'the line is {{"{name}": true}}')
    if name == DESCRIBE:
        return memory.descriptor()
    return {"processed": memory.process()} if name == PROCESS else {"raised": memory.review()}
