"""The Literals that Propositions of one Space hold, each once (specification §9.6).

A Literal's code is -(index + 1). Identity is that of the canonical form: true and 1 differ, 1 and 1.0 do not.
"""

from kipql.values import Scalar, canonical_literal

_NAMED: dict[object, str] = {None: "null", True: "true", False: "false"}


class Literals:
    """An interning table; the writer appends and, on rollback, truncates it."""

    __slots__ = ("_erased", "_named", "_numbers", "_strings", "_values")

    def __init__(self) -> None:
        self._values: list[Scalar] = []
        self._strings: dict[str, int] = {}
        self._numbers: dict[int | float, int] = {}
        self._named: dict[str, int] = {}
        self._erased: set[int] = set()

    def __len__(self) -> int:
        return len(self._values)

    def value(self, code: int) -> Scalar:
        """The Literal of a negative code."""
        return self._values[-1 - code]

    def find(self, value: Scalar) -> int | None:
        """The code of a canonical Literal, None when no Proposition ever held it."""
        if value.__class__ is str:
            return self._strings.get(value)
        if value is None or isinstance(value, bool):
            return self._named.get(_NAMED[value])
        return self._numbers.get(value)  # type: ignore[arg-type]

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
            self._forget(self._values[-1 - code])
            self._values[-1 - code] = None
            self._erased.add(code)

    def blank(self) -> int:
        """The code of a Literal without bytes, for a Proposition that was purged; it is found by no value."""
        self._values.append(None)
        self._erased.add(-len(self._values))
        return -len(self._values)

    def is_erased(self, code: int) -> bool:
        """Whether a Literal's bytes are gone; its value then reads as null."""
        return code in self._erased

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
