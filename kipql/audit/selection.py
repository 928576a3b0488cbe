"""Which checks of the scripts run: `--select` and `--exclude`, by name and tag.

A word is a name or a tag, or either with `name:` or `tag:` before it, and may have `*` and `?` as in file names. A
plain statement always runs. A word that no check answers to is a problem: a misspelt one would choose nothing, and
nothing is always clean. So is an `--exclude` that leaves none.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kipql.audit.script import ScriptFile, Step
from kipql.errors import KipError
from kipql.lang.words import near
from kipql.runtime.texts import Problem

_LEFT = "--exclude takes out every check that would run"


@dataclass(frozen=True, slots=True)
class Selection:
    """No `select` is everything; what is excluded is out, whatever selects it."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __contains__(self, step: Step) -> bool:
        if not step.directives.is_check:
            return True
        if any(answers(step, word) for word in self.exclude):
            return False
        return not self.select or any(answers(step, word) for word in self.select)

    def problems(self, scripts: Sequence[ScriptFile]) -> Iterator[Problem]:
        """Each word that no check of the scripts answers to."""
        checks = [step for script in scripts for step in script.steps if step.directives.is_check]
        for word in dict.fromkeys((*self.select, *self.exclude)):
            if not any(answers(step, word) for step in checks):
                yield Problem("", 0, 0, _unknown(word, checks))
        if self.exclude and checks and not any(step in self for step in checks):
            yield Problem("", 0, 0, KipError("NotFoundOrNotVisible", "no check is left to run", hint=_LEFT))


def answers(step: Step, word: str) -> bool:
    """Whether a check has this name or tag."""
    sort, wanted = _sorted(word)
    if sort != "tag" and fnmatchcase(step.name, wanted):
        return True
    return sort != "name" and any(fnmatchcase(tag, wanted) for tag in step.directives.tags)


def _sorted(word: str) -> tuple[str, str]:
    for sort in ("name", "tag"):
        if word.startswith(f"{sort}:"):
            return sort, word.removeprefix(f"{sort}:")
    return "", word


def _unknown(word: str, checks: Collection[Step]) -> KipError:
    sort, wanted = _sorted(word)
    names = {step.directives.check for step in checks if step.directives.check} if sort != "tag" else set()
    tags = {tag for step in checks for tag in step.directives.tags} if sort != "name" else set()
    known = sorted(names | tags)
    meant = near(wanted, known)
    what = {"name": "is named", "tag": "has the tag"}.get(sort, "has the name or the tag")
    hint = f"did you mean {meant}?" if meant else f"known here: {', '.join(known) or 'none'}"
    return KipError("NotFoundOrNotVisible", f"no check {what} {wanted}", hint=hint)
