"""A Space in memory and the shortest way to write statements into it: parse, bind, run, finish, commit."""

from typing import Any

from kipql.errors import KipError
from kipql.lang import parse
from kipql.limits import Budget
from kipql.model import KIND_OF_NAME, AnyRecord
from kipql.mutate import WriteContext, finish, run
from kipql.plan.parameters import bind
from kipql.schema import builtin
from kipql.store import Commit, Store
from kipql.times import parse_instant

NOON = parse_instant("2026-06-01T12:00:00.000Z")


def package(name: str, **definitions: Any) -> dict[str, Any]:
    """An abbreviated host package."""
    return {
        "format": "KIP-Schema-Package",
        "manifest": {"package_id": f"kip://test/{name}", "version": "1.0.0"},
        "definitions": definitions,
    }


THINGS = package(
    "things",
    concept_types={
        "Thing": {"kind": "ConceptType", "attributes": {"open": True, "fields": {}}},
        "Box": {
            "kind": "ConceptType",
            "attributes": {
                "open": False,
                "fields": {"size": {"type": "number", "required": True}, "note": {"type": "string"}},
            },
        },
    },
    predicates={
        "is": {"kind": "PredicateType"},
        "says": {"kind": "PredicateType", "object": {"literal_types": ["string", "number", "boolean"]}},
        "near": {"kind": "PredicateType", "object": {"kinds": ["Concept"]}},
    },
    facets={
        "Wear": {
            "kind": "FacetDefinition",
            "closed": True,
            "fields": {"level": {"type": "number"}, "by": {"type": "string"}},
        },
    },
    structural_fields={
        "part": {"kind": "StructuralFieldDefinition", "ordered": True},
        "lid": {"kind": "StructuralFieldDefinition", "cardinality": {"min": 0, "max": 1}},
        "tag": {"kind": "StructuralFieldDefinition"},
    },
)


class Space:
    """One memory for one test. `write` commits a statement and answers its handles."""

    def __init__(self, *packages: dict[str, Any]) -> None:
        self.store = Store()
        self.store.note("schema", {"packages": [builtin.cognitive_memory().artifact, THINGS, *packages]})
        self.at = NOON
        self.commit: Commit | None = None

    def write(self, text: str, **parameters: Any) -> dict[str, str]:
        """Commit one statement. Raises KipError, and then nothing is left of it."""
        self.at += 1_000
        tx = self.store.begin(self.at)
        try:
            statement = parse(text)
            write = WriteContext(budget=Budget())
            outcome = run(statement, tx, bind(statement, parameters), write)
            finish(tx, write)
            self.commit = tx.commit() if tx.seal() else None
        except KipError as error:
            error.in_text(text)
            raise
        finally:
            tx.rollback()
        assert outcome.result is None
        return dict(outcome.handles)

    def refused(self, text: str, **parameters: Any) -> KipError:
        """The error of a statement that must fail, having changed nothing."""
        before = self.store.digest()
        try:
            self.write(text, **parameters)
        except KipError as error:
            assert self.store.digest() == before
            return error
        raise AssertionError(f"accepted: {text}")

    def element(self, id_text: str) -> dict[str, Any]:
        """The wire element."""
        code = self.store.view().code(id_text)
        assert code is not None, id_text
        return self.store.view().element(code)

    def record(self, id_text: str) -> AnyRecord:
        """The record."""
        code = self.store.view().code(id_text)
        assert code is not None, id_text
        return self.store.view().record(code)

    def count(self, kind: str) -> int:
        """How many elements of a kind there are."""
        return len(self.store.view().rows(KIND_OF_NAME[kind]))

    @property
    def changed(self) -> bool:
        """Whether the last statement had an effect."""
        return self.commit is not None

    def head(self) -> int:
        """The last sequence."""
        return self.store.head
