"""`kipql export html`: what the page says is what the memory says, at every state and time; hostile text stays text."""

import json
import re
from html.parser import HTMLParser

import pytest

import kipql
from kipql.cli.main import main
from kipql.fronts.html.bounds import Bounds
from kipql.fronts.html.export import collected, export_html
from kipql.fronts.html.layout import positions
from kipql.times import format_instant, parse_instant
from tests.fronts.browser import CHROMIUM, Browser
from tests.fronts.conftest import NASTY
from tests.repl.conftest import lab

NOW = parse_instant("2026-12-01T00:00:00.000Z")


@pytest.fixture(scope="module")
def nexus():
    with lab() as made:
        yield made


@pytest.fixture(scope="module")
def data(nexus):
    return collected(nexus, Bounds(), NOW)


def held(runs, state):
    return next((value for begin, value in reversed(runs) if begin <= state), None)


def cell_at(view, time):
    return next(cell for cell in reversed(view["cells"]) if cell[0] is None or cell[0] <= time)


def test_every_belief_of_the_page_is_the_one_of_the_engine(nexus, data):
    """Every slot, at every state, just before, at and after each instant that anything says."""
    bounds = {NOW, 0}
    for slot in data["slots"]:
        for _, view in slot["runs"]:
            bounds |= {cell[0] for cell in view["cells"] if cell[0] is not None} if view else set()
    times = sorted({time + off for time in bounds for off in (-1, 0, 1)})
    asked = nexus.prepare(
        "FIND(?b.status, ?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, :p) } AS OF SEQ :seq FOR TIME :time"
    )
    names = {
        each["id"]: held(each["runs"], len(data["states"]) - 1) for each in data["vertices"] if each["literal"] is None
    }
    checked = 0
    for slot in data["slots"]:
        for state, (seq, _) in enumerate(data["states"]):
            view = held(slot["runs"], state)
            for time in times:
                given = {"s": {"id": slot["subject"]}, "p": slot["predicate"], "seq": seq, "time": format_instant(time)}
                status, accepted = asked.query(given).one()
                if view is None:
                    assert (status, accepted) == ("insufficient", [])
                    continue
                cell = cell_at(view, time)
                told = [names[each["id"]][2] if isinstance(each, dict) else str(each) for each in accepted]
                assert (cell[1], cell[2]) == (status, told), (slot["predicate"], seq, given["time"])
                checked += 1
    assert checked > 500


def test_the_graph_of_a_state_is_what_the_memory_held(nexus, data):
    for state, (seq, _) in enumerate(data["states"]):
        there = {each["id"]: held(each["runs"], state)[2] for each in data["vertices"] if held(each["runs"], state)}
        said = {each["id"] for each in data["edges"] if held(each["runs"], state)}
        assert there == dict(nexus.query("FIND(?c.id, ?c.name) WHERE { ?c CONCEPT {} } AS OF SEQ :n", {"n": seq}).rows)
        assert said == set(nexus.query("FIND(?p.id) WHERE { ?p (?s, ?q, ?o) } AS OF SEQ :n", {"n": seq}).rows)
    assert [seq for seq, _ in data["states"]] == list(range(10)) and data["cut"] == []


def test_what_is_left_out_is_said(nexus):
    small = collected(nexus, Bounds(concepts=3, propositions=2, slots=1, states=2), NOW)
    assert [seq for seq, _ in small["states"]] == [8, 9]
    concepts = [each["id"] for each in small["vertices"] if each["literal"] is None]
    assert len(concepts) == 3 and concepts[0] == "C-5", "those first of which most is said"
    assert len(small["edges"]) <= 2 and len(small["slots"]) <= 1
    assert small["cut"][:2] == ["the last 2 of 9 states", "3 of 11 Concepts"]
    assert any("Propositions" in each for each in small["cut"])


def test_a_large_memory_has_fewer_states():
    assert Bounds().reached(elements=100, slots=10) == 200
    assert Bounds().reached(elements=1_000_000, slots=10) == 10
    assert Bounds().reached(elements=100, slots=100) == Bounds().beliefs // 200
    assert Bounds(states=7).reached(1_000_000, 10) == 7


def test_a_principal_sees_its_own_memory(tmp_path):
    with lab() as nexus:
        nexus.govern.labels("public", "secret")
        nexus.govern.classify("C-5", "secret")
        nexus.govern.grant("reader", "discover", "read", "project", up_to="public")
        seen = json.dumps(collected(nexus.as_principal("reader"), Bounds(), NOW))
        assert "Ben Okafor" in seen and "Rover" not in seen and '"C-5"' not in seen


def test_an_empty_memory_is_a_page():
    text = export_html(kipql.open(), now=NOW)
    assert '"states":[[0,null]]' in text


