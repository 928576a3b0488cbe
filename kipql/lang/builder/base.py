"""What a builder function takes and gives."""

from collections.abc import Callable
from typing import Any, TypeAlias

from kipql.lang import ast

Values: TypeAlias = list[Any]
Marks: TypeAlias = list[ast.Node]
Build: TypeAlias = Callable[[Values, int, int, Marks], Any]
