"""The shape that kipql asks for is the published one: both accept and refuse the same (§37.7, kip-capsule)."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from kipql.capsules.shape import shape_problems
from tests.capsules.material import told
from tests.properties.engine import EXAMPLES
from tests.properties.engine import tell as tell_story
from tests.properties.memories import memories
from tests.shared import shared_path

SCHEMAS = ("capsule", "element", "common", "projection", "change-envelope", "cognitive-records")
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(shared_path("kip/schemas") is None, reason="shared: absent"),
]


def validator() -> Draft202012Validator:
    folder = shared_path("kip/schemas")
    assert folder is not None
    found = [json.loads((folder / f"kip-{name}.schema.json").read_text(encoding="utf-8")) for name in SCHEMAS]
    registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in found)
    return Draft202012Validator(found[0], registry=registry)


def test_the_published_example_is_one() -> None:
    path = shared_path("conformance/fixtures/capsules/valid-snapshot.json")
    assert path is not None
    assert shape_problems(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("closure", ["closed", "referential", "selective"])
@pytest.mark.parametrize("payloads", ["inline", "omitted"])
def test_every_export_of_the_story_fits(closure: str, payloads: str) -> None:
    nexus, made = told()
    nexus.execute("MERGE CONCEPT :bo INTO :ada", made)
    nexus.execute('TRANSITION :a TO "retracted"', {"a": made["count"]})
    nexus.execute('TRANSITION :x TO "archived"', {"x": made["work"]})
    nexus.execute('PURGE PAYLOAD :x CONFIRM "PURGE"', {"x": made["said"]})
    nexus.execute('ENSURE PROPOSITION (:ada, "is", {canonical_id: "did:elsewhere"})', {"ada": made["ada"]})
    options: dict[str, Any] = {"closure": closure, "payloads": payloads, "include_schema": True}
    for roots in (None, [made["claim"]], [made["guess"], made["reading"]]):
        capsule = nexus.export_capsule(roots, **options)
        assert list(validator().iter_errors(capsule)) == []
        assert nexus.query("VALIDATE CAPSULE :c", {"c": capsule}).one()["errors"] == []


@settings(max_examples=EXAMPLES, deadline=None)
@given(story=memories, closure=st.sampled_from(["closed", "referential", "selective"]))
def test_every_export_of_a_random_memory_fits(story: list[str], closure: str) -> None:
    nexus = tell_story(story).nexus
    capsule = nexus.export_capsule(closure=closure)
    assert list(validator().iter_errors(capsule)) == []
    assert nexus.query("VALIDATE CAPSULE :c", {"c": capsule}).one()["errors"] == []


_JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [{}],
    {"id": "C-1"},
    {"id": ""},
    "2026-05-01T12:00:00.000Z",
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from _places(member, (*path, key))


CAPSULE = told()[0].export_capsule()
PLACES = [path for path in _places(CAPSULE) if path]
CHECK = validator() if shared_path("kip/schemas") is not None else None


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_a_changed_capsule_is_refused_by_both_or_by_none(data: st.DataObject) -> None:
    """Replace, remove or add one member anywhere. Only stricter: dates must be real, intervals not empty (§6.5)."""
    assert CHECK is not None
    changed = copy.deepcopy(CAPSULE)
    path = data.draw(st.sampled_from(PLACES))
    holder: Any = changed
    for step in path[:-1]:
        holder = holder[step]
    match data.draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            holder[path[-1]] = data.draw(st.sampled_from(_JUNK))
        case "remove":
            del holder[path[-1]]
        case _:
            if isinstance(holder, dict):
                names = ["surprise", "name", "key", "subject", "merged_into", "roots", "id", "structural"]
                holder[data.draw(st.sampled_from(names))] = data.draw(st.sampled_from(_JUNK))
    assert bool(shape_problems(changed)) == (next(CHECK.iter_errors(changed), None) is not None)
