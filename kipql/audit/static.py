"""What can be known of a script without a memory: syntax, directives, variables, functions, patterns, Core fields."""

from collections.abc import Iterator

from kipql.audit.lint import lint
from kipql.audit.script import ScriptFile, read_script
from kipql.errors import KipError
from kipql.runtime.texts import Problem, moved, place


def check_script(path: str) -> Iterator[Problem]:
    """Everything wrong with a file, in order of place."""
    yield from check_read(read_script(path))


def check_read(script: ScriptFile) -> Iterator[Problem]:
    """As `check_script`, of a script that was read already."""
    path = script.path
    found = list(script.problems)
    for step in script.steps:
        errors = check_statement(step.text)
        found += [place(path, script.text, moved(error, script.text, step.start), step.start) for error in errors]
    yield from sorted(found, key=lambda problem: (problem.line, problem.column))


def check_statement(text: str) -> list[KipError]:
    """What is wrong with one statement: the first that `plan.scope` refuses, else the fields that nothing has and
    what is hardly meant (`lint`)."""
    from kipql.lang import ast, parse
    from kipql.lang.walk import iterate
    from kipql.plan.scope import check, check_block

    try:
        statement = parse(text)
        if isinstance(statement, ast.Find):
            check(statement)
        else:
            for node in iterate(statement):
                where = getattr(node, "where", None)
                if isinstance(where, ast.Block):
                    check_block(where)
    except KipError as error:
        return [error]
    return lint(statement)
