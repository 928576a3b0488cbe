"""Every command of the engine suite parses, or is InvalidSyntax exactly where the suite expects that.

Three commands are InvalidSyntax for reasons that need more than the text's form: binding sites, a regular
expression, grouping. Those belong to the static checks of the planner.
"""

import json

import pytest

from kipql import lang
from kipql.errors import KipError

STATIC = {
    "NOT locals are not optional outputs",
    "invalid constant regex is rejected before matching",
    "but a sort key that varies inside a group has no value to sort by",
}

pytestmark = pytest.mark.shared


def commands(shared):
    """(case name, command, expectation) of every fixture; a setup command has no expectation."""
    for path in sorted((shared / "conformance" / "engine-suite").glob("*.json")):
        fixture = json.loads(path.read_text("utf-8"))
        for entry in fixture.get("setup", ()):
            yield f"{path.stem} setup", entry if isinstance(entry, str) else entry["command"], {}
        for case in fixture["cases"]:
            if "command" in case:
                yield case["name"], case["command"], case["expect"]
            for operation in case.get("operations", ()):
                if "command" in operation:
                    yield case["name"], operation["command"], {"withheld": True}


def test_the_suite_parses_as_it_expects(shared):
    seen = parsed = 0
    for name, command, expect in commands(shared):
        seen += 1
        try:
            lang.parse(command)
        except KipError as error:
            assert error.code == "InvalidSyntax", (name, command)
            assert error.span is not None
            assert expect.get("error") == "InvalidSyntax" or expect.get("withheld"), (name, command, str(error))
        else:
            parsed += 1
            assert expect.get("error") != "InvalidSyntax" or name in STATIC, (name, command)
    assert seen > 400
    assert parsed > 0.9 * seen


def test_the_suite_keeps_its_meaning_when_formatted(shared):
    for _, command, _ in commands(shared):
        try:
            tree = lang.parse(command)
        except KipError:
            continue
        canonical = lang.format(command)
        assert lang.parse(canonical) == tree
        assert lang.format(canonical) == canonical
