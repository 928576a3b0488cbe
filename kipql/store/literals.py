"""The Literals that Propositions of one Space hold, each once (specification §9.6).

A Literal's code is -(index + 1). Identity is that of the canonical form: true and 1 differ, 1 and 1.0 do not.
Those of a snapshot are msgpack in a sorted table, decoded on first touch.
"""

from array import array
from typing import Any

from kipql.store.codec import Invalid, pack, unpack
from kipql.store.frozen import THAWING, UNREAD, Blobs, Damaged, Texts
from kipql.values import CanonicalReference, Scalar, canonical_literal

_NAMED: dict[object, str] = {None: "null", True: "true", False: "false"}


class Literals:
    """An interning table; the writer appends and, on rollback, truncates it."""

    __slots__ = ("_damaged", "_erased", "_frozen", "_named", "_numbers", "_strings", "_values")

    def __init__(self) -> None:
        self._values: list[Scalar] = []
        self._strings: dict[str, int] = {}
        self._numbers: dict[int | float, int] = {}
        self._named: dict[str, int] = {}
        self._erased: set[int] = set()
        self._frozen: Texts | None = None
        self._damaged: Damaged

    def __len__(self) -> int:
        return len(self._values)

    def value(self, code: int) -> Scalar:
        """The Literal of a negative code."""
        value = self._values[-1 - code]
        return value if value is not UNREAD else self._thaw(-1 - code)

    def find(self, value: Scalar) -> int | None:
        """The code of a canonical Literal, None when no Proposition ever held it."""
        if value.__class__ is str:
            known = self._strings.get(value)
        elif value is None or isinstance(value, bool):
            known = self._named.get(_NAMED[value])
        else:
            known = self._numbers.get(value)  # type: ignore[arg-type]
        return known if known is not None or self._frozen is None else self._search(value)

    def intern(self, value: Scalar) -> int:
        """The code of a Literal, made if new. Raises as `canonical_literal` does."""
        value = canonical_literal(value)
        known = self.find(value)
        if known is not None:
            return known
        code = -1 - len(self._values)
        self._values.append(value)
        self._remember(value, code)
        return code

    def truncate(self, length: int) -> None:
        """Forget everything interned after the table held `length` Literals."""
        while len(self._values) > length:
            code = -len(self._values)
            value = self._values.pop()
            if code in self._erased:
                self._erased.discard(code)
            else:
                self._forget(value)

    def erase(self, code: int) -> None:
        """Destroy the bytes of one Literal (§60.3); its code stays taken."""
        if code not in self._erased:
            value, position = self.value(code), -1 - code
            with THAWING:
                self._forget(value)
                self._values[position] = None
                self._erased.add(code)
                if self._frozen is not None and position < self._frozen.size:
                    self._frozen.erase(position)

    def blank(self) -> int:
        """The code of a Literal without bytes, for a Proposition that was purged; it is found by no value."""
        self._values.append(None)
        self._erased.add(-len(self._values))
        return -len(self._values)

    def is_erased(self, code: int) -> bool:
        """Whether a Literal's bytes are gone; its value then reads as null."""
        return code in self._erased

    def still(self) -> "Literals":
        """The table as it is, whatever is interned from now on; for `freeze`."""
        found = Literals()
        found._values, found._erased, found._frozen = self._values[:], set(self._erased), self._frozen
        return found

    def freeze(self) -> "tuple[list[bytes], array[int]]":
        """Each Literal as bytes, empty where they were erased, and the positions of these; for a snapshot."""
        frozen, packed = self._frozen, list[bytes]()
        for position, value in enumerate(self._values):
            if -1 - position in self._erased:
                packed.append(b"")
            elif value is UNREAD and frozen is not None:
                packed.append(bytes(frozen.at(position)))
            else:
                packed.append(_packed(value))
        return packed, array("i", sorted(-1 - code for code in self._erased))

    def thaw(self, blobs: Blobs, order: "array[int]", erased: "array[int]", damaged: Damaged) -> None:
        """Take up the table of a snapshot; `damaged` raises for a Literal that is none."""
        self._damaged = damaged
        self._values = [UNREAD] * len(blobs)
        self._frozen = Texts(blobs, order)
        for position in erased:
            self._values[position] = None
            self._erased.add(-1 - position)

    def _search(self, value: Scalar) -> int | None:
        assert self._frozen is not None
        with THAWING:
            position = self._frozen.search(_packed(value))
            if position < 0:
                return None
            self._remember(value, -1 - position)
            return -1 - position

    def _thaw(self, position: int) -> Scalar:
        assert self._frozen is not None
        with THAWING:
            value = self._values[position]
            if value is UNREAD:
                try:
                    value = self._values[position] = _unpacked(self._frozen.at(position))
                except (Invalid, KeyError) as error:
                    self._damaged(f"Literal {position}: {error}")
            return value

    def _remember(self, value: Scalar, code: int) -> None:
        if isinstance(value, str):
            self._strings[value] = code
        elif value is None or isinstance(value, bool):
            self._named[_NAMED[value]] = code
        else:
            self._numbers[value] = code

    def _forget(self, value: Scalar) -> None:
        if isinstance(value, str):
            self._strings.pop(value, None)
        elif value is None or isinstance(value, bool):
            self._named.pop(_NAMED[value], None)
        else:
            self._numbers.pop(value, None)


def _packed(value: Scalar) -> bytes:
    found: Any = value
    return pack({"canonical_id": found.canonical_id} if isinstance(found, CanonicalReference) else found)


def _unpacked(data: bytearray) -> Scalar:
    found = unpack(bytes(data))
    if isinstance(found, dict):
        found = CanonicalReference(found["canonical_id"])
    elif found is not None and not isinstance(found, str | int | float):
        raise Invalid("a Literal is expected")
    return found  # type: ignore[no-any-return]
