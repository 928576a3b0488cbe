"""Canon: what holds about a project's files, kept where an agent will come across it.

Articles are addressed by the path of what they are about, and the nearest one above a path governs it. The journal
keeps what happened, word for word. All of that is on the graph (`kip://kipql/agent@1.0.0`); sessions are not.
"""

import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.canon import articles, listing, paths
from kipql.memory.canon import clock as clocks
from kipql.memory.canon import journal as entries
from kipql.memory.canon.address import PathText, check_mount, key, normal, without_extension
from kipql.memory.canon.articles import Article, Change, Written
from kipql.memory.canon.audit import Audit
from kipql.memory.canon.form import Schema, form_of
from kipql.memory.canon.journal import Draft, Entry
from kipql.memory.canon.lookups import READING, Governing, Lookups
from kipql.memory.canon.queries import query
from kipql.memory.canon.surfacing import CanonSession, SurfacePolicy, trace_line

if TYPE_CHECKING:
    from kipql import Nexus

PACKAGE = "kip://kipql/agent@1.0.0"
_NEWEST = 3


class Canon:
    """The articles and the journal of one project in a memory.

    nexus   the memory; a read-only one answers everything but `write` and `journal`
    mount   the tree that paths are in; "" is the project
    policy  how sessions surface
    root    the project's folder: it is taken off absolute paths, and its files decide whether a name has an extension
    mounts  other trees that a path may name, as in "lib:src/x"
    schema  a JSON Schema over the members of an article, or its file: `required` refuses a new article without them,
            everything else of it is advice
    clock   what time it is; default: the memory's own clock
    trace   a file that gets one JSON line for each decision of a session

    >>> import kipql
    >>> canon = Canon(kipql.open())
    >>> canon.write("src/feed/sync.py", capsule="API caps pages at 50", body="Pages hold 50 items.")["address"]
    'src/feed/sync'
    >>> session = canon.session("run-1")
    >>> session.touch(["src/feed/sync.py"])
    ['src/feed/sync']
    >>> session.flush()
    '[canon] src/feed/sync: API caps pages at 50'
    """

    paths_in = staticmethod(paths.paths_in)

    def __init__(
        self,
        nexus: "Nexus",
        mount: str = "",
        policy: SurfacePolicy | None = None,
        *,
        root: PathText | None = None,
        mounts: Iterable[str] = (),
        schema: "Schema | str | Path | None" = None,
        clock: "clocks.Clock | None" = None,
        trace: PathText | None = None,
    ) -> None:
        self.nexus = nexus
        self.mount = check_mount(mount)
        self.policy = policy or SurfacePolicy()
        self._mounts = frozenset(map(check_mount, mounts))
        self._files = paths.Files(root)
        self.form = form_of(schema)
        self._clock = clock
        self._trace = None if trace is None else Path(trace)
        self._sessions: dict[str, CanonSession] = {}
        self._lock = threading.Lock()
        self._install()
        self._lookups = Lookups(nexus, make_assets=self.policy.make_assets)

    def _install(self) -> None:
        try:
            self.nexus.install_package(PACKAGE)
        except kipql.KipError as error:
            if error.code not in READING:
                raise
            raise kipql.KipError(
                error.code,
                f"this memory has no canon, and {error.message}",
                hint=f"open it writable once, with packages=[{PACKAGE!r}]",
            ) from None

    # articles

    def resolve(self, path: PathText) -> str | None:
        """The address of the article that governs a path: its own, else the nearest one above; None without any.

        Raises KipError for what is no path.
        """
        mount, normalised = self._place(path)
        rows = self.nexus.query(query("resolve"), {"keys": articles.chain(mount, normalised, self._files)}).rows
        return str(rows[0][0]) if rows else None

    def read(self, path: PathText, *, as_of: int | None = None, session: str | None = None) -> Article:
        """The article that governs a path, with the names of the newest journal entries about its address.

        as_of    a sequence: the wording of then
        session  whose session has read it; without it all sessions of this Canon. What was read is not surfaced

        `found` is False where no article governs the path.
        """
        mount, normalised = self._place(path)
        keys = articles.chain(mount, normalised, self._files)
        address = without_extension(normalised)
        name = articles.nearest(self._lookups.found(keys), keys)
        held = None if name is None else articles.stored(self.nexus, name, as_of)
        if name is None or held is None:
            return Article(found=False, mount=mount, address=None, governs=address)
        for one in self._told(session):
            one.read(name, held.body)
        own = name.partition(":")[2]
        names = entries.names_about(self.nexus, mount, own)
        return Article(
            found=True,
            mount=mount,
            address=own,
            governs=own if own == normalised else address,
            capsule=held.capsule,
            body=held.body,
            updated=held.updated,
            scope=held.scope,
            journal=names[:_NEWEST],
            earlier=max(len(names) - _NEWEST, 0),
        )

    def write(
        self,
        path: PathText,
        *,
        capsule: str | None = None,
        body: str | None = None,
        scope: str | None = None,
        front: Mapping[str, Any] | None = None,
        governs: bool | None = None,
        session: str | None = None,
    ) -> Written:
        """Create or rewrite the article of a path; what is blank or left out stays as it is.

        capsule  the article in one line; line breaks become blanks
        body     the prose, kept as it is
        scope    "rule" for an article that is about no asset by intent, "asset" to take that back
        front    foreign front-matter members, carried along
        governs  False where there is no asset of that address; default: whether the root has one, True without a root
        session  whose session wrote it; without it all sessions of this Canon

        The prose is never refused: `advice` says what the rewrite loses. Writing the same again is `unchanged` and
        keeps `updated`. Raises KipError: InvalidIdentifier, TypeMismatch, ConstraintViolation, ReadonlyViolation.
        """
        mount, normalised = self._place(path)
        own = self._own(mount, normalised)
        if governs is None and mount == self.mount:
            governs = self._files.stands(own)
        change = Change(capsule, body, scope, front, governs)
        articles.check(change)
        written = articles.write(self.nexus, mount, own, change, self._now()[:10], self.form)
        for one in self._told(session):
            one.wrote(key(mount, own))
        return written

    def map(self, prefix: PathText = "") -> str:
        """The articles at an address and below it, a line each; a sentence where there are none."""
        mount, normalised = self._place(prefix)
        return listing.map_text(self.nexus, mount, normalised)

    def search(self, text: str, journal: bool = False, limit: int = 10) -> str:
        """What a text finds, as text for a model: articles, and with `journal` its entries beside them.

        With the journal each side has half of the places, and one with fewer hits leaves its places to the other.
        """
        return listing.search_text(self.nexus, text, journal=journal, limit=limit)

    # the journal

    def journal(
        self,
        text: str,
        subject: "str | Iterable[str]" = (),
        slug: str | None = None,
        *,
        logged: "datetime | str | None" = None,
        harness: str | None = None,
        session: str | None = None,
        name: str | None = None,
    ) -> Entry:
        """Log what happened, word for word; the entry's name is `<date>-<slug>[-n].md`, the first one free.

        subject  the paths or addresses it is about
        slug     a few words for the name; default: "entry"
        logged   when; default: now
        name     the name it has already, such as that of a file; one that is taken is IdentityConflict

        Nothing can change an entry, and a name is never given out twice.
        """
        places = tuple(self._subject(one) for one in ([subject] if isinstance(subject, str) else subject))
        at = self._now() if logged is None else clocks.canonical(logged)
        extra = tuple((member, value) for member, value in (("harness", harness), ("session", session)) if value)
        draft = Draft(text, entries.distinct(places), entries.slug_of(slug), at, extra, name)
        made, seq = entries.append(self.nexus, draft)
        return Entry(name=made, logged=at, subject=[address for _, address in draft.about], seq=seq)

    # sessions

    def session(self, name: str, state: Mapping[str, Any] | None = None) -> CanonSession:
        """The session of a name, as it is or new; `state` is what `to_dict` of an earlier process returned."""
        with self._lock:
            known = self._sessions.get(name)
            if known is None or state is not None:
                known = self._sessions[name] = CanonSession(self, name, state)
            return known

    def forget(self, name: str) -> None:
        """End a session: its state is dropped."""
        with self._lock:
            self._sessions.pop(name, None)

    @property
    def audit(self) -> Audit:
        """The audits; each answers a list of findings."""
        return Audit(self)

    # what sessions ask

    def governing(self, asked: Iterable[str]) -> Governing:
        """The articles that govern some paths, by one query of look-ups; what is no path is passed over."""
        chains, places = [], []
        for path in asked:
            try:
                mount, normalised = self._place(path)
            except kipql.KipError:
                continue
            if normalised:
                chains.append(articles.chain(mount, normalised, self._files))
                places.append((mount, without_extension(normalised)))
        return self._lookups.governing(chains, places)

    def capsules(self, keys: Iterable[str]) -> dict[str, str]:
        """The capsules of articles by key; "" where one has none."""
        return self._lookups.capsules(keys)

    def off_spine(self) -> dict[str, str]:
        """The text of the articles that no path leads to, by key."""
        rows = self.nexus.query(query("off_spine")).rows
        return {name: f"{capsule or ''}\n{body or ''}" for name, capsule, body in rows}

    def trace(self, event: str, session: str, name: str | None, **more: Any) -> None:
        """Append one decision to the trace."""
        if self._trace is None:
            return
        line = trace_line(event, session, name, clocks.canonical((self._clock or _system)()), **more)
        try:
            with self._lock, self._trace.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise kipql.KipError("ArtifactUnavailable", f"{self._trace}: {error.strerror}") from None

    # inside

    def _place(self, path: PathText) -> tuple[str, str]:
        """The mount and the normal path of a path."""
        mount, colon, rest = path.partition(":") if isinstance(path, str) else ("", "", "")
        if colon and mount and mount in self._mounts | {self.mount}:
            return mount, normal(rest)
        return self.mount, normal(path, self._files.root)

    def _own(self, mount: str, normalised: str) -> str:
        """The address that a write goes to: an address that names an article stays, else the extension is dropped."""
        plain = without_extension(normalised)
        if not plain:
            raise kipql.KipError("ConstraintViolation", "the project itself has no article", hint="name a path in it")
        if plain != normalised and not self._files.has(normalised):
            return normalised if self._lookups.found([key(mount, normalised)]) else plain
        return plain

    def _subject(self, path: str) -> tuple[str, str]:
        mount, normalised = self._place(path)
        return mount, self._own(mount, normalised)

    def _now(self) -> str:
        return clocks.instant(self.nexus, self._clock)

    def _told(self, session: str | None) -> list[CanonSession]:
        with self._lock:
            if session is None:
                return list(self._sessions.values())
            return [self._sessions[session]] if session in self._sessions else []


def _system() -> datetime:
    return datetime.now(UTC)
