"""One MUTATE that grows: the text holds structure only, every value is a parameter (specification §74)."""

from typing import Any


class Block:
    """Statements of one MUTATE and the values they name."""

    __slots__ = ("_lines", "parameters")

    def __init__(self, **parameters: Any) -> None:
        self.parameters: dict[str, Any] = parameters
        self._lines: list[str] = []

    def add(self, statement: str, **parameters: Any) -> None:
        """One more statement, with the parameters it brings."""
        self._lines.append(statement)
        self.parameters.update(parameters)

    @property
    def text(self) -> str:
        """The whole statement."""
        return "\n".join(("MUTATE {", *(f"  {line}" for line in self._lines), "}"))
