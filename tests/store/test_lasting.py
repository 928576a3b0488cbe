"""A column of a Concept's field holds what was so since the Concept was made, nothing else (`kipql.store.lasting`)."""

from typing import Any

import pytest

import kipql
from kipql.store.fields import getter
from kipql.store.lasting import LOOK, MOST, Column
from tests.belief.world import PEOPLE

CONCEPT = 0


@pytest.fixture
def nexus() -> kipql.Nexus:
    made = kipql.open(packages=[PEOPLE])
    made.execute('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"}}')
    made.execute('CREATE CONCEPT ?b {TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"}}')
    return made


def column(nexus: kipql.Nexus, field: str) -> tuple[Any, Column]:
    view = nexus._session.view()
    return view, view.graph.lasting.column(view.graph, (field,), getter(CONCEPT, (field,)), view.bounds[CONCEPT])


def test_what_was_read_is_remembered_and_what_was_not_is_to_be_looked_up(nexus: kipql.Nexus) -> None:
    view, names = column(nexus, "name")
    assert names.values == [LOOK, LOOK]
    assert names.read(view, 1) == "Bob"
    assert names.values == [LOOK, "Bob"]
    nexus.execute('CREATE CONCEPT ?c {TYPE "Person" NAME "Cid"}')
    assert column(nexus, "name")[1] is names and names.values == [LOOK, "Bob", LOOK]


@pytest.mark.parametrize(("field", "kept"), [("name", LOOK), ("key", "ann")])
def test_a_name_that_changed_is_read_from_its_states_and_a_key_never_changes(
    nexus: kipql.Nexus, field: str, kept: object
) -> None:
    view, values = column(nexus, field)
    first = values.read(view, 0)
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "Anna"}')
    after, _ = column(nexus, field)
    assert values.values[0] is (LOOK if field == "name" else first)
    assert values.read(after, 0) == ("Anna" if field == "name" else "ann")
    assert values.read(view, 0) == first
    assert values.values[0] is LOOK if kept is LOOK else values.values[0] == kept


def test_a_change_that_is_rolled_back_leaves_nothing_behind(nexus: kipql.Nexus) -> None:
    view, names = column(nexus, "name")
    with pytest.raises(ZeroDivisionError), nexus.transaction() as tx:
        tx.execute('UPDATE "C-1" SET FIELDS {name: "Anna"}')
        tx.execute('CREATE CONCEPT ?c {TYPE "Person" NAME "Cid"}')
        assert names.read(view, 0) == "Ann" and names.values == [LOOK, LOOK]
        raise ZeroDivisionError
    assert names.read(view, 0) == "Ann" and names.values == ["Ann", LOOK]


@pytest.mark.parametrize("field", ["name", "key"])
def test_what_is_erased_is_forgotten(nexus: kipql.Nexus, field: str) -> None:
    view, values = column(nexus, field)
    assert values.read(view, 0) in ("Ann", "ann")
    nexus.execute('PURGE "C-1" CONFIRM "PURGE"')
    assert values.values[0] is LOOK
    assert values.read(column(nexus, field)[0], 0) == getter(CONCEPT, (field,))(view, 0)
    assert values.values[0] not in ("Ann", "ann")


def test_there_are_so_many_columns_and_the_next_one_remembers_nothing(nexus: kipql.Nexus) -> None:
    view, _ = column(nexus, "name")
    for number in range(MOST):
        path = ("attributes", f"a{number}")
        view.graph.lasting.column(view.graph, path, getter(CONCEPT, path), 2)
    _, keys = column(nexus, "key")
    assert keys.read(view, 0) == "ann" and keys.values == [LOOK, LOOK]
