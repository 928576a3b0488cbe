"""Objects made of declared fields: attributes and Facets (specification §10.4, §18, §20.5).

The wrong JSON type is TypeMismatch; every other breach is ConstraintViolation: an undeclared field of a closed
shape, a computed one, a missing required one, a value out of range, a change of what is immutable. Only
adding to the immutable Facet of a record that already exists is ImmutableField.
"""

from collections.abc import Callable, Iterator, Mapping

from kipql.errors import KipError
from kipql.model import parse_id
from kipql.schema.definitions import FieldDefinition, Shape
from kipql.schema.elements import Elements, check_format
from kipql.times import parse_instant
from kipql.values import Json, json_type, value_key


def check_shape(
    shape: Shape,
    new: Mapping[str, Json],
    old: Mapping[str, Json] | None,
    elements: Elements,
    what: str,
    *,
    sealed: bool = False,
) -> None:
    """Check the final state of an object against its shape.

    old      the object before the transaction, None when it is new
    sealed   it belongs to a record that can no longer be completed: an immutable field can not even be added
    """
    if new is old:
        return
    changed = False
    for name, value in new.items():
        field = shape.fields.get(name)
        if old is not None and name in old and same(old[name], value):
            continue
        changed = True
        _check_declared(shape, field, name, what)
        if field is not None:
            check_value(field, value, f"{what}.{name}")
    if old is not None:
        _check_fixed(shape, new, old, what, sealed)
        changed = changed or len(new) != len(old)
    if changed or old is None:
        _check_whole(shape, new, elements, what)


def _check_declared(shape: Shape, field: FieldDefinition | None, name: str, what: str) -> None:
    if field is None:
        if not shape.open:
            raise KipError("ConstraintViolation", f"{what} has no field {name!r}", hint=_fields_hint(shape, name))
    elif field.computed:
        raise KipError("ConstraintViolation", f"{what}.{name} is computed and can not be written")


def _fields_hint(shape: Shape, name: str) -> str:
    from kipql.lang.words import near

    close = near(name, list(shape.fields))
    if close:
        return f"did you mean {close!r}?"
    declared = ", ".join(field.name for field in shape.fields.values() if not field.computed)
    return f"it declares {declared}" if declared else "it declares no fields at all"


def _check_fixed(shape: Shape, new: Mapping[str, Json], old: Mapping[str, Json], what: str, sealed: bool) -> None:
    for name in shape.fixed:
        if name in old:
            if name not in new or not same(old[name], new[name]):
                raise KipError("ConstraintViolation", f"{what}.{name} is immutable")
        elif name in new:
            code = "ImmutableField" if sealed else "ConstraintViolation"
            raise KipError(code, f"{what}.{name} is immutable and was left out when it was created")


def _check_whole(shape: Shape, new: Mapping[str, Json], elements: Elements, what: str) -> None:
    for name in shape.required:
        if name not in new:
            hint = f"give {name} a value; DESCRIBE tells what {what} takes"
            raise KipError("ConstraintViolation", f"{what}.{name} is required", hint=hint)
    if shape.value_schema is not None:
        shape.value_schema.check(new, what)
    for path in shape.references:
        for value in reached(new, path):
            _check_reference(value, elements, f"{what}.{'.'.join(path)}")


def reached(value: Json, path: tuple[str, ...]) -> Iterator[Json]:
    """The values at the end of a path; `*` is every item."""
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    if step == "*" and isinstance(value, list | tuple):
        for item in value:
            yield from reached(item, rest)
    elif isinstance(value, Mapping) and step in value:
        yield from reached(value[step], rest)


def _check_reference(value: Json, elements: Elements, what: str) -> None:
    """A declared nested reference names an element; an optional one may be null (§20.5)."""
    if value is None:
        return
    code = parse_id(value) if isinstance(value, str) else None
    if code is None:
        raise KipError("ConstraintViolation", f"{what} must be the id of an element, not {value!r}")
    if not elements.exists(code):
        raise KipError("NotFoundOrNotVisible", f"{what} names {value}, which is not here")


_IS: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "timestamp": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
}


def check_value(field: FieldDefinition, value: Json, what: str) -> None:
    """One value against one declared field."""
    if field.types and not any(_IS[name](value) for name in field.types):
        raise KipError("TypeMismatch", f"{what} must be {' or '.join(field.types)}, not {json_type(value)}")
    if isinstance(value, str):
        if field.timestamp:
            parse_instant(value, what)
        elif field.format is not None:
            check_format(field.format, value, what)
    elif field.timestamp and value is not None and not field.types:
        raise KipError("TypeMismatch", f"{what} must be a timestamp, not {json_type(value)}")
    if field.enum is not None and not any(same(value, allowed) for allowed in field.enum):
        raise KipError(
            "ConstraintViolation",
            f"{what} can not be {value!r}",
            hint=f"it is one of {', '.join(repr(allowed) for allowed in field.enum)}",
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        if field.minimum is not None and value < field.minimum:
            raise KipError("ConstraintViolation", f"{what} can not be below {field.minimum}: {value}")
        if field.maximum is not None and value > field.maximum:
            raise KipError("ConstraintViolation", f"{what} can not be above {field.maximum}: {value}")
    if field.value_schema is not None:
        field.value_schema.check(value, what)


def same(left: Json, right: Json) -> bool:
    """Whether two JSON values are one: 1 is 1.0, but true is not 1."""
    if left is right:
        return True
    if left.__class__ is right.__class__ and isinstance(left, str | int):
        return bool(left == right)
    return value_key(left) == value_key(right)
