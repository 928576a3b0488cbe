"""Hostile rows in every output mode: what each writes is in tests/golden/render, reviewed by eye.

`python -m tests.render.goldens` writes the files anew; look at the difference.
"""

from pathlib import Path

from kipql.render.modes import MODES

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "render"
SCREEN = 100
CLAIM = {
    "id": "A-1", "kind": "assertion", "stance": "support", "proposition": {"id": "P-1"}, "asserted_by": {"id": "C-1"},
    "confidence": 0.8, "lifecycle": {"status": "retracted"}, "_system": {"state": "active"},
}  # fmt: skip
EVIL = {
    "id": "C-1", "kind": "concept", "schema_ref": "kip://p@1.0.0/Per\x1b[31mson", "key": "k\u202eey",
    "name": 'N"|<b>\n::error::', "_system": {"state": "arch\x9bived"},
}  # fmt: skip
COLUMNS = ("?text", "n", "a|b<i>\x1b[0m")
TEXTS = (
    "plain",
    "",
    " blank at both ends ",
    "\x1b]0;title\x07\x1b[2J",
    "right \u202e to left \u2066 isolate",
    "unseen \u200b\u00ad\ufeff\u2060",
    "one\ntwo\r\nthree\u2028four\x85five",
    "tab\there",
    "::error file=x::told",
    "##vso[task.complete]##teamcity[x]",
    "=1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "a | b",
    "`code` *b* _i_ [l](javascript:x) <img src=x onerror=y> &amp; #h ~~s~~ @me",
    'he said "no", twice',
    "日本語 ＡＢＣ 😀 e\u0301",
    "lone \ud800 half",
    "\x00\x7f\x9b31m",
    "null",
    "12",
    "x" * 150,
    "2026-04-01T00:00:00.000Z",
)
ROWS = [
    *((text, at, None) for at, text in enumerate(TEXTS)),
    (EVIL, -0.1, {"a\x1b": ["\u202e", None, 1e300]}),
    (CLAIM, 1e-9, [{"id": "E-1", "role": "support"}, {"id": "E-2", "role": "challenge"}]),
    (None, True, {"status": "accepted", "accepted_values": ["G\x1braz"], "basis": {}}),
    ([], 0, {}),
]


def label(identity: str) -> str:
    """A name from the memory, as hostile as the rest."""
    return f"Ev\x1bil | <b> ({identity})"


def written(mode: str) -> str:
    """What a mode writes."""
    return MODES[mode](COLUMNS, ROWS, label, SCREEN)


def main() -> None:
    """Write every file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for mode in MODES:
        (FOLDER / f"{mode}.txt").write_bytes((written(mode) + "\n").encode("utf-8"))


if __name__ == "__main__":
    main()
