"""A Formation of rules: what a person says of themselves in plain, whole sentences, and nothing else.

It reads user statements only, sentence by sentence. A sentence counts when all of it has one of a few forms;
questions, quotations, conditions and everything unfamiliar are left as Evidence. What it forms is the speaker's own
claim about the speaker, a rule for the task, or a commitment with its date. It is made to miss rather than to invent.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from kipql.memory.brief.question import HEED
from kipql.memory.interface.forming import Claim, Formed, Heard, Named, Promise

GENERAL = "kip://domains/general@1.0.0"

KINDS: Mapping[str, tuple[str, ...]] = {
    "ColorScheme": ("dark mode", "light mode"),
    "Editor": ("vim", "neovim", "emacs", "vs code", "vscode", "nano", "helix", "sublime text"),
}
"""Options by their kind: a preference among options of one kind succeeds an older one (§20.15)."""

_DESCRIPTIONS = {"ColorScheme": "A colour scheme of a user interface.", "Editor": "A text editor."}
_HEED = "A rule that the subject has to heed, word for word as it was said."
_VERBS = (
    "add|answer|ask|book|buy|call|change|commit|contact|delete|deploy|edit|email|format|include|install|keep|log|"
    "mention|merge|open|pay|publish|push|release|remove|rename|reply|restart|review|run|schedule|send|share|store|test|"
    "touch|use|write"
)
_NAME = r"(?P<name>[A-Z][\w'-]{0,39}(?: (?:[A-Z][\w'-]{0,39}|of|de|la|del|the)){0,4})"
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2})"
_OFFSET = r"(?P<zone>(?:UTC|GMT)?[+-]\d{2}:\d{2}|UTC|[A-Z][a-z]+/[A-Z][A-Za-z_]+)"

_UNSURE = re.compile(
    r"\?|[\"“”«»]"
    r"|\b(?:if|unless|maybe|perhaps|might|would|could|wish|imagine|suppose|said|says|quote|used to|not sure)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")


@dataclass(frozen=True, slots=True)
class RuleFormation:
    """The rules, with the options that preferences are read among.

    kinds         kind (a Concept Type) -> the options of it, as they are said
    constraints   the predicate that rules are claimed with
    """

    kinds: Mapping[str, Sequence[str]] = field(default_factory=lambda: KINDS)
    constraints: str = HEED

    def __call__(self, heard: Heard) -> Formed:
        """What a source says by these rules."""
        text = heard.text
        if heard.role != "user" or text is None:
            return Formed()
        claims: list[Claim] = []
        promises: list[Promise] = []
        for sentence in _sentences(text):
            found = self._read(sentence, heard)
            if isinstance(found, Claim):
                claims.append(found)
            elif found is not None:
                promises.append(found)
        return self._formed(tuple(claims), tuple(promises))

    def _read(self, sentence: str, heard: Heard) -> Claim | Promise | None:
        if heard.target is not None and (mended := _meant(sentence, heard.target)) is not None:
            return mended
        for pattern, read in _FORMS:
            match = pattern.fullmatch(sentence)
            if match is not None:
                return read(match)
        if _RULE.fullmatch(sentence):
            return Claim(predicate=self.constraints, object=sentence, about_task=True)
        return self._preference(sentence)

    def _preference(self, sentence: str) -> Claim | None:
        match = _PREFERS.fullmatch(sentence)
        if match is None:
            return None
        said = match["option"].casefold()
        for kind, options in self.kinds.items():
            for option in options:
                if option.casefold() == said:
                    return Claim(predicate="prefers", object=Named(type=kind, name=option))
        return None

    def _formed(self, claims: tuple[Claim, ...], promises: tuple[Promise, ...]) -> Formed:
        predicates = {claim.predicate for claim in claims}
        kinds = {claim.object.type for claim in claims if isinstance(claim.object, Named)} & self.kinds.keys()
        return Formed(
            claims=claims,
            promises=promises,
            packages=(GENERAL,) if predicates & {"lives_in", "works_for", "timezone"} else (),
            types={kind: _DESCRIPTIONS.get(kind, f"An option of the kind {kind}.") for kind in sorted(kinds)},
            predicates={self.constraints: _HEED} if self.constraints in predicates else {},
        )


_PREFERS = re.compile(r"I (?:now )?(?:prefer|use) (?P<option>[\w .+#-]{2,40}?)(?: now| these days)?", re.IGNORECASE)
_RULE = re.compile(rf"(?:please )?(?:never|always|do not|don't) (?:ever )?(?:{_VERBS})\b.{{2,300}}", re.IGNORECASE)
_MEANT = re.compile(r"(?:(?:sorry|no), )?I meant (?P<value>.{1,80}?)", re.IGNORECASE)


def _lives(match: re.Match[str]) -> Claim:
    return Claim(predicate="lives_in", object=Named(type="Place", name=match["name"]))


def _moved(match: re.Match[str]) -> Claim | None:
    since = _day(match["date"]) if match["date"] else None
    if match["date"] and since is None:
        return None
    return Claim(predicate="lives_in", object=Named(type="Place", name=match["name"]), since=since)


def _works(match: re.Match[str]) -> Claim:
    return Claim(predicate="works_for", object=Named(type="Organization", name=match["name"]))


def _zone(match: re.Match[str]) -> Claim:
    return Claim(predicate="timezone", object=match["zone"])


def _reminder(match: re.Match[str]) -> Promise | None:
    due = _day(match["date"]) if match["date"] else None
    if match["date"] and due is None:
        return None
    return Promise(summary=match["deed"], due_at=due, owed=True)


def _vow(match: re.Match[str]) -> Promise | None:
    due = _day(match["date"])
    return None if due is None else Promise(summary=match["deed"], due_at=due)


_FORMS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], Claim | Promise | None]]] = (
    (re.compile(rf"I (?:now )?live in {_NAME}(?: now)?"), _lives),
    (re.compile(rf"I (?:have )?moved to {_NAME}(?: on {_DATE})?"), _moved),
    (re.compile(rf"I (?:now )?work (?:for|at) {_NAME}(?: now)?"), _works),
    (re.compile(rf"[Mm]y time ?zone is (?:now )?{_OFFSET}"), _zone),
    (re.compile(rf"(?:[Pp]lease )?[Rr]emind me to (?P<deed>.{{2,200}}?)(?: (?:on|by) {_DATE})?"), _reminder),
    (re.compile(rf"I (?:will|promise to) (?P<deed>.{{2,200}}?) (?:on|by|before) {_DATE}"), _vow),
)


def _meant(sentence: str, target: Mapping[str, object]) -> Claim | None:
    """A correction that names the value alone, of a claim about a string."""
    match = _MEANT.fullmatch(sentence)
    if match is None or not isinstance(target.get("object"), str):
        return None
    return Claim(predicate=str(target["predicate"]), object=match["value"])


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text[:20_000]):
        sentence = match[0].strip()
        if sentence and not _UNSURE.search(sentence):
            yield sentence.rstrip(".!").strip()


def _day(text: str) -> str | None:
    try:
        return f"{date.fromisoformat(text).isoformat()}T00:00:00.000Z"
    except ValueError:
        return None
