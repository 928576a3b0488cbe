"""One MUTATE put together piece by piece: the text holds structure only, every value is a parameter (§74)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kipql.values import Json


@dataclass(frozen=True, slots=True)
class Handle:
    """A local handle of the block, `?h3`."""

    name: str


Edge = tuple[str, "Json | Handle", int | None]


@dataclass(slots=True)
class Block:
    """A growing MUTATE. Each method adds one statement and returns the handle of what it makes."""

    parameters: dict[str, Json] = field(default_factory=dict)
    _statements: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole statement."""
        return "\n".join(("MUTATE {", *self._statements, "}"))

    def upsert(
        self,
        type_ref: str,
        key: str,
        name: str | None,
        attributes: Mapping[str, Json],
        edges: Sequence[Edge] = (),
    ) -> Handle:
        """UPSERT CONCEPT by type and key; a name of None and empty attributes are left alone."""
        handle = self._handle()
        clauses = [f"MATCH {{type: {self._value(type_ref)}, key: {self._value(key)}}}"]
        if name is not None:
            clauses.append(f"SET FIELDS {{name: {self._value(name)}}}")
        if attributes:
            members = ", ".join(f"{member}: {self._value(value)}" for member, value in attributes.items())
            clauses.append(f"SET ATTRIBUTES {{{members}}}")
        clauses += self._structural(edges)
        self._statements.append(f"UPSERT CONCEPT ?{handle.name} {{ {' '.join(clauses)} }}")
        return handle

    def evidence(self, client_key: str, evidence_class: str, payload: Json, source: Json) -> Handle:
        """CREATE EVIDENCE with a client key; the payload is kept inline, as it is."""
        handle = self._handle()
        fields = f"evidence_class: {self._value(evidence_class)}, payload: {self._value(_inline(payload))}"
        clauses = [f"CLIENT KEY {self._value(client_key)}", f"SET FIELDS {{{fields}}}"]
        clauses += self._structural([("source", source, None)])
        self._statements.append(f"CREATE EVIDENCE ?{handle.name} {{ {' '.join(clauses)} }}")
        return handle

    def claim(self, subject: Json, predicate: str, target: Handle, members: Mapping[str, "Json | Handle"]) -> None:
        """ASSERT; a member that is None is left out."""
        tuple_text = f"({self._value(subject)}, {self._value(predicate)}, ?{target.name})"
        said = ", ".join(f"{name}: {self._value(value)}" for name, value in members.items() if value is not None)
        self._statements.append(f"ASSERT {tuple_text} {{{said}}}")

    def _structural(self, edges: Sequence[Edge]) -> list[str]:
        entries = [
            f"({self._value(name)}, {self._value(target)})" + (f" {{index: {index}}}" if index is not None else "")
            for name, target, index in edges
        ]
        return [f"SET STRUCTURAL {{ {' '.join(entries)} }}"] if entries else []

    def _value(self, value: "Json | Handle") -> str:
        if isinstance(value, Handle):
            return f"?{value.name}"
        name = f"v{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def _handle(self) -> Handle:
        return Handle(f"h{len(self._statements)}")


def _inline(payload: Json) -> Json:
    return {"mode": "inline", "inline": payload}
