"""`nexus.watches`: armed Watches are evaluated against what was committed (capability `watch_evaluation`).

A delta Watch fires at the first matching commit after it was armed; a silence Watch when its deadline has passed and
every commit up to it was looked at without a match. Nothing is kept between evaluations but a memo of what was looked
at, so a restart looks again and forgets nothing. Firing is one transaction: a `watch_fire` Activity under a client key
that names the arming, and the guarded move of the Watch to `fired`. It creates attention and grants nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kipql.model import element_id, parse_id
from kipql.runtime import watching
from kipql.runtime.guard import reraise
from kipql.runtime.session import Session
from kipql.runtime.work import Work
from kipql.times import format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.runtime.watching import Armed
    from kipql.store.view import View

_FIRE = """MUTATE {
  CREATE ACTIVITY ?fire {
    CLIENT KEY :key
    SET FIELDS {activity_class: "watch_fire", status: "completed", ended_at: :at}
    SET STRUCTURAL { ("inputs", :watch) ("inputs", :cause) }
  }
  UPDATE :watch
  SET ATTRIBUTES {status: "fired", fired_at: :at}
  SET FACET "kip://profiles/cognitive-memory/WatchState" {
    arm_generation: :generation, armed_seq: :armed_seq, condition_digest: :digest,
    authorization_view: :view, consumed_seq: :consumed, matched: :matched
  }
  EXPECT VERSION :version
}"""


@dataclass(frozen=True, slots=True)
class Firing:
    """A Watch that fires.

    watch        its id
    watch_class  "delta" or "silence"
    generation   which arming of the Watch it is
    space_seq    the matching commit; of a silence Watch the last one up to its deadline
    cause        the id of the element that changed, None for silence
    due_at       the deadline that passed, None for a delta Watch
    activity     the id of the watch_fire Activity, None while nothing was written
    """

    watch: str
    watch_class: str
    generation: int
    space_seq: int
    cause: str | None = None
    due_at: str | None = None
    activity: str | None = None

    @property
    def key(self) -> str:
        """The client key of the watch_fire Activity: one firing for one arming and one cause."""
        cause = self.space_seq if self.due_at is None else f"silence:{self.due_at}"
        return f"watch_fire:{self.watch}:{self.generation}:{cause}"


class Watches:
    """The armed Watches of a Space, as one caller sees them. Keep it: it remembers what it has looked at.

    >>> import kipql
    >>> nexus = kipql.open()
    >>> _ = nexus.execute(\"\"\"CREATE CONCEPT ?w { TYPE "Watch" SET ATTRIBUTES {
    ...   watch_class: "delta", summary: "someone new", status: "armed",
    ...   condition: {type: "Person", ops: ["create"]}} }\"\"\")
    >>> watches = nexus.watches
    >>> watches.evaluate()
    []
    >>> _ = nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Ada" }')
    >>> [(each.watch, each.cause, each.space_seq) for each in watches.evaluate()]
    [('C-1', 'C-2', 2)]
    """

    __slots__ = ("_looked", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._looked: dict[tuple[int, int], int] = {}  # arming -> the sequence up to which nothing matched

    def armed(self) -> list[dict[str, Json]]:
        """Every armed Watch: `{id, watch_class, arm_generation, armed_seq, due_at, evaluable}`; one that is not
        evaluable has a condition that only a Brain can judge."""
        return [
            {
                "id": element_id(watch.code),
                "watch_class": watch.watch_class,
                "arm_generation": watch.generation,
                "armed_seq": watch.armed_seq,
                "due_at": None if watch.due_at is None else format_instant(watch.due_at),
                "evaluable": watch.condition is not None,
            }
            for watch in watching.armed(self._session.view())
        ]

    def due(self) -> list[Firing]:
        """What `evaluate` would fire now; nothing is written."""
        view, at = self._session.view(), self._session.space.moment()
        found = (self._firing(view, watch, at) for watch in watching.armed(view))
        return [firing for firing in found if firing is not None]

    def evaluate(self) -> list[Firing]:
        """Fire what is due, each in a transaction of its own, and answer what fired.

        A silence Watch is judged while no write is under way, so no commit before its deadline can be missed. Call it
        again as time goes by: a deadline makes no commit. Raises KipError.
        """
        try:
            fired = (self._fire(firing) for firing in self.due())
            return [firing for firing in fired if firing is not None]
        except Exception as error:
            reraise(error)

    def follow(self, callback: Callable[[Firing], object] | None = None) -> Callable[[], None]:
        """Evaluate after every commit from now on, and hand each firing to `callback`. Returns a function that ends it.

        It runs in the committing thread once the commit is durable; what the callback raises is logged.
        """

        def look(_: dict[str, Json]) -> None:
            for firing in self.evaluate():
                if callback is not None:
                    callback(firing)

        return self._session.space.subscribe(look)

    # inside

    def _firing(self, view: "View", watch: "Armed", at: int) -> Firing | None:
        """The firing of a Watch on a view at an instant, None when it is not due."""
        if watch.condition is None:
            return None
        silence = watch.watch_class == "silence"
        if silence and (watch.due_at is None or watch.due_at > at):
            return None
        through = view.snapshot_at(watch.due_at) if silence and watch.due_at is not None else view.seq
        after = self._looked.get(watch.key, watch.armed_seq)
        match = watching.first_match(view, watch, after, through)
        if match is None:
            self._looked[watch.key] = max(after, through)
            if not silence or watch.due_at is None:
                return None
            due_at = format_instant(watch.due_at)
            return Firing(element_id(watch.code), "silence", watch.generation, through, due_at=due_at)
        if silence:
            return None  # what it waited for has come; the arming stays as it is until someone ends it
        return Firing(element_id(watch.code), "delta", watch.generation, *match)

    def _fire(self, due: Firing) -> Firing | None:
        """Write one firing, unless the Watch was fired, re-armed or answered meanwhile."""
        session = self._session
        code = parse_id(due.watch)
        assert code is not None
        with Work(session, session.budget()) as work:
            view = session.view()  # the head: while this transaction is open nothing else commits
            watch = watching.armed_watch(view, code)
            if watch is None or self._firing(view, watch, work.at) != due:
                return None
            cause = due.cause if due.cause is not None and view.state(_code(due.cause)) != "purged" else due.watch
            done = work.write(
                session.statements.parse(_FIRE),
                {
                    "key": due.key,
                    "at": format_instant(work.at),
                    "watch": due.watch,
                    "cause": cause,
                    "generation": watch.generation,
                    "armed_seq": watch.armed_seq,
                    "digest": watch.condition_digest,
                    "view": session.authority.view_id,
                    "consumed": due.space_seq,
                    "matched": due.cause is not None,
                    "version": watch.version,
                },
            )
            work.commit()
        return Firing(
            due.watch, due.watch_class, due.generation, due.space_seq, due.cause, due.due_at, done.handles["fire"]
        )


def _code(id_text: str) -> int:
    code = parse_id(id_text)
    assert code is not None
    return code
