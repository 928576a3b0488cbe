"""`kipql trace`: what an agent did with its memory, from its trace file."""

import click


@click.group("trace", short_help="Show and replay the trace of an agent.")
def command() -> None:
    """Show and replay the trace of an agent: JSON lines that a session wrote beside the memory."""


_agent_option = click.option(
    "--agent", metavar="NAME", help="Only the events of one agent: its session, or the last part of it."
)


@command.command("show", short_help="The events, one a line.")
@click.argument("run", metavar="FILE")
@click.option("--cognitive", is_flag=True, help="Only recall, pin and unpin.")
@click.option("--context", is_flag=True, help="Only assembled prompts, a line per block; pinned ones are marked [PIN].")
@_agent_option
def show(run: str, cognitive: bool, context: bool, agent: str | None) -> None:
    """Show the events of a trace, one a line."""
    from kipql.escape import terminal
    from kipql.memory.replay import agents, show_text

    text = show_text(_there(run), cognitive=cognitive, context=context, agent=agent)
    _write(text)
    if not text and agent is not None:
        click.echo(terminal(f"nothing of {agent}; the agents are {', '.join(agents(run))}"), err=True)


@command.command("replay", short_help="One turn as it was.")
@click.argument("run", metavar="FILE")
@click.option("--turn", type=int, metavar="N", help="The turn; without it the turns are listed, with exit code 2.")
@_agent_option
def replay(run: str, turn: int | None, agent: str | None) -> int:
    """Show one turn: what was decided, the prompt, and the pins in effect.

    Exit code: 0 done, 1 nothing to replay, 2 no turn was given.
    """
    from kipql.memory.replay import replay_text

    text, code = replay_text(_there(run), turn, agent=agent)
    _write(text)
    return code


def _there(run: str) -> str:
    """The path, if there is such a file: a misspelt one is no empty trace."""
    from pathlib import Path

    from kipql.errors import KipError

    if not Path(run).is_file():
        raise KipError("ArtifactUnavailable", f"{run}: there is no such file")
    return run


def _write(text: str) -> None:
    from kipql.escape import terminal_lines

    if text:
        click.echo(terminal_lines(text))
