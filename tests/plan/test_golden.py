"""Golden plans: what the rules make of a query, line by line. A change here should be wanted."""

import pytest

from kipql import lang
from kipql.lang import ast
from kipql.plan import prepare, shape
from kipql.plan.show import shown
from tests.exec.memories import memory

PLANS = {
    # a key starts, the tuple follows, the filter becomes a test of its pattern
    'FIND(?p.name) WHERE { (?r, "has_part", ?p) ?p {type: "Part"} FILTER(?p.name == "Leg") '
    '?r {type: "Robot", key: "r1"} }': """\
concept ?r [type Robot, key = $1]
proposition (?r, has_part, ?p)
concept ?p [type Part, name == $0]
solutions are distinct without merges""",
    # a filter runs as soon as what it reads is bound
    'FIND(?a.id) WHERE { ?a {key: "r1"} ?b {type: "Room"} FILTER(?a.name != "x" && ?b.name != ?a.name) }': """\
concept ?a [key = $0]
filter ?a.name != $1
concept ?b [type Room]
filter ?b.name != ?a.name
solutions are distinct""",
    # what an OPTIONAL may leave unbound keeps its filter in place
    'FIND(?r.id) WHERE { ?r {type: "Robot"} OPTIONAL { (?r, "has_part", ?p) } FILTER(IS_NULL(?p)) '
    '?p {key: "leg"} }': """\
concept ?r [type Robot]
optional
  proposition (?r, has_part, ?p)
filter IS_NULL(?p)
concept ?p [key = $0]
solutions are distinct without merges""",
    # inline matches and nested tuples are operators of their own
    'FIND(?s) WHERE { ?s ((?r, "has_part", {key: "leg"}), "noted", (id: "P-3")) }': """\
proposition ~3 id $1
concept ~2 [key = $0]
proposition ~1 (?r, has_part, ~2)
proposition ?s (~1, noted, ~3)
deduplicate""",
    # IN over keys becomes look-ups, a list in the text or a parameter; of a field that varies it stays a filter
    'FIND(?r.name) WHERE { ?r {type: "Robot"} FILTER(IN(?r.key, ["r1", "r2"]) && IN(?r.name, ["Ada"])) }': """\
concept ?r [type Robot, key in [$0, $1]]
filter IN(?r.name, [$2])
solutions are distinct""",
    'FIND(?r.name) WHERE { (?r, "has_part", ?p) ?r {} FILTER(IN(?r.key, :keys)) }': """\
concept ?r [key in $0]
proposition (?r, has_part, ?p)
solutions are distinct without merges""",
    # IN over ids becomes look-ups for every kind; beside a tuple it binds the Proposition first
    "FIND(?e.payload) WHERE { ?e EVIDENCE {} FILTER(IN(?e.id, :ids)) }": """\
evidence ?e [id in $0]
solutions are distinct""",
    'FIND(?p.id, ?o) WHERE { ?p (?s, "noted", ?o) FILTER(IN(?p.id, ["P-1", "P-2"])) }': """\
proposition ?p [id in [$0, $1]]
proposition ?p (?s, noted, ?o)
solutions are distinct""",
    # what does not stand beside the pattern of a Concept stays a filter
    'FIND(?r.id) WHERE { ?r {type: "Robot"} (?r, "has_part", ?p) '
    'FILTER(IN(?p.key, ["leg"]) || IN(?r.key, :keys)) }': """\
concept ?r [type Robot]
proposition (?r, has_part, ?p)
filter (IN(?p.key, [$0]) || IN(?r.key, $1))
solutions are distinct without merges""",
    # locals of NOT have names of their own; UNION keeps its branch apart
    'FIND(COUNT(?x)) WHERE { ?x {type: "Room"} NOT { (?x, "faces", ?y) } UNION { ?x {key: "r1"} } } '
    "ORDER BY COUNT(?x) DESC": """\
  concept ?x [type Room]
  not
    proposition (?x, faces, ~1)
union
  concept ?x [key = $0]
group
order by column 0 descending
deduplicate""",
    # inside NOT, what points at the element of the solution comes before a posting that every solution would read
    'FIND(?r.id) WHERE { ?r {type: "Robot"} NOT { ?a ACTIVITY {activity_class: "kip:Think"} '
    '?e STRUCTURAL (?a, "inputs", ?r) } }': """\
concept ?r [type Robot]
not
  structural ~2 (~1, core inputs, ?r)
  activity ~1 [activity_class = $0]
solutions are distinct""",
    # and so for every target that an earlier pattern binds; one that the text names may have more referrers than
    # the posting has entries
    'FIND(?r.id) WHERE { ?b ACTIVITY {activity_class: "kip:Dream"} ?f STRUCTURAL (?b, "inputs", "C-1") '
    '?r {key: "r1"} OPTIONAL { ?a ACTIVITY {activity_class: "kip:Think"} ?e STRUCTURAL (?a, "inputs", ?r) } }': """\
concept ?r [key = $2]
activity ?b [activity_class = $0]
structural ?f (?b, core inputs, $1)
optional
  structural ?e (?a, core inputs, ?r)
  activity ?a [activity_class = $3]
solutions are distinct""",
    # naming `state` lifts recall, an id reaches a merged Concept
    'FIND(?x.id) WHERE { ?x {state: "archived"} ?y {id: "C-1"} (?y, "leads_to"{1,3} | "faces", ?x) }': """\
concept ?y or merged [id = $1]
path (?y, leads_to{1,3} | faces{1,1}, ?x)
concept ?x in any state [_system.state = $0]
solutions are distinct""",
    # a count over every Assertion is one over columns
    "FIND(?pr, COUNT(?a)) WHERE { ?p (?s, ?pr, ?o) ?a ASSERTION {proposition: ?p} "
    "FILTER(?a.valid_time.from <= :t) }": """\
assertion ?a [proposition = ?p]
filter ?a.valid_time.from <= $0
proposition ?p (?s, ?pr, ?o)
group, counted in columns
solutions are distinct""",
    # an endpoint that another pattern binds makes it a join like any other
    'FIND(?pr, COUNT(?a)) WHERE { ?s {key: "r1"} ?p (?s, ?pr, ?o) ?a ASSERTION {proposition: ?p} }': """\
concept ?s [key = $0]
proposition ?p (?s, ?pr, ?o)
assertion ?a [proposition = ?p]
group
solutions are distinct""",
    # a link makes every solution distinct
    'FIND(?e.index) WHERE { ?e STRUCTURAL (?r, "evidence", ?x) ?r ASSERTION {proposition: "P-1"} }': """\
assertion ?r [proposition = $0]
structural ?e (?r, core evidence, ?x)
solutions are distinct""",
}


@pytest.mark.parametrize("text", PLANS)
def test_plan(text: str) -> None:
    find = lang.parse(text)
    assert isinstance(find, ast.Find)
    prepare.checked_find(find)
    planned = prepare.planned_find(shape.lift_find(find).node, memory("lab")._session.view().environment)
    assert shown(planned.plan) == PLANS[text]
