"""Results and beliefs as HTML for a notebook: what `kipql.render` writes for a terminal, drawn.

Every text goes through `kipql.escape.html`; there is no script, and no style but attributes, so that a notebook that
sanitises what it shows leaves it whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kipql.escape import html
from kipql.render.people import instant, people
from kipql.render.results import grid
from kipql.render.values import many
from kipql.times import parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.runtime.result import Result

Label = Callable[[str], str]
MOST_ROWS = 100
_LONG = 300
_COLOURS = {"accepted": "#1a7f4e", "contested": "#b45309", "uncertain": "#64748b", "rejected": "#c0303c"}
_PALE = "#a3acb9"
_CELL = 'style="text-align:left;vertical-align:top"'


def result_html(result: "Result", label: Label = str) -> str:
    """The rows as a table; the only belief of an answer is drawn.

    label  what to call an element id inside a value
    """
    if len(result.rows) == len(result.columns) == 1 and is_belief(result.rows[0]):
        return belief_html(result.rows[0], label)
    columns, rows = grid(result, "META" if _is_meta(result) else "KQL")
    more = ", more to come" if result.next_cursor else ""
    cut = f", the first {MOST_ROWS} shown" if len(rows) > MOST_ROWS else ""
    said = f"{many(len(rows), 'row')}{cut}{more}, as of {result.context.get('snapshot_seq')}"
    cells = [[people(value, label) for value in row] for row in rows[:MOST_ROWS]]
    return f"{_table(columns, cells)}<p><small>{html(said)}</small></p>"


def _is_meta(result: "Result") -> bool:
    if result.described:
        return True
    plain = all(isinstance(row, Mapping) and "_system" not in row and "basis" not in row for row in result.rows)
    return result.columns == ("result",) and plain


def is_belief(value: object) -> bool:
    """Whether a value is a projection: it has a status and the basis it was computed on."""
    return (
        isinstance(value, Mapping) and isinstance(value.get("basis"), Mapping) and isinstance(value.get("status"), str)
    )


def belief_html(slot: Mapping[str, Any], label: Label = str) -> str:
    """A belief: its status and what it accepts, and with a ledger its claims as bars over world time and as a table."""
    basis = slot["basis"]
    status = slot["status"]
    subject = people(slot["subject"], label) if "subject" in slot else ""
    about = f"{subject} {slot['predicate_ref'].rpartition('/')[2]}" if "predicate_ref" in slot else "belief"
    accepted = ", ".join(people(value, label) for value in slot.get("accepted_values", ()))
    where = f"at {instant(basis['valid_at'])}, as of {basis['snapshot_seq']}, policy {basis['policy']['id']}"
    chip = f'<b style="color:{_COLOURS.get(status, _PALE)}">{html(status)}</b>'
    parts = [f"<div><b>{html(about)}</b> {chip} {html(accepted)}<br><small>{html(where)}</small></div>"]
    explanation = slot.get("explanation")
    if isinstance(explanation, Mapping) and (entries := explanation.get("entries")):
        parts += [_bars(entries, basis["valid_at"], label), _claims(entries, label)]
    return "".join(parts)


def element_html(value: Mapping[str, Json], label: Label = str) -> str:
    """A whole element as its members and values."""
    rows = [[name, people(member, label)] for name, member in value.items() if member not in (None, {}, [])]
    return f"<div><b>{html(people(value, label))}</b></div>{_table(('member', 'value'), rows)}"


# --- bars ---------------------------------------------------------------------------------------------

_LEFT, _WIDE, _ROW = 260, 560, 20


def _bars(entries: Sequence[Mapping[str, Any]], valid_at: str, label: Label) -> str:
    """One bar a claim: full where it certainly held, pale where it may have; a line at the instant asked."""
    asked = parse_instant(valid_at)
    spans = [(entry, *_span(entry["effective_time"])) for entry in entries if entry["effective_time"]]
    if not spans:
        return ""
    known = [asked, *(side for _, *sides in spans for side in sides if side is not None)]
    margin = max(86_400_000, (max(known) - min(known)) // 12)
    first, last = min(known) - margin, max(known) + margin

    def across(at: int) -> float:
        return round(_LEFT + (at - first) * _WIDE / (last - first), 1)

    drawn = []
    for row, (entry, earliest, latest, ends, over) in enumerate(spans):
        begin, stop = first if earliest is None else earliest, last if over is None else over
        sure, until = first if latest is None else latest, last if ends is None and over is None else (ends or stop)
        colour = _PALE if not entry["counts"] else _COLOURS["rejected" if entry["stance"] == "reject" else "accepted"]
        y = row * _ROW + 4
        drawn += [
            f'<text x="0" y="{y + 10}" font-size="12" fill="currentColor">{html(_short(_said(entry, label)))}</text>',
            _bar(across(begin), across(stop), y, colour, 0.3),
            _bar(across(sure), across(max(sure, until)), y, colour, 1),
        ]
    high = len(spans) * _ROW + 22
    drawn += [
        f'<line x1="{across(asked)}" x2="{across(asked)}" y1="0" y2="{high - 16}" stroke="#3056d3" stroke-width="2"/>',
        f'<text x="{across(asked)}" y="{high - 3}" font-size="11" text-anchor="middle" fill="currentColor">'
        f"{html(valid_at[:10])}</text>",
    ]
    return f'<svg viewBox="0 0 {_LEFT + _WIDE + 40} {high}" width="100%" role="img">{"".join(drawn)}</svg>'


def _bar(begin: float, end: float, y: int, colour: str, opacity: float) -> str:
    wide = round(max(0.0, end - begin), 1)
    return f'<rect x="{begin}" y="{y}" width="{wide}" height="11" fill="{colour}" opacity="{opacity}"/>'


def _span(times: Mapping[str, Any]) -> tuple[int | None, int | None, int | None, int | None]:
    """Earliest and latest begin, earliest and latest end."""
    return (*_sides(times["from"]), *_sides(times["until"]))


def _sides(bound: object) -> tuple[int | None, int | None]:
    if isinstance(bound, str):
        return parse_instant(bound), parse_instant(bound)
    sides = bound if isinstance(bound, Mapping) else {}
    earliest, latest = (
        None if sides.get(side) is None else parse_instant(sides[side]) for side in ("earliest", "latest")
    )
    return earliest, latest


# --- claims -------------------------------------------------------------------------------------------


def _claims(entries: Sequence[Mapping[str, Any]], label: Label) -> str:
    columns = ("claim", "says", "who", "how", "said at", "verdict")
    rows = [
        [
            entry["assertion_id"],
            _said(entry, label),
            label(entry["actor"]["id"]),
            entry["mode"],
            instant(entry["asserted_at"]),
            entry["verdict"],
        ]
        for entry in entries
    ]
    return _table(columns, rows)


def _said(entry: Mapping[str, Any], label: Label) -> str:
    return f"{'' if entry['stance'] == 'support' else entry['stance'] + ' '}{people(entry['value'], label)}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th {_CELL}>{html(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td {_CELL}>{html(_cut(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _short(text: str) -> str:
    return text if len(text) <= 36 else f"{text[:35]}…"
