"""Forms: what is known of a text before it is parsed, because a text like it was planned (architecture §4.4).

A form is a text without the literals that its plan does not depend on (`plan.shape`). A new text of a known form has
the tree of the known one but for those literals, and so its language, its checks and its plan; its own literals are
decoded here as the parser decodes them, and the checks of the text alone that look at their values are made again. What
fits no form, or breaks a rule, is parsed: the parser says what is wrong with it.

A piece of the text (`lang.pieces`) may differ when it is exactly one lifted literal. Others (symbols, quoted members,
bounds, comments) belong to the form, and so does whether a literal is a string or a number.
"""

from typing import Generic, NamedTuple, TypeVar

from kipql.errors import KipError
from kipql.lang.builder.scalars import number, string
from kipql.lang.pieces import cut
from kipql.model import parse_id
from kipql.plan.expressions import check_constant
from kipql.plan.functions import FUNCTIONS
from kipql.plan.shape import Shaped
from kipql.spans import NOWHERE
from kipql.values import Scalar

T = TypeVar("T")
MOST_FORMS = 1_024
LONGEST = 16_384  # characters


class Varying(NamedTuple):
    """A literal that may differ: its piece, its number, whether it is a string, the argument that it is, and whether it
    names an element."""

    piece: int
    literal: int
    quoted: bool
    call: tuple[str, int] | None
    names: bool


class Known(NamedTuple, Generic[T]):
    """What was learned of one form: what is kept of it, and the literals of the text that it was learned from."""

    held: T
    literals: tuple[Scalar, ...]


class Family(NamedTuple, Generic[T]):
    """The forms that differ in fixed pieces only."""

    fixed: tuple[int, ...]
    varying: tuple[Varying, ...]
    forms: dict[tuple[str, ...], Known[T]]


class Forms(Generic[T]):
    """The known forms; all are forgotten when there are too many."""

    __slots__ = ("_count", "_families")

    def __init__(self) -> None:
        self._families: dict[tuple[str, ...], tuple[Family[T], ...]] = {}
        self._count = 0

    def learn(self, text: str, shaped: Shaped, held: T) -> None:
        """Keep what is known of a text that was checked."""
        if len(text) > LONGEST or not shaped.literals:
            return
        rest, pieces = cut(text)
        fixed, varying = _divided(rest, pieces, shaped)
        if not varying or any(one.names and not _is_id(shaped.literals[one.literal]) for one in varying):
            return  # a string that can be no id is warned of (`plan.unnamed`), in its own place
        if self._count >= MOST_FORMS:
            self._families, self._count = {}, 0
        families = self._families.get(rest, ())
        family = next((one for one in families if (one.fixed, one.varying) == (fixed, varying)), None)
        if family is None:
            family = Family(fixed, varying, {})
            self._families[rest] = (*families, family)
        key = tuple([pieces[at] for at in fixed])
        if key not in family.forms:
            family.forms[key] = Known(held, shaped.literals)
            self._count += 1

    def find(self, text: str) -> Known[T] | None:
        """What is known of the form of a text, with the literals of this one."""
        if len(text) > LONGEST:
            return None
        rest, pieces = cut(text)
        for fixed, varying, forms in self._families.get(rest, ()):
            known = forms.get(tuple([pieces[at] for at in fixed]))
            if known is not None:
                literals = _literals(known.literals, varying, pieces)
                if literals is not None:
                    return Known(known.held, literals)
        return None


def _divided(rest: tuple[str, ...], pieces: list[str], shaped: Shaped) -> tuple[tuple[int, ...], tuple[Varying, ...]]:
    """The pieces that belong to the form, and those that may differ."""
    numbers = {
        (place.span.start, place.span.end): index
        for index, place in enumerate(shaped.places)
        if not place.static
    }  # fmt: skip
    fixed, varying, at = [], [], 0
    for number_, piece in enumerate(pieces):
        at += len(rest[number_])
        index = numbers.get((at, at + len(piece)))
        at += len(piece)
        if index is None:
            fixed.append(number_)
        else:
            place = shaped.places[index]
            varying.append(Varying(number_, index, piece[0] == '"', place.call, place.names))
    return tuple(fixed), tuple(varying)


def _is_id(value: Scalar) -> bool:
    return isinstance(value, str) and parse_id(value) is not None


def _literals(known: tuple[Scalar, ...], varying: tuple[Varying, ...], pieces: list[str]) -> tuple[Scalar, ...] | None:
    """The literals of a text of this form; None where one is of the other kind or no value."""
    found = list(known)
    try:
        for at, index, quoted, call, names in varying:
            piece = pieces[at]
            if (piece[0] == '"') is not quoted or piece[0] == "/":
                return None
            value = found[index] = string(piece, 0) if quoted else number(piece, 0, len(piece))
            if names and not _is_id(value):
                return None
            if call is not None and (function := FUNCTIONS.get(call[0])) is not None:
                check_constant(function, call[1], value, NOWHERE)
    except KipError:
        return None
    return tuple(found)
