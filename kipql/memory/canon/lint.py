"""The write desk: advice on an article as it is written, never a refusal.

What memories lose, they lose here: a rewrite that sounds better and says less. So the first advice is about rule lines
that the rewrite drops and about values of the journal that the article does not hold; the rest is about form.
"""

import re
from dataclasses import dataclass

from kipql.memory.canon import prose

LONG, HIERARCHICAL, SHORT, CAPSULE = 8_000, 20_000, 400, 1_000
QUOTED = 160
MOST_RULES, MOST_VALUES = 2, 6
GROWTH = 1.25
_CHANGELOG = re.compile(
    r"(added|adds?|changed|changes?|fixed|fixes|fix|removed|removes?|updated?|updates|refactored|renamed|moved|bumped|"
    r"introduced|implemented|deprecated)\b",
    re.IGNORECASE,
)
_JOURNAL = re.compile(r"(?:^|/)(?:journal|changelog|log|notes)(?:/|$)|\d{4}-\d{2}-\d{2}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """An article about to be stored, and what it takes the place of.

    before    the body until now, None for a new article
    entries   (name, text) of the journal about exactly this asset
    parent    whether an article stands above it
    dead      wikilinks that lead nowhere
    orphan    whether it governs nothing and is not declared a rule
    """

    address: str
    capsule: str
    body: str
    before: str | None
    entries: tuple[tuple[str, str], ...]
    parent: bool
    dead: tuple[str, ...]
    orphan: bool = False


def advice(draft: Draft) -> list[str]:
    """What to look at again, the losses first."""
    return [*_rules(draft), *_values(draft), *_size(draft), *_capsule(draft), *_place(draft)]


def notes(draft: Draft) -> list[str]:
    """What is worth knowing and no fault."""
    found = []
    old, new = len((draft.before or "").encode()), len(draft.body.encode())
    if old and new > old * GROWTH:
        found.append(f"Body grew {old} -> {new} bytes.")
    if draft.orphan:
        found.append('No file or folder has this address: is it a rule? Then give it the scope "rule".')
    return found


def _rules(draft: Draft) -> list[str]:
    lost = prose.dropped_rules(draft.before or "", draft.body)
    shown = [f"This rewrite drops a rule: {line[:QUOTED]}" for line in lost[:MOST_RULES]]
    return [*shown[:-1], f"{shown[-1]} (and {len(lost) - MOST_RULES} more)"] if len(lost) > MOST_RULES else shown


def _values(draft: Draft) -> list[str]:
    text = f"{draft.capsule}\n{draft.body}"
    missing = unretained(text, draft.entries)
    if not missing:
        return []
    listed = ", ".join(f"{value} ({entry})" for value, entry in missing[:MOST_VALUES])
    more = f" and {len(missing) - MOST_VALUES} more" if len(missing) > MOST_VALUES else ""
    return [f"The journal has values that the article does not hold: {listed}{more}"]


def unretained(text: str, entries: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The values of journal entries that a text does not hold, each with the first entry that has it."""
    found: dict[str, str] = {}
    for name, said in entries:
        for value in prose.values(said):
            if value not in found and not prose.holds(text, value):
                found[value] = name
    return list(found.items())


def _size(draft: Draft) -> list[str]:
    size = len(draft.body)
    if size > HIERARCHICAL:
        return [f"The body has {size} characters: go hierarchical, with articles for what lies below."]
    if size > LONG:
        return [f"The body has {size} characters; over {LONG} nobody reads to the end."]
    if size < SHORT and draft.parent:
        return [f"The body has {size} characters and an article stands above it: fold it up into that one."]
    return []


def _capsule(draft: Draft) -> list[str]:
    if not draft.capsule:
        return ["There is no capsule: without one a touch shows only that the article exists."]
    found = []
    if len(draft.capsule) > CAPSULE:
        found.append(f"The capsule has {len(draft.capsule)} characters; it is to be read in passing.")
    if _CHANGELOG.match(draft.capsule):
        found.append("The capsule begins like a changelog: say what holds, not what was done.")
    return found


def _place(draft: Draft) -> list[str]:
    found = []
    if _JOURNAL.search(draft.address):
        found.append("The address looks like a journal's: what happened on a day belongs into the journal.")
    found += [f"The link [[{target}]] leads nowhere." for target in draft.dead]
    return found
