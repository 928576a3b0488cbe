"""Traversals that once lost rows: the order of a page is the order of the next one (specification §44.8)."""

from tests.properties.engine import multiset, rows, tell, unstamped
from tests.properties.memories import FOUNDING
from tests.properties.queries import Query

MERGED = (
    FOUNDING,
    'MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "Robot", key: "r1"} ?t {type: "Robot", key: "r2"} }',
)


def test_merged_subjects_are_paged_in_one_order_from_the_first_run_on() -> None:
    """The first run of a shape may use another engine than the second; both see C-2 and C-3 as one."""
    nexus = tell(MERGED).nexus
    asked = Query(("?t1",), ('?p1 ({type: "Robot", key: "r2"}, ?k1, ?t1)',))
    whole = rows(nexus, asked)
    paged, cursor, pages = [], None, 0
    while cursor is not None or pages == 0:
        text = asked.text(limit=1) + ("" if cursor is None else " CURSOR :cursor")
        result = nexus.query(text, {"cursor": cursor})
        paged += [(row,) for row in result.rows]
        cursor, pages = result.next_cursor, pages + 1
    assert pages == len(whole) == 3
    assert multiset(map(unstamped, paged)) == multiset(whole)


def test_a_later_commit_does_not_turn_a_traversal_around() -> None:
    """Postings of values keep rows that once had the value, so their lengths go on changing after a snapshot."""
    told = tell(MERGED)
    asked = Query(
        ("?c1.key", "?c2.key"),
        ('?c1 {attributes: {color: "red"}}', '?c2 {name: "south"}'),
    )
    whole = rows(told.nexus, asked)
    first = told.nexus.query(asked.text(limit=3))
    for number, name in enumerate(("south", "north"), 100):
        told.tell(number, f'UPDATE ?x SET FIELDS {{name: "{name}"}} WHERE {{ ?x {{}} }}')
    paged, cursor = list(first.rows), first.next_cursor
    while cursor is not None:
        result = told.nexus.query(asked.text(limit=3) + " CURSOR :cursor", {"cursor": cursor})
        paged += result.rows
        cursor = result.next_cursor
    assert multiset(map(tuple, paged)) == multiset(whole)
