"""What ends the ready path: a call that the general path must answer (see `ready`)."""

from kipql.errors import KipError
from kipql.values import Json, check_number, check_text

SHORT = 4_096  # characters of a parameter that needs no counting against `limits.parameters`


class Unready(Exception):
    """The general path answers, or raises."""


class Codes(dict[str, int]):
    """The codes of Concepts by the ids that callers named lately: what an id says does not depend on a Space."""

    MOST = 1 << 14

    def __missing__(self, text: str) -> int:
        """Raises Unready for what is no id of a Concept."""
        digits = text[2:] if text.__class__ is str and text.startswith("C-") else ""
        if not digits.isascii() or not digits.isdecimal() or len(digits) > 15 or digits[0] == "0":
            raise Unready
        if len(self) >= self.MOST:
            self.clear()
        code = self[text] = int(digits) * 8 - 8
        return code


CODES = Codes()


def admitted(value: object) -> Json:
    """The canonical form of a scalar that is no short ASCII string and no plain integer. Raises Unready for anything
    else, and for what the general path would refuse."""
    if value is None or value.__class__ is bool:
        return value
    try:
        if value.__class__ is str and len(value) <= SHORT:
            return check_text(value)
        if value.__class__ is float:
            return check_number(value)
    except KipError:
        pass
    raise Unready
