"""The session itself: what may be written, which memory, where answers go, limits and settings."""

from dataclasses import fields

from kipql.escape import terminal
from kipql.limits import SECONDS, Limits
from kipql.repl.registry import command
from kipql.repl.shell import Shell
from kipql.repl.usage import ON_OFF, Misuse, switch, whole, words
from kipql.runtime.places import is_place, meant

_SETTINGS = ("mode", "timing", "pager", "session", "window", "mount")


@command("readonly", "[on|off]", "Refuse every mutation.", offers=lambda _: ON_OFF)
def readonly(shell: Shell, rest: str) -> None:
    shell.readonly = switch(rest, shell.readonly)
    shell.console.aside(f"read-only {'on' if shell.readonly else 'off'}")


@command("safe", "[on|off]", "Show what a mutation would do, and ask, before it runs.", offers=lambda _: ON_OFF)
def safe(shell: Shell, rest: str) -> None:
    shell.safe = switch(rest, shell.safe)
    shell.console.aside(f"safe {'on' if shell.safe else 'off'}")


@command("open", "[DB]", "Open another memory; without a folder, an empty one in memory.")
def open_(shell: Shell, rest: str) -> None:
    import kipql

    path = words(rest)[0] if rest else None
    if path is not None and not is_place(path):
        near = meant(path)
        hint = f"; did you mean {near}? " if near else "; "
        raise Misuse(f"there is no memory {path}{hint}.open ./{path} makes one")
    opened = kipql.open(path, readonly=shell.readonly and path is not None)
    shell.base.close()
    shell.base, shell.path = opened, path
    shell.as_of = shell.for_time = shell.last = shell.last_find = shell.canon = None
    shell.following = None
    shell.forget_labels()
    shell.console.aside(f"opened {terminal(path or 'an empty memory')} at {opened.space_seq}")


@command("output", "[FILE | off]", "Append answers to a file; off: to the screen again.", offers=lambda _: ("off",))
def output(shell: Shell, rest: str) -> None:
    if rest:
        shell.console.redirect(None if rest == "off" else words(rest)[0])
    shell.console.aside(terminal(f"answers go to {shell.console.path or 'the screen'}"))


@command("limits", "[NAME=VALUE | clear]", "Show the limits of a statement, or narrow one.", offers=lambda _: _limits())
def limits(shell: Shell, rest: str) -> None:
    if rest == "clear":
        shell.limits = None
    elif rest:
        name, _, text = rest.partition("=")
        if name not in _limits():
            from kipql.lang.words import near

            meant = near(name, _limits())
            raise Misuse(f"there is no limit {name}" + (f"; did you mean {meant}?" if meant else ""))
        try:
            value = float(text) if name in SECONDS else int(text)
        except ValueError:
            raise Misuse(f"{name} is a number, not {text or 'nothing'}") from None
        if value > getattr(shell.base.limits, name):
            raise Misuse(f"{name} can only be narrowed; the memory was opened with {getattr(shell.base.limits, name)}")
        shell.narrowed(name, value)
    held = shell.limits or shell.base.limits
    wide = max(map(len, _limits()))
    lines = []
    for name in _limits():
        now, before = getattr(held, name), getattr(shell.base.limits, name)
        lines.append(f"{name.ljust(wide)}  {now}" + (f"  (of {before})" if now != before else ""))
    shell.console.show("\n".join(lines))


def _limits() -> list[str]:
    return [item.name for item in fields(Limits)]


@command("settings", "[NAME=VALUE]", "Show the settings, or change one.", offers=lambda _: [f"{n}=" for n in _SETTINGS])
def settings(shell: Shell, rest: str) -> None:
    held = shell.settings
    if rest:
        name, separator, value = rest.partition("=")
        if name not in _SETTINGS or not separator:
            raise Misuse(f"a setting is one of {', '.join(_SETTINGS)}")
        match name:
            case "mode":
                from kipql.repl.commands.asking import mode

                mode(shell, value)
            case "timing":
                held.timing = switch(value, held.timing)
            case "pager":
                shell.console.pager = switch(value, shell.console.pager)
            case "session":
                held.session = value or None
            case "mount":
                held.mount = value
            case "window":
                held.window = max(1, whole(value, "a window"))
    on = {True: "on", False: "off"}
    shown = {"mode": held.mode, "timing": on[held.timing], "pager": on[shell.console.pager]}
    shown |= {"session": held.session or "none", "window": str(held.window), "mount": held.mount or "none"}
    shown |= {
        "asof": "head" if shell.as_of is None else str(shell.as_of),
        "fortime": shell.for_time or "now",
        "readonly": on[shell.readonly],
    }
    shown |= {"safe": on[shell.safe], "output": shell.console.path or "screen", "memory": shell.path or "in memory"}
    shell.console.show("\n".join(f"{name.ljust(9)} {value}" for name, value in shown.items()))
