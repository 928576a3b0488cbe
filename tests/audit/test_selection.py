"""Which checks run: by name and tag, with the files' wildcards; a word that chooses nothing is a problem."""

import pytest

from kipql.audit.script import parse_script
from kipql.audit.selection import Selection

SCRIPT = """
//! check: claims-old
//! tags: belief, weekly
FIND(?a) WHERE { ?a ASSERTION {} };

//! check: claims-new
//! tags: belief
FIND(?a) WHERE { ?a ASSERTION {} };

//! check: belief
FIND(?a) WHERE { ?a ASSERTION {} };

//! expect: nonempty
FIND(?a) WHERE { ?a ASSERTION {} };

FIND(?a) WHERE { ?a ASSERTION {} }
"""
READ = parse_script("s.kql", SCRIPT)
PLAIN = "s.kql:16"


@pytest.mark.parametrize(
    ("select", "exclude", "names"),
    [
        ((), (), ["claims-old", "claims-new", "belief", "s.kql:14"]),
        (("claims-new",), (), ["claims-new"]),
        (("belief",), (), ["claims-old", "claims-new", "belief"]),
        (("tag:belief",), (), ["claims-old", "claims-new"]),
        (("name:belief",), (), ["belief"]),
        (("claims-*",), (), ["claims-old", "claims-new"]),
        (("weekly", "name:bel?ef"), (), ["claims-old", "belief"]),
        ((), ("claims-*",), ["belief", "s.kql:14"]),
        (("belief",), ("weekly",), ["claims-new", "belief"]),
        (("s.kql:*",), (), ["s.kql:14"]),
    ],
)
def test_words_choose_checks(select, exclude, names):
    selection = Selection(select, exclude)
    assert [step.name for step in READ.steps if step in selection] == [*names, PLAIN]
    assert list(selection.problems([READ])) == []


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("claims-odd", "no check has the name or the tag claims-odd", "did you mean claims-old?"),
        ("tag:weakly", "no check has the tag weakly", "did you mean weekly?"),
        ("name:weekly", "no check is named weekly", "known here: belief, claims-new, claims-old"),
        ("Claims-*", "no check has the name or the tag Claims-*", None),
    ],
)
@pytest.mark.parametrize("exclude", [False, True])
def test_a_word_that_chooses_nothing_is_a_problem(word, message, hint, exclude):
    selection = Selection((), (word,)) if exclude else Selection((word,))
    (problem,) = selection.problems([READ])
    assert (problem.error.code, problem.error.message) == ("NotFoundOrNotVisible", message)
    assert hint is None or problem.error.hint == hint
