"""The elements as a transaction leaves them, in the form the schema's rules ask for."""

from typing import TYPE_CHECKING

from kipql.model import Concept, kind_of

if TYPE_CHECKING:
    from kipql.store import View


class Final:
    """`kipql.schema.elements.Elements` over the transaction's own view."""

    __slots__ = ("exists", "literal", "view")

    def __init__(self, view: "View") -> None:
        self.view = view
        self.exists = view.exists
        self.literal = view.literal

    kind = staticmethod(kind_of)

    def concept_type(self, code: int) -> str:
        """The exact type ref of a Concept."""
        record = self.view.record(code)
        assert isinstance(record, Concept)
        return record.schema
