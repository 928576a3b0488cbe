"""LIST DEPENDENTS (§63.5): provenance walked from inputs to outputs."""

import pytest

import kipql

CHAIN = """
MUTATE {
  CREATE CONCEPT ?a { TYPE "Insight" SET ATTRIBUTES { summary: "a" } }
  CREATE CONCEPT ?b { TYPE "Insight" SET ATTRIBUTES { summary: "b" } }
  CREATE CONCEPT ?c { TYPE "Insight" SET ATTRIBUTES { summary: "c" } }
  CREATE ACTIVITY ?one { SET FIELDS { activity_class: "inference", status: "completed" }
    SET STRUCTURAL { ("inputs", ?a) ("outputs", ?b) } }
  CREATE ACTIVITY ?two { SET FIELDS { activity_class: "inference", status: "completed" }
    SET STRUCTURAL { ("inputs", ?b) ("outputs", ?c) ("outputs", ?a) } }
}
"""


@pytest.fixture
def chain() -> kipql.Nexus:
    nexus = kipql.open()
    nexus.execute(CHAIN)
    return nexus


def found(nexus: kipql.Nexus, text: str) -> list[tuple[str, int, str]]:
    return [(row["id"], row["distance"], row["via"]["activity"]) for row in nexus.query(text).rows]


def test_the_nearest_come_first_and_a_circle_ends(chain: kipql.Nexus) -> None:
    assert found(chain, 'LIST DEPENDENTS "C-1"') == [("C-2", 1, "X-1")]
    assert found(chain, 'LIST DEPENDENTS "C-1" DEPTH 9') == [("C-2", 1, "X-1"), ("C-3", 2, "X-2")]
    assert found(chain, 'LIST DEPENDENTS "C-3" DEPTH 9') == []


def test_an_unknown_root_has_none(chain: kipql.Nexus) -> None:
    assert found(chain, 'LIST DEPENDENTS "C-99"') == found(chain, 'LIST DEPENDENTS "nonsense"') == []


def test_pages_add_up_to_the_whole(chain: kipql.Nexus) -> None:
    first = chain.query('LIST DEPENDENTS "C-1" DEPTH 2 LIMIT 1')
    second = chain.query('LIST DEPENDENTS "C-1" DEPTH 2 LIMIT 1 CURSOR :next', {"next": first.next_cursor})
    assert [row["id"] for row in [*first.rows, *second.rows]] == ["C-2", "C-3"]
    assert first.truncated and not second.truncated
    assert first.context["coverage_scope"] == "authorized_view"


def test_a_later_page_names_the_snapshot_that_it_still_reads() -> None:
    nexus = kipql.open()
    nexus.execute("""MUTATE {
      CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "x"} }
      CREATE EVIDENCE ?a { SET FIELDS {evidence_class: "derived_result", payload: "a"} }
      CREATE EVIDENCE ?b { SET FIELDS {evidence_class: "derived_result", payload: "b"} }
      CREATE ACTIVITY ?x { SET FIELDS {activity_class: "extraction", status: "completed"}
        SET STRUCTURAL { ("inputs", ?e) ("outputs", ?a) ("outputs", ?b) } }
    }""")
    page = nexus.query('LIST DEPENDENTS "E-1" LIMIT 1')
    nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Later" }')
    rest = nexus.query('LIST DEPENDENTS "E-1" LIMIT 1 CURSOR :c', {"c": page.next_cursor})
    assert [row["id"] for row in (*page.rows, *rest.rows)] == ["E-2", "E-3"]
    assert (rest.context["snapshot_seq"], rest.context["coverage_scope"]) == (1, "authorized_view")
