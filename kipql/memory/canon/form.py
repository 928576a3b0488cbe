"""What a project asks of its articles: a JSON Schema over their members, opt-in (`Canon(schema=...)`).

The members are `address`, `capsule`, `body`, `updated`, `scope` and the foreign ones of the front matter; a blank one
is not there. Only `required` refuses, and only an article that is created without the member: what is blank in a
rewrite is left as it was, so nothing that stood before is held against the writer. Every other rule is advice. A schema
that is none checks nothing and says so.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kipql

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A schema, or why there is none to check with."""

    schema: Schema | None = None
    broken: str | None = None

    def faults(self, members: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """What is missing and what else does not fit, in sentences."""
        if self.broken is not None:
            return [], [f"The schema of this canon was not applied: {self.broken}"]
        if self.schema is None:
            return [], []
        missing: list[str] = []
        others: list[str] = []
        for keyword, sentence in _errors(self.schema, {name: value for name, value in members.items() if value != ""}):
            (missing if keyword == "required" else others).append(sentence)
        return missing, others


def form_of(given: "Schema | str | Path | None") -> Form:
    """A Form from a schema or its file. A file that can not be read is a broken one; other types are TypeMismatch."""
    if given is None:
        return Form()
    if isinstance(given, Mapping):
        return _checked(given)
    if not isinstance(given, str | Path):
        raise kipql.KipError("TypeMismatch", f"a schema is an object or its file, not {type(given).__name__}")
    try:
        schema = json.loads(Path(given).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return Form(broken=f"{given}: {getattr(error, 'strerror', None) or error}")
    return _checked(schema) if isinstance(schema, dict) else Form(broken=f"{given} holds no object")


def _checked(schema: Schema) -> Form:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        return Form(broken=error.message[:200])
    return Form(schema)


def _errors(schema: Schema, members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from jsonschema import Draft202012Validator

    try:
        found = sorted(Draft202012Validator(dict(schema)).iter_errors(dict(members)), key=lambda one: one.message)
    except Exception as error:  # such as a reference that leads nowhere: the schema is broken, the article is not
        yield "schema", f"The schema of this canon was not applied: {error}"[:300]
        return
    for one in found:
        where = ".".join(map(str, one.absolute_path))
        yield str(one.validator), f"The schema says{f' of {where}' if where else ''}: {one.message[:200]}"
