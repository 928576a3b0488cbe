"""A fresh Space, and one with a few elements that statements can be about."""

import pytest

from tests.mutate.kml_space import Space


@pytest.fixture
def space() -> Space:
    """An empty Space with the cognitive-memory package and a package of plain things."""
    return Space()


def furnished() -> Space:
    """C-1 Ada (key ada), C-2 Bob, C-3 a Thing `lamp`, C-4 a Box; P-1 Ada near lamp; E-1; A-1 Ada says P-1; X-1 runs."""
    lab = Space()
    lab.write(
        """MUTATE {
          CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }
          CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"} }
          CREATE CONCEPT ?lamp { TYPE "Thing" NAME "Lamp" SET FIELDS {key: "lamp"} SET ATTRIBUTES {count: 3} }
          CREATE CONCEPT ?box { TYPE "Box" SET ATTRIBUTES {size: 2} }
          ENSURE PROPOSITION ?p (?ada, "near", ?lamp)
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "I sit by the lamp"} }
          CREATE ASSERTION ?a {
            SET FIELDS {proposition: ?p, asserted_by: ?ada, stance: "support", mode: "stated", confidence: 0.5}
            SET STRUCTURAL { ("evidence", ?e) {role: "support"} }
          }
          CREATE ACTIVITY ?x { SET FIELDS {activity_class: "extraction", status: "running"} }
        }"""
    )
    return lab


@pytest.fixture
def lab() -> Space:
    """A furnished Space."""
    return furnished()


@pytest.fixture
def twin() -> Space:
    """Another one, with the same state."""
    return furnished()
