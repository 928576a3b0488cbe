"""Results and beliefs as HTML: rows as cells, beliefs as bars, stored text as text."""

from html.parser import HTMLParser

import pytest

import kipql
from kipql.render.html import MOST_ROWS, belief_html, element_html, is_belief, result_html
from tests.repl.conftest import lab

NASTY = "\x1b[2J\u202e<img src=x onerror=alert(1)></td></table><script>alert(2)</script>\"' ::error::x"
LEDGER = 'FIND(?b) WHERE { ?r {key: :key} ?b BELIEF SLOT (?r, :word) } WITH EPISTEMIC {explanation: "ledger"}'


class Read(HTMLParser):
    """The elements of a piece of HTML, its table cells, and whether every one of them ends."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.cells, self.open, self.text = [], [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def nexus():
    with lab() as made:
        yield made


def test_rows_are_a_table(nexus):
    result = nexus.query('FIND(?r.key, ?r.name) WHERE { ?r {type: "Robot"} } ORDER BY ?r.key')
    read = Read(result._repr_html_())
    assert read.cells == ["r.key", "r.name", "arm", "Arm", "drone", "Drone", "rover", "Rover"]
    assert "3 rows, as of 9" in read.text and read.open == []


@pytest.mark.parametrize(
    "text",
    [
        "DESCRIBE PROTOCOL",
        "LIST TYPES LIMIT 2",
        "HISTORY SPACE LIMIT 1",
        'FIND(?result) WHERE { ?result {key: "arm"} }',
    ],
)
def test_every_statement_that_reads_is_drawn(nexus, text):
    read = Read(nexus.query(text)._repr_html_())
    assert read.cells and read.open == []


def test_a_belief_is_its_status_its_bars_and_its_claims(nexus):
    result = nexus.query(LEDGER, {"key": "rover", "word": "stands_in"})
    names = {"C-5": "Rover", "C-8": "the hall", "C-10": "the museum", "C-1": "Ada"}
    read = Read(result_html(result, lambda identity: names[identity]))
    assert read.text.startswith("Rover stands_in accepted the museum") and read.open == []
    assert read.tags.count("rect") == 4, "two claims: what is certain, and what may be"
    assert read.cells[:6] == ["claim", "says", "who", "how", "said at", "verdict"]
    assert read.cells[6:12] == ["A-3", "the hall", "Ada", "stated", "2026-09-07 08:31Z", "expired"]


def test_a_belief_without_a_ledger_has_no_bars(nexus):
    belief = nexus.query('FIND(?b) WHERE { ?r {key: "rover"} ?b BELIEF SLOT (?r, "stands_in") }').scalar()
    assert is_belief(belief) and "svg" not in Read(belief_html(belief)).tags
    nothing = nexus.query(LEDGER, {"key": "drone", "word": "stands_in"}).scalar()
    assert "insufficient" in Read(belief_html(nothing)).text


def test_an_element_is_its_members(nexus):
    element = nexus.query('FIND(?r) WHERE { ?r {key: "arm"} }').scalar()
    read = Read(element_html(element))
    assert read.cells[read.cells.index("key") :][:2] == ["key", "arm"] and not is_belief(element)


def test_stored_text_is_text_in_every_form():
    nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Person" NAME :name SET FIELDS {key: "k"} SET ATTRIBUTES {note: :name} }
          ASSERT (?a, "timezone", :name) { by: ?a, mode: "stated", at: "2026-01-10T00:00:00.000Z" }
        }""",
        {"name": NASTY},
    )
    whole = nexus.query('FIND(?c, ?c.name) WHERE { ?c {key: "k"} }')
    belief = nexus.query(LEDGER, {"key": "k", "word": "timezone"})
    for text in (whole._repr_html_(), element_html(whole.rows[0][0]), result_html(belief, lambda identity: NASTY)):
        read = Read(text)
        assert not {"img", "script"} & set(read.tags) and not any(name.startswith("on") for name in read.attributes)
        assert not {"\x1b", "\u202e"} & set(text) and "alert" in read.text and read.open == []


def test_a_long_answer_says_that_it_is_cut():
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "key": f"p{n}"} for n in range(MOST_ROWS + 5))
    read = Read(nexus.query("FIND(?c.key) WHERE { ?c CONCEPT {} }")._repr_html_())
    assert read.tags.count("td") == MOST_ROWS and f"105 rows, the first {MOST_ROWS} shown" in read.text
