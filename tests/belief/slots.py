"""Random slots for the laws: few actors, few instants, so that ties, lines and bounds meet often."""

from hypothesis import strategies as st

from kipql.belief.core import BASELINE, MEMORY_DEFAULT, STRUCTURAL, Candidate, Claim, Request, SlotRules
from kipql.times import Bound, Interval

INSTANTS = st.integers(0, 12)
ACTORS = st.sampled_from(("alice", "bob", "carol"))
CONTEXTS = st.frozensets(st.sampled_from(("work", "home")), max_size=2)
POLICIES = st.sampled_from((BASELINE, STRUCTURAL, MEMORY_DEFAULT))


@st.composite
def bounds(draw: st.DrawFn) -> Bound | None:
    """No statement, an exact instant, or a range open on either side."""
    shape = draw(st.sampled_from(("none", "exact", "range", "earliest", "latest")))
    one, other = sorted((draw(INSTANTS), draw(INSTANTS)))
    return {
        "none": None,
        "exact": Bound(one, one),
        "range": Bound(one, other),
        "earliest": Bound(one, None),
        "latest": Bound(None, one),
    }[shape]


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """A written interval that begins before it ends."""
    start, end = draw(bounds()), draw(st.one_of(st.none(), bounds()))
    if start is not None and end is not None and (start.earliest or 0) >= (20 if end.latest is None else end.latest):
        end = None
    return Interval(start, end)


@st.composite
def claims(draw: st.DrawFn, key: int) -> Claim:
    return Claim(
        key,
        draw(ACTORS),
        draw(st.sampled_from(("support", "support", "support", "reject", "uncertain"))),
        draw(st.sampled_from(("stated", "stated", "observed", "inferred", "predicted", "imported"))),
        draw(INSTANTS),
        draw(st.sampled_from((None, 0.2, 0.5, 0.9, 1.0))),
        draw(intervals()),
        draw(CONTEXTS),
        draw(st.sampled_from(("active", "active", "active", "retracted", "superseded"))),
        draw(st.sampled_from((None, None, None, "archived"))),
        draw(st.one_of(st.none(), st.frozensets(st.sampled_from(("E1", "E2", "E3")), max_size=2))),
        dependency=draw(st.sampled_from(("current", "current", "current", "needs_review", "unverifiable"))),
    )


@st.composite
def slots(draw: st.DrawFn) -> list[Candidate]:
    """One to four candidates over two partitions, up to ten claims."""
    count = draw(st.integers(1, 4))
    truths = draw(st.permutations((True, False, None, None)))
    by_candidate: list[list[Claim]] = [[] for _ in range(count)]
    for key in range(draw(st.integers(0, 10))):
        by_candidate[draw(st.integers(0, count - 1))].append(draw(claims(key)))
    return [
        Candidate(f"P{index}", f"value {index}", tuple(members), draw(st.sampled_from(("one", "two"))), truth)
        for index, (members, truth) in enumerate(zip(by_candidate, truths, strict=False))
    ]


@st.composite
def rules(draw: st.DrawFn) -> SlotRules:
    shape = draw(st.sampled_from(("plain", "functional", "functional_by")))
    return SlotRules(
        functional=shape == "functional",
        functional_by=shape == "functional_by",
        open_world=draw(st.sampled_from((True, True, True, False))),
        complete=shape == "functional" and draw(st.booleans()),
        boolean_completeness=shape != "functional_by" and draw(st.sampled_from((True, False, False))),
        temporal_conflict=draw(st.sampled_from((True, True, True, False))),
    )


@st.composite
def requests(draw: st.DrawFn) -> Request:
    return Request(draw(st.integers(-1, 14)), draw(CONTEXTS), subject=draw(st.sampled_from((None, "alice", "dave"))))
