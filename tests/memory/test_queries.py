"""The shipped queries: documented, in today's language, and all of them used."""

import re
from pathlib import Path

import pytest

import kipql
import kipql.memory
from kipql.memory.queries import names, query

PACKAGE = Path(kipql.memory.__file__).parent


@pytest.mark.parametrize("name", names())
def test_a_query_is_documented_and_canonical_language(name):
    text = query(name)
    assert text.startswith("// ")
    assert kipql.classify(text) == ("KML" if name in ("pin", "unpin", "leave_window") else "KQL")


def test_every_query_is_used():
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    used = set(re.findall(r'(?:rows|found|ask|_rows)\(\s*\w+,\s*"(\w+)"', source)) | set(
        re.findall(r'query\("(\w+)"\)', source)
    )
    assert set(names()) <= used


def test_the_layer_imports_the_public_surface_alone():
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    outside = set(re.findall(r"^\s*from (kipql\.[\w.]+) import", source, re.MULTILINE))
    assert not [name for name in outside if not name.startswith("kipql.memory")]


def test_every_public_name_is_there_and_explained():
    for name in kipql.memory.__all__:
        assert getattr(kipql.memory, name).__doc__, name
