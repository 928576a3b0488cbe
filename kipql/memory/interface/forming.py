"""Formation: from a captured source to what is remembered of it. The host supplies the callable, a model or rules.

It is handed a `Heard` and answers a `Formed`, or None for nothing. It says what the source says and nothing about
itself: who claims it, when, on which Evidence and in which context comes from the capture (§5.1, §7).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kipql

if TYPE_CHECKING:
    from kipql import Nexus

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A Concept by its type and key; it is made under this name where there is none."""

    type: str
    name: str
    key: str = ""

    @property
    def identity(self) -> str:
        """The key, by default the name in lower case."""
        return self.key or "-".join(self.name.casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the speaker says about a subject: the speaker, another Concept, or with `about_task` the task at hand.

    since, until  world time where the source states it, as protocol timestamps; never guessed
    confidence    only where the source or the model states one
    """

    predicate: str
    object: Named | Scalar
    subject: Named | None = None
    about_task: bool = False
    stance: str = "support"
    since: str | None = None
    until: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A Commitment of the speaker, or with `owed` one that is owed to the speaker."""

    summary: str
    due_at: str | None = None
    owed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Formed:
    """What a source says. `gaps` are what could not be made out, in words that repeat nothing of a secret.

    packages            refs of shipped packages that the claims need
    types, predicates   draft vocabulary that the claims need: name -> description
    """

    claims: tuple[Claim, ...] = ()
    promises: tuple[Promise, ...] = ()
    gaps: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    predicates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A captured source as a Formation sees it.

    content      the exact payload, a text or JSON value
    evidence_id  its Evidence; `source_ref` is the host's name of it
    speaker      the id of the Concept that speaks, None where the host does not know
    target       of a revision: `{assertion_id, predicate, object}` of the one claim it is about, where that is known
    request      of a misrecording: what the request to repair says; `content` is the source that was misread
    memory       the memory, read-only, as the caller sees it
    """

    operation: str
    change_kind: str | None
    source_ref: str
    evidence_id: str
    role: str
    content: Any
    speaker: str | None
    observed_at: str
    task_ref: str | None
    context_refs: tuple[str, ...]
    memory: "Nexus"
    target: Mapping[str, Any] | None = None
    request: Any = None

    @property
    def text(self) -> str | None:
        """The content where it is a text, or the text of a message object."""
        content = self.content.get("content") if isinstance(self.content, Mapping) else self.content
        return content if isinstance(content, str) else None


Formation = Callable[[Heard], Formed | None]


def form(formation: Formation | None, heard: Heard) -> Formed:
    """Run a Formation. Raises TypeMismatch for an answer that is none; what it raises itself passes."""
    found = formation(heard) if formation is not None else None
    if found is None:
        return Formed()
    if not isinstance(found, Formed):
        raise kipql.KipError("TypeMismatch", f"a formation answers Formed or None, not {type(found).__name__}")
    for kind, parts in ((Claim, found.claims), (Promise, found.promises), (str, found.gaps)):
        if not isinstance(parts, tuple) or not all(isinstance(each, kind) for each in parts):
            raise kipql.KipError("TypeMismatch", f"a member of Formed is no tuple of {kind.__name__}")
    return found


def vocabulary(nexus: "Nexus", formed: Formed) -> None:
    """Make the packages and draft symbols known that a Formed needs. Raises what installing and defining raise."""
    active = {row["package_ref"] for row in nexus.query("LIST SCHEMA PACKAGES")}
    missing = [each for each in formed.packages if each not in active]
    if missing:
        nexus.install_packages(missing)
    for kind, statement, names in (
        ("TYPE", "CONCEPT TYPE", formed.types),
        ("PREDICATE", "PREDICATE", formed.predicates),
    ):
        for name, description in names.items():
            if not _known(nexus, kind, name):
                text = f"DEFINE {statement} {quoted(name)} {{ description: {quoted(description)} }}"
                nexus.execute(text)


def _known(nexus: "Nexus", kind: str, name: str) -> bool:
    try:
        return bool(nexus.query(f"DESCRIBE {kind} {quoted(name)}").rows)
    except kipql.KipError as error:
        if error.code == "SchemaSymbolNotFound":
            return False
        if error.code == "SchemaSymbolAmbiguous":
            return True
        raise


def quoted(text: str) -> str:
    """A text as a string of the language, where no parameter may stand (a symbol)."""
    import json

    if not isinstance(text, str):
        raise kipql.KipError("TypeMismatch", f"a symbol is a string, not {type(text).__name__}")
    return json.dumps(text, ensure_ascii=False)
