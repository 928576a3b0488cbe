"""A belief drawn for people: what is believed, since when each claim holds, who said what, and why it counts.

The input is what a BELIEF SLOT or BELIEF variable reads as with `explanation: "ledger"`; nothing is looked up
but labels. Stored text is escaped for a terminal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kipql.errors import KipError
from kipql.escape import terminal
from kipql.render.fitting import fit
from kipql.render.people import show
from kipql.render.tables import cut, table, width, wrapped
from kipql.times import parse_instant

Label = Callable[[str], str]


def timeline(slot: Mapping[str, Any], label: Label = str, *, columns: int = 48, screen: int | None = None) -> str:
    """A slot as a heading, one bar per candidate value over world time, and its claims.

    slot     a slot or a single belief, read with `explanation: "ledger"`
    label    what to call an element id; the id itself by default
    columns  screen cells of the time axis
    screen   the width to fit the drawing to, None cuts nothing

    Raises ConstraintViolation when the explanation holds no ledger.
    """
    entries = _entries(slot)
    beliefs = slot.get("candidate_projections", [slot])
    values = {belief["proposition_id"]: belief["status"] for belief in beliefs}
    valid_at = slot["basis"]["valid_at"]
    parts = [heading(slot, label, screen=screen), _axis(entries, values, valid_at, label, columns, screen)]
    if entries:
        parts.append(_table(entries, label, screen))
    return "\n\n".join(part for part in parts if part)


def ledger(slot: Mapping[str, Any], label: Label = str, *, screen: int | None = None) -> str:
    """The claims of a slot or belief as a table: each with its effective time, whether it counts or why not, its root
    group, the succession line that cut it, and the policy rule that decided for or against its value.

    screen  the width to fit it to, without the columns that say nothing; where it does not fit, each claim is a branch
            of lines instead; None cuts nothing
    """
    return _table(_entries(slot), label, screen)


def _entries(slot: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    explanation = slot.get("explanation")
    if not isinstance(explanation, Mapping) or "entries" not in explanation:
        raise KipError(
            "ConstraintViolation",
            "this projection carries no ledger",
            hint='ask with WITH EPISTEMIC {explanation: "ledger"}',
        )
    entries: Sequence[Mapping[str, Any]] = explanation["entries"]
    return entries


# --- heading ------------------------------------------------------------------------------------------


def heading(slot: Mapping[str, Any], label: Label = str, *, screen: int | None = None) -> str:
    """What is believed, at which coordinates, by which rule, and until when.

    screen  the width to wrap it at
    """
    basis = slot["basis"]
    what = _subject(slot, label)
    where = f"at {basis['valid_at']}, snapshot {basis['snapshot_seq']}, policy {basis['policy']['id']}"
    lines = [f"{what}{slot['status']}{_accepted(slot, label)}", where]
    if rule := slot["explanation"].get("rule"):
        lines.append(f"decided by {rule}")
    if reasons := slot["uncertainty"]["reasons"]:
        lines.append(f"because {', '.join(reasons)}")
    if basis["next_invalid_at"] is not None:
        lines.append(f"good until {basis['next_invalid_at']}")
    said = [terminal(line) for line in lines]
    return "\n".join(
        said if screen is None else (part for line in said for part in wrapped(line.split(" "), screen, more="  "))
    )


def _subject(slot: Mapping[str, Any], label: Label) -> str:
    if "predicate_ref" not in slot:
        return ""
    subject = slot["subject"]
    named = label(subject["id"]) if isinstance(subject, Mapping) else show(subject)
    return f"{named} {slot['predicate_ref'].rpartition('/')[2]}: "


def _accepted(slot: Mapping[str, Any], label: Label) -> str:
    values = [_value(value, label) for value in slot.get("accepted_values", ())]
    return f" {', '.join(values)}" if values else ""


def _value(value: object, label: Label) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return label(value["id"])
    return show(value)


# --- bars ---------------------------------------------------------------------------------------------


def _axis(
    entries: Sequence[Mapping[str, Any]],
    values: Mapping[str | None, str],
    valid_at: str,
    label: Label,
    columns: int,
    screen: int | None,
) -> str:
    """One line per claim with an effective time: `=` certainly held, `.` may have held, `|` the instant asked."""
    placed = [entry for entry in entries if entry["effective_time"] is not None]
    if not placed:
        return ""
    asked = parse_instant(valid_at)
    known = sorted({asked, *(side for entry in placed for side in _sides(entry))})
    first, last = known[0], known[-1]
    margin = max(1, (last - first) // 12)
    most = None if screen is None else max(12, screen // 3)
    names = [
        cut(f"{terminal(_said(entry, label))} ({terminal(label(entry['actor']['id']))})", most) for entry in placed
    ]
    wide = max(width(name) for name in names)
    if screen is not None:
        told = max(width(values.get(entry["proposition_id"], "")) for entry in placed)
        columns = max(_SHORTEST, min(columns, screen - wide - told - 4))
    scale = _Scale(first - margin, last + margin, columns)
    lines = [
        f"{name}{' ' * (wide - width(name))}  {_bar(entry, scale, asked)}  {values.get(entry['proposition_id'], '')}"
        for name, entry in zip(names, placed, strict=True)
    ]
    return "\n".join(line.rstrip() for line in [*lines, f"{' ' * wide}  {scale.marker(asked)} {valid_at[:10]}"])


_SHORTEST = 8  # cells of a time axis


class _Scale:
    """World time laid over screen cells."""

    def __init__(self, first: int, last: int, columns: int) -> None:
        self.first, self.last, self.columns = first, last, columns

    def instants(self) -> list[int]:
        """The instant in the middle of each cell."""
        step = (self.last - self.first) / self.columns
        return [int(self.first + step * (cell + 0.5)) for cell in range(self.columns)]

    def cell(self, instant: int) -> int:
        """The cell that an instant falls into."""
        return min(self.columns - 1, int((instant - self.first) * self.columns / max(1, self.last - self.first)))

    def marker(self, instant: int) -> str:
        """A line with `^` under the cell of an instant."""
        return " " * self.cell(instant) + "^"


def _bar(entry: Mapping[str, Any], scale: _Scale, asked: int) -> str:
    start, end = _bounds(entry["effective_time"]["from"]), _bounds(entry["effective_time"]["until"])
    cells = [_held(start, end, instant) for instant in scale.instants()]
    at = scale.cell(asked)
    cells[at] = "|" if cells[at] != " " else ":"
    return "".join(cells)


def _held(start: tuple[int | None, int | None], end: tuple[int | None, int | None], instant: int) -> str:
    if (start[0] is not None and start[0] > instant) or (end[1] is not None and end[1] <= instant):
        return " "
    begun = start[1] is not None and start[1] <= instant
    lasting = end == (None, None) or (end[0] is not None and end[0] > instant)
    return "=" if begun and lasting else "."


def _bounds(written: object) -> tuple[int | None, int | None]:
    if isinstance(written, str):
        instant = parse_instant(written)
        return instant, instant
    if isinstance(written, Mapping):
        sides = [written.get("earliest"), written.get("latest")]
        earliest, latest = (None if side is None else parse_instant(side) for side in sides)
        return earliest, latest
    return None, None


def _sides(entry: Mapping[str, Any]) -> list[int]:
    times = entry["effective_time"]
    return [side for bound in (_bounds(times["from"]), _bounds(times["until"])) for side in bound if side is not None]


# --- claims -------------------------------------------------------------------------------------------

_COLUMNS = ("claim", "who", "says", "how", "said at", "holds from", "until", "verdict", "root", "ended by", "rule")


def _table(entries: Sequence[Mapping[str, Any]], label: Label, screen: int | None) -> str:
    values = {entry["proposition_id"]: _value_of(entry, label) for entry in entries}
    rows = [_row(entry, label, values) for entry in entries]
    if screen is None:
        return table(_COLUMNS, rows, widest=None)
    told = [at for at in range(len(_COLUMNS)) if any(row[at] for row in rows)]
    head, cells = [_COLUMNS[at] for at in told], [[row[at] for at in told] for row in rows]
    fitted = fit(head, cells, screen, _READABLE)
    return "\n".join(_tree(rows, screen)) if fitted is None else table(head, cells, widest=fitted.widest)


_READABLE = 16  # cells of a text of a claim; narrower, a tree is easier to read


def _tree(rows: Sequence[Sequence[str]], screen: int) -> Iterator[str]:
    """A branch for each claim: who says what and whether it counts, the rest below."""
    for number, row in enumerate(rows, 1):
        told = {name: terminal(text) for name, text in zip(_COLUMNS, row, strict=True) if text}
        last = number == len(rows)
        claim = f"{told.pop('claim')}  {told.pop('who')}: {told.pop('says', '')}".split(" ")
        under = "     " if last else "|    "
        yield from wrapped([*claim, "->", *told.pop("verdict").split(" ")], screen, "`- " if last else "|- ", under)
        facts = [f"{name}: {text}" for name, text in told.items()]
        ends = [f"{fact};" for fact in facts[:-1]] + facts[-1:]
        room = screen - len(under)
        pieces = [part for end in ends for part in ([end] if width(end) <= room else end.split(" "))]
        yield from wrapped(pieces, screen, under, under)


def _row(entry: Mapping[str, Any], label: Label, values: Mapping[str, str]) -> list[Any]:
    times = entry["effective_time"] or entry["valid_time"]
    return [
        entry["assertion_id"],
        label(entry["actor"]["id"]),
        _said(entry, label),
        entry["mode"],
        entry["asserted_at"][:10],
        _when(times["from"], "not said"),
        _when(times["until"], "open"),
        _verdict(entry),
        "" if entry["root_group"] is None else f"#{entry['root_group'] + 1}",
        _ended(entry["ended_by"]),
        _rule(entry["precedence"], values),
    ]


def _verdict(entry: Mapping[str, Any]) -> str:
    """Whether it counts, else why not: what revised it, why its derivation does not hold."""
    by = f" by {', '.join(entry['revised_by'])}" if entry["verdict"] == "superseded" and entry["revised_by"] else ""
    if not entry["counts"] or entry["dependency"] == "current":
        return f"{entry['verdict']}{by}"
    return f"{entry['verdict']}, {entry['dependency']}: {', '.join(entry['dependency_reasons'])}"


def _ended(ended: Mapping[str, Any] | None) -> str:
    """The succession line that cut it, and the claims on it that did (§25.4)."""
    return "" if ended is None else f"{ended['line']} line: {', '.join(ended['assertion_ids'])}"


def _rule(precedence: Mapping[str, Any] | None, values: Mapping[str, str]) -> str:
    """The policy rule that decided the conflict that its value was in (§21.13)."""
    if precedence is None:
        return ""
    by = precedence["outranked_by"]
    if by is not None:
        return f"{precedence['rule']} for {values.get(by, by)}"
    return f"{precedence['rule']} over {', '.join(values.get(one, one) for one in precedence['prevailed_over'])}"


def _said(entry: Mapping[str, Any], label: Label) -> str:
    """What the claim says: its value, after a stance that does not support it."""
    return f"{'' if entry['stance'] == 'support' else entry['stance'] + ' '}{_value_of(entry, label)}"


def _value_of(entry: Mapping[str, Any], label: Label) -> str:
    return _value(entry["value"], label)


def _when(bound: object, absent: str) -> str:
    """A written bound for people: a day, or a range of days."""
    if isinstance(bound, str):
        return bound[:10] if bound.endswith("T00:00:00.000Z") else bound[:16].replace("T", " ")
    if not isinstance(bound, Mapping):
        return absent
    earliest, latest = (bound.get(side) for side in ("earliest", "latest"))
    if earliest is None:
        return f"by {latest[:10]}" if latest else absent
    return f"{earliest[:10]} or later" if latest is None else f"{earliest[:10]} to {latest[:10]}"
