"""A Result as a table of another library, and without that library an error that says how to get it."""

import sys
import tomllib
from pathlib import Path

import pytest

import kipql

FRAMES = {"to_arrow": "pyarrow", "to_pandas": "pandas", "to_polars": "polars"}


@pytest.fixture
def result() -> kipql.Result:
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "key": key, "name": key.upper()} for key in ("a", "b"))
    return nexus.query("FIND(?p.key, ?p.name) WHERE { ?p CONCEPT {} } ORDER BY ?p.key")


@pytest.mark.parametrize(("method", "module"), FRAMES.items())
def test_a_library_that_is_missing_is_named_with_the_extra_that_brings_it(
    result: kipql.Result, method: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(kipql.KipError) as raised:
        getattr(result, method)()
    assert raised.value.code == "UnsupportedCapability" and raised.value.hint is not None
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extra,) = [name for name in project["optional-dependencies"] if f'"kipql[{name}]"' in raised.value.hint]
    assert any(each.startswith(module) for each in project["optional-dependencies"][extra])


@pytest.mark.parametrize(("method", "module"), FRAMES.items())
def test_a_table_has_the_columns_and_rows_of_the_result(result: kipql.Result, method: str, module: str) -> None:
    pytest.importorskip(module)
    table = getattr(result, method)()
    read = {"to_arrow": "to_pydict", "to_pandas": "to_dict", "to_polars": "to_dict"}[method]
    options = {"to_arrow": {}, "to_pandas": {"orient": "list"}, "to_polars": {"as_series": False}}[method]
    assert getattr(table, read)(**options) == {"p.key": ["a", "b"], "p.name": ["A", "B"]}
