"""The one door to msgpack: what goes out, and what may come in.

Reading trusts nothing: sizes are bounded by the data, keys are strings, extension types and binary strings are
refused. Whatever is wrong raises `Invalid`, which the journal turns into MemoryDamaged with the frame's offset.
"""

from typing import Any

from kipql.errors import KipError
from kipql.values import Json


class Invalid(Exception):
    """What was read is not what kipql writes."""


def pack(value: Json) -> bytes:
    """The msgpack of a JSON-like value. Raises ConstraintViolation for what can not be written."""
    import msgpack  # type: ignore[import-untyped]

    try:
        packed: bytes = msgpack.packb(value, use_bin_type=True)
    except (TypeError, ValueError, OverflowError, UnicodeEncodeError, RecursionError) as error:
        raise KipError("ConstraintViolation", f"a value can not be stored: {error}") from error
    return packed


def unpack(data: bytes | memoryview) -> Json:
    """The value of a frame's msgpack. Raises Invalid."""
    import msgpack

    size = len(data)
    try:
        return msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=True,
            ext_hook=_no_extension,
            max_str_len=size,
            max_bin_len=0,
            max_array_len=size,
            max_map_len=size,
            max_ext_len=0,
        )
    except Exception as error:  # msgpack raises half a dozen unrelated classes
        raise Invalid(f"not the msgpack that kipql writes: {error}") from error


def _no_extension(code: int, data: bytes) -> Any:
    raise Invalid(f"extension type {code}")
