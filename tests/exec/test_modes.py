"""Oracles that need no expected rows: the three modes agree, any set of rules may be left out, patterns commute."""

import json
from itertools import combinations
from random import Random
from typing import Any

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.exec import prepared
from kipql.exec.context import Context
from kipql.lang import ast
from kipql.limits import Budget, Limits
from kipql.plan import lower, prepare, rules, shape
from tests.exec.generated import Generator
from tests.exec.memories import memory
from tests.exec.running import MODES, rows_of, run

LIMITS = Limits(ticks=400_000)
SEEDS = range(120)


def outcome(memory_name: str, text: str, mode: str) -> Any:
    """The rows as a multiset, or the code of the error."""
    try:
        return sorted(json.dumps(row) for row in rows_of(run(memory(memory_name), text, {}, mode, LIMITS)))
    except KipError as error:
        return error.code


@pytest.mark.parametrize("memory_name", ["lab", "merged"])
@pytest.mark.parametrize("seed", SEEDS)
def test_modes_agree(seed: int, memory_name: str) -> None:
    text = Generator(seed).query()
    found = {mode: outcome(memory_name, text, mode) for mode in MODES}
    if "ResourceExhausted" not in found.values():
        assert found["closures"] == found["unoptimised"], text
        assert found["compiled"] == found["unoptimised"], text


def _planned(text: str, memory_name: str, chosen: tuple[rules.Rule, ...]) -> Any:
    view = memory(memory_name)._session.view()
    find = lang.parse(text)
    assert isinstance(find, ast.Find)
    shaped = shape.lift_find(find)
    lowered = lower.lower_find(shaped.node, view.environment)
    plan = rules.optimised(lowered.plan, chosen)
    values = prepared.values_of(prepare.planned_find(shaped.node, view.environment), shaped.literals, {})
    context = Context.of(plan, view, values, Budget(LIMITS))
    try:
        rows = prepared.finished(prepared.solutions(context), context, None)
    except KipError as error:
        return error.code
    return sorted(map(repr, rows))


@pytest.mark.parametrize("seed", range(1_000, 1_040))
def test_any_rule_may_be_left_out(seed: int) -> None:
    text = Generator(seed).query()
    wanted = _planned(text, "merged", ())
    for size in range(1, len(rules.RULES) + 1):
        for chosen in combinations(rules.RULES, size):
            found = _planned(text, "merged", chosen)
            if "ResourceExhausted" not in (found, wanted):
                assert found == wanted, (text, [rule.__name__ for rule in chosen])


@pytest.mark.parametrize("seed", range(2_000, 2_060))
def test_patterns_of_one_block_commute(seed: int) -> None:
    generator, random = Generator(seed), Random(seed)
    patterns = [generator.pattern() for _ in range(3)]
    first = None
    for _ in range(4):
        block = " ".join(patterns)
        names = lang.parse(f"FIND(?x) WHERE {{ {block} }}").where  # type: ignore[union-attr]
        shown = sorted({var.name for clause in names.clauses for var in _vars(clause)})
        text = f"FIND({', '.join(f'?{name}.id' for name in shown) or 'COUNT(1)'}) WHERE {{ {block} }}"
        for mode in ("compiled", "unoptimised"):
            found = outcome("merged", text, mode)
            first = found if first is None else first
            if "ResourceExhausted" not in (found, first):
                assert found == first, text
        random.shuffle(patterns)


def _vars(clause: ast.Clause) -> Any:
    from kipql.plan.bindings import of_clause

    return of_clause(clause)