def test_the_same_memory_looks_the_same():
    vertices = [f"v{n}" for n in range(12)]
    edges = [("v0", "v1"), ("v1", "v2"), ("v5", "v6"), ("v2", "v0")]
    first = positions(vertices, edges)
    assert first == positions(vertices, edges) and set(first) == set(vertices)
    assert len(set(first.values())) == 12 and min(min(place) for place in first.values()) >= 0


class Page(HTMLParser):
    """The elements of a page, and the texts in them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def hostile():
    nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
    for name in (NASTY, "'><svg onload=alert(2)>", "{{script}}", "</title><script>alert(3)</script>"):
        nexus.execute(
            """MUTATE {
              CREATE CONCEPT ?a { TYPE "Person" NAME :name SET FIELDS {key: :name} }
              CREATE CONCEPT ?b { TYPE "Organization" NAME :name SET ATTRIBUTES {note: :name} }
              ASSERT (?a, "works_for", ?b) { by: ?a, mode: "stated", at: "2026-01-10T00:00:00.000Z" }
              ASSERT (?a, "timezone", :name) { by: ?a, mode: "stated", at: "2026-01-10T00:00:00.000Z" }
            }""",
            {"name": name},
        )
    return export_html(nexus, title=NASTY, now=NOW)


def test_hostile_text_makes_no_element_and_hides_nothing():
    text = hostile()
    page = Page(text)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2 and not {"img", "iframe", "object", "base", "form"} & set(tags)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert not {"\x1b", "\u202e", "\u2028", "\u200b"} & set(text)
    inside = re.search(r'<script type="application/json" id="memory">(.*?)</script>', text, re.DOTALL)[1]
    assert not set("<>&") & set(inside)
    names = [run[1][2] for each in json.loads(inside)["vertices"] for run in each["runs"]]
    assert (
        "{{script}}" in names
        and "\\x1b[2J\\u202egnp\\u2028<img src=x onerror=alert(1)></script><!-- ::error::x\\u200b" in names
    )


def test_the_page_needs_and_reaches_nothing_else():
    page = Page(export_html(kipql.open(), now=NOW))
    assert not any({"src", "href", "action"} & set(attributes) for _, attributes in page.elements)
    policy = next(attributes["content"] for _, attributes in page.elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless browser; the tests that need one are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium: absent")
    with Browser(tmp_path_factory.mktemp("profile")) as made:
        yield made
        assert made.complaints == []


@pytest.fixture(scope="module")
def page(nexus, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(export_html(nexus, now=NOW), "utf-8")
    return path


SLOTS = """[...document.querySelectorAll("[data-slot]")].map((each) =>
    [each.dataset.slot, each.querySelector(".chip").textContent, each.querySelector(".chip + span").textContent])"""
DRAWN = """[...document.querySelectorAll(".vertex")].filter((each) => each.getAttribute("display") !== "none")
    .map((each) => each.querySelector("text").textContent)"""


def slots(browser):
    """What stands under each slot: status and accepted value."""
    return {name: (status, value) for name, status, value in browser.value(SLOTS)}


def axes(browser):
    return [browser.value(f"document.getElementById('{name}-said').textContent") for name in ("asof", "fortime")]


@pytest.mark.parametrize(
    ("place", "said", "where"),
    [
        ("", ["commit 9 of 9", "2026-12-01, when this was exported"], ("accepted", "the museum")),
        ("#seq=9&time=2026-09-20T00:00:00.000Z", ["commit 9 of 9", "2026-09-20"], ("accepted", "the hall")),
        ("#seq=5&time=2026-11-20T00:00:00.000Z", ["commit 5 of 9", "2026-11-20"], ("accepted", "the hall")),
        ("#seq=2&time=2026-09-01T00:00:00.000Z", ["commit 2 of 9", "2026-09-01"], ("uncertain", "")),
        ("#seq=1", ["commit 1 of 9", "2026-12-01, when this was exported"], None),
        (
            "#seq=77&time=soon&select=nobody",
            ["commit 9 of 9", "2026-12-01, when this was exported"],
            ("accepted", "the museum"),
        ),
    ],
)
def test_an_address_opens_a_state_and_a_time(browser, page, place, said, where):
    browser.show(page, place)
    held, true = axes(browser)
    assert held.startswith(said[0]) and true == said[1]
    assert slots(browser).get("C-5 stands_in") == where


def test_both_axes_are_moved_by_keys_and_buttons(browser, page):
    browser.show(page)
    browser.value("document.getElementById('asof').focus()")
    browser.press("Home", 36)
    assert axes(browser)[0] == "commit 0 of 9" and browser.value(DRAWN) == [] and slots(browser) == {}
    browser.press("ArrowRight", 39)
    assert "Rover" in browser.value(DRAWN) and slots(browser) == {}
    browser.press("End", 35)
    assert slots(browser)["C-5 stands_in"] == ("accepted", "the museum")
    while axes(browser)[1] > "2026-10-01 10:00Z":  # from then on Rover is in the museum; later changes are of others
        browser.click("#fortime-back")
    assert axes(browser)[1] == "2026-10-01 10:00Z"
    assert slots(browser)["C-5 stands_in"] == ("accepted", "the museum")
    browser.click("#fortime-back")
    assert slots(browser)["C-5 stands_in"] == ("accepted", "the hall")
    browser.click("#asof-back")
    assert axes(browser)[0].startswith("commit 8 of 9") and "seq=8" in browser.value("location.hash")


CLAIM = """ASSERT ({{type: "Robot", key: "{robot}"}}, "{predicate}", {{type: "{kind}", key: "{key}"}})
{{by: {{type: "Person", key: "ada"}}, mode: "stated"}}"""
# Pairs of a label of an edge and the name of a vertex, both drawn, that lie on each other.
OVERLAPS = """(() => {
  const drawn = (words) => [...document.querySelectorAll(words)]
    .filter((node) => node.closest("g[display=none]") === null && node.textContent)
    .map((node) => [node.textContent, node.getBoundingClientRect()]);
  const names = drawn("#picture .vertex text");
  return drawn("#picture .says").flatMap(([says, a]) => names.filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    .map(([name]) => `${says} on ${name}`));
})()"""


def test_no_label_of_an_edge_lies_on_a_name(browser, tmp_path):
    written = tmp_path / "dense.html"
    with lab() as nexus:
        for robot in ("rover", "arm", "drone"):
            for predicate, kind, keys in (
                ("stands_in", "Room", "hall shop museum"),
                ("kept_by", "Person", "ada ben chi"),
            ):
                for key in keys.split():
                    nexus.execute(CLAIM.format(robot=robot, predicate=predicate, kind=kind, key=key))
        written.write_text(export_html(nexus, now=NOW), "utf-8")
    browser.show(written)
    assert browser.value("document.querySelectorAll('#picture .says').length") == 24
    assert browser.value(OVERLAPS) == []


def test_a_concept_is_chosen_and_let_go(browser, page):
    browser.show(page)
    everything = slots(browser)
    arm = browser.value(DRAWN).index("Arm")
    browser.value(f"document.querySelectorAll('.vertex')[{arm}].id = 'arm'")
    browser.click("#arm")
    assert browser.value("document.querySelector('#card h2').textContent") == "Arm"
    assert {name.split()[0] for name in slots(browser)} == {"C-6"}
    browser.value("document.getElementById('arm').focus()")
    browser.press("Enter", 13)
    assert slots(browser) == everything


def test_slots_are_found_by_a_word(browser, page):
    browser.show(page)
    browser.click("#find")
    browser.write("MUSEUM")
    assert list(slots(browser)) == ["C-5 stands_in"]
    assert browser.value("document.getElementById('found').textContent") == "1 slot"


def test_hostile_text_is_text_in_a_browser(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(hostile(), "utf-8")
    browser.show(path)
    assert browser.value("document.querySelectorAll('img, iframe, svg svg, body script').length") == 2  # its own two
    assert "alert(1)" in browser.value("document.querySelector('h1').textContent")
    assert any("onload" in name for name in browser.value(DRAWN))
    browser.value("document.querySelectorAll('.vertex').forEach((each) => each.dispatchEvent(new Event('click')))")


def test_the_policy_of_the_page_stops_what_is_not_its_own(browser, page, tmp_path):
    path = tmp_path / "page.html"
    added = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\"></body>"
    path.write_text(page.read_text("utf-8").replace("</body>", added), "utf-8")
    browser.show(path)
    assert browser.value("document.title") == "A memory"
    assert browser.complaints and all("Content Security Policy" in each for each in browser.complaints)
    browser.complaints.clear()


def test_the_command_writes_a_page_and_overwrites_none(folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["export", "html", str(page), "--db", str(folder)]) == 0
    assert capsys.readouterr().out == f"{page}: {page.stat().st_size} bytes\n"
    text = page.read_text("utf-8")
    assert "<title>brain.kip</title>" in text and "Fay" in text
    assert main(["export", "html", str(page), "--db", str(folder), "--title", "x"]) == 2
    assert "--force" in capsys.readouterr().err and page.read_text("utf-8") == text
    assert main(["export", "html", str(page), "--db", str(folder), "--title", "<b>", "--states", "2", "--force"]) == 0
    assert "<title>&lt;b&gt;</title>" in page.read_text("utf-8")
    assert main(["export", "html", str(tmp_path / "no" / "page"), "--db", str(folder)]) == 2
    assert main(["export", "html", str(tmp_path / "p"), "--db", str(tmp_path / "none")]) == 2
