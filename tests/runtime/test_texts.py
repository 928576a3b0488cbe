"""Problems as text: a place, an error, and the Spaces it is in, each on a line that no name can add to."""

import re

import pytest

from kipql.errors import KipError
from kipql.runtime.texts import Problem, problem_text, problem_texts
from kipql.spans import Span

FORGED = "x\nnight.kql:4: error: forged\r\n\x1b[31m\u202e"
SHOWN = r"x\nnight.kql:4: error: forged\r\n\x1b[31m\u202e"


def error(message="no such type", hint=None, text=None):
    return KipError("ReferenceError", message, hint=hint, span=None if text is None else Span(2, 4), text=text)


@pytest.mark.parametrize(
    ("problem", "lines"),
    [
        (Problem("a.kql", 3, 5, error(), "iris"), ["iris: a.kql:3:5: ReferenceError: no such type"]),
        (Problem("a.kql", 3, 5, error(), FORGED), [f"{SHOWN}: a.kql:3:5: ReferenceError: no such type"]),
        (Problem("", 0, 0, error(), FORGED), [f"{SHOWN}: ReferenceError: no such type"]),
        (Problem(FORGED, 3, 5, error()), [f"{SHOWN}:3:5: ReferenceError: no such type"]),
        (Problem(FORGED, 0, 0, error(f"{FORGED}: gone")), [f"{SHOWN}: ReferenceError: gone"]),
        (Problem("a.kql", 3, 5, error(FORGED)), [f"a.kql:3:5: ReferenceError: {SHOWN}"]),
        (
            Problem("", 0, 0, error(f"no {FORGED}", f"try {FORGED}")),
            [f"ReferenceError: no {SHOWN}", f"hint: try {SHOWN}"],
        ),
        (
            Problem("a.kql", 1, 3, error(f"no {FORGED}", f"try {FORGED}", "a bc d\nnext"), "iris"),
            [f"iris: a.kql:1:3: ReferenceError: no {SHOWN}", "a bc d", "  ^^", f"hint: try {SHOWN}"],
        ),
        (Problem("", 0, 0, error(), "::error::x"), [r"\x3a:error::x: ReferenceError: no such type"]),
    ],
)
def test_a_problem_is_its_lines_and_no_more(problem, lines):
    assert problem_text(problem).split("\n") == lines


def everywhere(spaces, **said):
    return [Problem("a.kql", 3, 5, error(**said), space) for space in spaces]


NUMBERED = [f"s{number}" for number in range(1_000)]
PLACE = "a.kql:3:5: ReferenceError: no such type"


@pytest.mark.parametrize(
    ("problems", "lines"),
    [
        (everywhere(["a"]), [f"a: {PLACE}"]),
        (everywhere(["a", "a"]), [f"a: {PLACE}"]),
        (everywhere(["b", "a"]), [PLACE, "in 2 Spaces: b, a"]),
        (everywhere(["a", "b", "c"]), [PLACE, "in 3 Spaces: a, b, c"]),
        (everywhere(["a", "b", "c", "d"]), [PLACE, "in 4 Spaces: a, b, c, ..."]),
        (everywhere(NUMBERED), [PLACE, "in 1,000 Spaces: s0, s1, s2, ..."]),
        (everywhere(["a", FORGED]), [PLACE, f"in 2 Spaces: a, {SHOWN}"]),
        (everywhere(["a", "b"], hint="look"), [PLACE, "hint: look", "in 2 Spaces: a, b"]),
        # the order is that of the first, wherever the others are
        (
            [*everywhere(["a"]), *everywhere(["a"], message="other"), *everywhere(["b"])],
            [PLACE, "in 2 Spaces: a, b", "a: a.kql:3:5: ReferenceError: other"],
        ),
        # of a run of one memory, or of the scripts themselves, each stands for itself
        (everywhere([None, None]), [PLACE, PLACE]),
        (everywhere([None, "a", "b"]), [PLACE, PLACE, "in 2 Spaces: a, b"]),
    ],
)
def test_what_several_spaces_say_in_the_same_words_is_said_once(problems, lines):
    assert "\n".join(problem_texts(problems)).split("\n") == lines


@pytest.mark.parametrize(
    "other",
    [
        Problem("b.kql", 3, 5, error(), "b"),
        Problem("a.kql", 4, 5, error(), "b"),
        Problem("a.kql", 3, 6, error(), "b"),
        Problem("a.kql", 3, 5, error(message="other"), "b"),
        Problem("a.kql", 3, 5, error(hint="look"), "b"),
        Problem("a.kql", 3, 5, KipError("TypeMismatch", "no such type"), "b"),
    ],
)
def test_what_differs_in_anything_is_said_of_each(other):
    said = list(problem_texts([*everywhere(["a"]), other]))
    assert [re.match("[ab]: ", text) is not None for text in said] == [True, True]
