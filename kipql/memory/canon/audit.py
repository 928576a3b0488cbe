"""Audits of a canon: what got lost, and what leads nowhere.

Each answers a list of findings, empty when all is well. Those that the query language can tell alone are shipped as
`.kql` files with directives too (`kipql/memory/canon/queries`), for `kipql run` in CI.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.canon import articles, journal, lint, prose
from kipql.memory.canon.address import above, key, shown
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql.memory.canon.canon import Canon

Finding = dict[str, Any]
NAMES = (
    "constraint-loss",
    "rules-without-sentence",
    "unretained-values",
    "dead-links",
    "orphans",
    "two-articles",
    "long-articles",
    "entries-without-subject",
)


class Audit:
    """The audits of one Canon, over all its mounts; made by `canon.audit`."""

    def __init__(self, canon: "Canon") -> None:
        self._nexus = canon.nexus

    def run(self, name: str, *, from_seq: int | None = None) -> list[Finding]:
        """An audit by its name. Raises NotFoundOrNotVisible for an unknown one."""
        if name not in NAMES:
            raise kipql.KipError(
                "NotFoundOrNotVisible", f"there is no audit {name}", hint=f"audits are {', '.join(NAMES)}"
            )
        if name == "constraint-loss":
            return self.constraint_loss(from_seq)
        asked: Callable[[], list[Finding]] = getattr(self, name.replace("-", "_"))
        return asked()

    def constraint_loss(self, from_seq: int | None = None) -> list[Finding]:
        """Rule lines that articles lost: `{address, line, evidence}`, `evidence` being the journal entries about the
        address that still say it (word for word, or at least half of its longer words).

        from_seq  compare with the wording at this sequence; None compares with every earlier wording
        """
        now = {row[0]: row[4] for row in self._nexus.query(query("articles")).rows}
        found: list[Finding] = []
        for mount, address, identity, before in self._earlier(from_seq):
            for line in prose.dropped_rules(before, _text(now.get(identity))):
                finding = {"address": shown(mount, address), "line": line}
                if not any(one["address"] == finding["address"] and one["line"] == line for one in found):
                    said = journal.texts_about(self._nexus, mount, address)
                    found.append({**finding, "evidence": [name for name, text in said if prose.echoes(text, line)]})
        return found

    def rules_without_sentence(self) -> list[Finding]:
        """Rules that are believed and whose words no governing article holds: `{address, predicate, rule}`."""
        found = []
        for predicate in ("must_contain", "must_not_contain"):
            asked = {"predicate": f"kip://kipql/agent/{predicate}"}
            for mount, address, rule in self._nexus.query(query("accepted-rules"), asked).rows:
                if isinstance(rule, str) and not self._says(_text(mount), _text(address), rule):
                    found.append({"address": shown(_text(mount), _text(address)), "predicate": predicate, "rule": rule})
        return found

    def unretained_values(self) -> list[Finding]:
        """Values of the journal that the article of its subject does not hold: `{address, value, entry}`."""
        found: list[Finding] = []
        said: dict[tuple[str, str], tuple[str, list[tuple[str, str]]]] = {}
        for mount, address, capsule, body, entry, text in self._nexus.query(query("unretained-values")).rows:
            held = said.setdefault((mount, address), (f"{_text(capsule)}\n{_text(body)}", []))
            held[1].append((entry, _text(text)))
        for (mount, address), (held_text, entries) in said.items():
            for value, entry in lint.unretained(held_text, tuple(entries)):
                found.append({"address": shown(mount, address), "value": value, "entry": entry})
        return found

    def dead_links(self) -> list[Finding]:
        """Wikilinks that lead to no article and no journal entry: `{address, link}`."""
        return [
            {"address": shown(mount, address), "link": target}
            for mount, address, body in self._nexus.query(query("dead-links")).rows
            for target in articles.dead_links(self._nexus, mount, _text(body))
        ]

    def orphans(self) -> list[Finding]:
        """Articles that govern nothing and are not declared rules: `{address}`."""
        return [{"address": shown(mount, address)} for address, mount in self._nexus.query(query("orphans")).rows]

    def two_articles(self) -> list[Finding]:
        """Assets that two articles govern: `{asset, articles}`."""
        rows = self._nexus.query(query("two-articles")).rows
        return [{"asset": _bare(asset), "articles": [_bare(one), _bare(other)]} for asset, one, other in rows]

    def long_articles(self, over: int = lint.LONG) -> list[Finding]:
        """Articles with more characters than `over`: `{address, characters}`."""
        rows = self._nexus.query(query("articles")).rows
        sizes = ((shown(mount, address), len(_text(body))) for _, mount, address, _, body in rows)
        return [{"address": address, "characters": size} for address, size in sizes if size > over]

    def entries_without_subject(self) -> list[Finding]:
        """Journal entries about nothing: `{entry}`."""
        return [{"entry": name} for name in self._nexus.query(query("entries-without-subject")).rows]

    def _earlier(self, from_seq: int | None) -> Iterator[tuple[str, str, str, str]]:
        """(mount, address, id, body) of earlier wordings, the newest first."""
        if from_seq is not None:
            then = f"{query('articles')}".replace("ORDER BY", "AS OF SEQ :from_seq ORDER BY")
            for identity, mount, address, _, body in self._nexus.query(then, {"from_seq": from_seq}).rows:
                yield mount, address, identity, _text(body)
            return
        for identity, mount, address in self._nexus.query(query("ever")).rows:
            for seq in reversed(self._rewritten(identity)):
                for body in self._nexus.query(query("revisions"), {"id": identity, "seq": seq}).rows:
                    yield mount, address, identity, _text(body)

    def _rewritten(self, identity: str) -> list[int]:
        """The sequences at which an article got a body."""
        rows = self._nexus.query("HISTORY ELEMENT :id", {"id": identity}).rows
        return [row["space_seq"] for row in rows if any(map(_of_body, row["changes"]))]

    def _says(self, mount: str, address: str, rule: str) -> bool:
        """Whether the nearest article of an address holds the words of a rule."""
        keys = [key(mount, one) for one in above(address)]
        name = articles.nearest((row[0] for row in self._nexus.query(query("governing"), {"keys": keys}).rows), keys)
        held = None if name is None else articles.stored(self._nexus, name)
        text = "" if held is None else f"{held.capsule}\n{held.body}"
        return prose.squeezed(rule).casefold() in prose.squeezed(text).casefold()


def _of_body(change: dict[str, Any]) -> bool:
    return change["op"] == "create" or "attributes.body" in change.get("touched", ())


def _bare(name: str) -> str:
    mount, _, address = name.partition(":")
    return shown(mount, address)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
