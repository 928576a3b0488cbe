"""From a record of a Capsule to an element of the destination (specification §31.4, §39.5, §41.6, §41.7).

Content and attribution come along; standing does not. A claim becomes `imported`: transported, not endorsed (§26.3).
A predicted or a hypothetical one keeps its mode, for no policy that admits what was imported may count a hypothesis.
Authority classes, legal holds, leases, and a Skill's lifecycle are the source's: here a Skill starts as `proposed`, and
a Watch that was armed there as `disarmed`, for a Capsule makes nothing happen (§37.2).
Origin is the import's, which the transaction says.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kipql.capsules import references
from kipql.capsules.resolve import Resolution, Row
from kipql.capsules.symbols import Used
from kipql.errors import KipError
from kipql.model import (
    NO_RETENTION,
    NOTHING,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Proposition,
    Retention,
    element_id,
)
from kipql.mutate.digests import content_digest
from kipql.schema.definitions import ConceptType, FacetDefinition, PredicateType, StructuralField
from kipql.schema.refs import written_lineage
from kipql.store.computed import PROFILE
from kipql.times import parse_instant, parse_interval
from kipql.values import CanonicalReference, Json, canonical_literal

IMPORTED = "imported"
_KEPT_MODES = frozenset({"predicted", "hypothetical", IMPORTED})
_STATUS: Mapping[str, Callable[[Json], Json]] = {
    f"{PROFILE}/Skill": lambda said: "proposed",
    f"{PROFILE}/Watch": lambda said: "disarmed" if said == "armed" else said,
}
"""What the `status` of a Concept with a standing becomes here, by its type."""
_STANDING = frozenset({f"{PROFILE}/current_trial", f"{PROFILE}/current_evaluation"})
_OPERATIONAL = frozenset(f"{PROFILE}/{name}" for name in ("WatchState", "LeaseState", "TrialState", "GradingState"))


@dataclass(slots=True)
class Builder:
    """Builds the elements of one import.

    literal      a Literal -> its code, interned
    quarantine   whether they go into quarantine (`isolate`)
    retention    whether the importer may set retention; otherwise the destination's default holds
    label        the classification that the host gives; None keeps each record's own
    """

    resolution: Resolution
    literal: Any
    quarantine: bool
    retention: bool
    label: str | None
    _undated: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        undated = self.resolution.capsule.handling.get("observed_at_unknown")
        if isinstance(undated, list):
            self._undated = frozenset(each for each in undated if isinstance(each, str))

    def build(self, row: Row) -> AnyRecord:
        """The element that a `create` row makes. Raises KipError with `details.path`, a pointer below the record."""
        record = self.resolution.capsule.records[row.id]
        common = self._common(row, record)
        made: AnyRecord = getattr(self, f"_{row.kind}")(row, record, common)
        return made

    def merged_into(self, row: Row) -> int | None:
        """What a Concept is merged into, None for one that stands by itself."""
        merged = self.resolution.capsule.records[row.id].get("merged_into")
        return None if merged is None else self._code(merged["id"], "/merged_into")

    def lifecycle(self, row: Row, held: AnyRecord) -> Mapping[str, Any]:
        """What a record says of the lifecycle of a claim or of Evidence that an earlier import brought: an end that it
        came to at its source, with the links that stand for something here. Empty when it says nothing new."""
        record = self.resolution.capsule.records[row.id]
        if not isinstance(held, Assertion | Evidence) or held.status != "active" or "lifecycle" not in record:
            return NOTHING
        said = self._ended(row, record, ("supersedes", "superseded_by"))
        if isinstance(held, Evidence):
            said = self._ended(row, record, ("corrects", "corrected_by"))
        return NOTHING if said["status"] == "active" else said

    # kinds

    def _concept(self, row: Row, record: Mapping[str, Any], common: dict[str, Any]) -> Concept:
        ref = self._symbol(ConceptType, record["schema_ref"])
        attributes = self._mapped(record.get("attributes", {}), ref, ConceptType, "/attributes")
        standing = _STATUS.get(self._lineage(ref))
        if standing is not None and "status" in attributes and standing(attributes["status"]) != attributes["status"]:
            attributes = {**attributes, "status": standing(attributes["status"])}
            row.left_out.append("/attributes/status")
        return Concept(
            schema=ref,
            key=None if "/key" in row.left_out else record.get("key"),
            name=record.get("name"),
            canonical_id=record.get("canonical_id"),
            aliases=tuple(record.get("aliases", ())),
            attributes=attributes or NOTHING,
            merged_into=self.merged_into(row),
            structural=self._structural(row, record),
            **common,
        )

    def _proposition(self, row: Row, record: Mapping[str, Any], common: dict[str, Any]) -> Proposition:
        return Proposition(
            subject=self._term(record["subject"], "/subject"),
            predicate=self._symbol(PredicateType, record["predicate_ref"]),
            object=self._term(record["object"], "/object"),
            **common,
        )

    def _assertion(self, row: Row, record: Mapping[str, Any], common: dict[str, Any]) -> Assertion:
        mode = record["mode"]
        return Assertion(
            proposition=self._code(record["proposition"]["id"], "/proposition"),
            asserted_by=self._code(record["asserted_by"]["id"], "/asserted_by"),
            stance=record["stance"],
            mode=mode if mode in _KEPT_MODES else IMPORTED,
            asserted_at=parse_instant(record["asserted_at"]),
            confidence=record.get("confidence"),
            valid=parse_interval(record.get("valid_time")),
            evidence=self._edges(record.get("evidence", ())),
            context=tuple(sorted({self._code(each["id"], "/context_refs") for each in record.get("context_refs", ())})),
            **self._ended(row, record, ("supersedes", "superseded_by")),
            **common,
        )

    def _evidence(self, row: Row, record: Mapping[str, Any], common: dict[str, Any]) -> Evidence:
        generated = record.get("generated_by")
        return Evidence(
            evidence_class=record["evidence_class"],
            payload=self._payload(record),
            content_digest=record["content_digest"],
            media_type=record.get("media_type"),
            observed_at=None if row.id in self._undated else parse_instant(record["observed_at"]),
            source=self._edges(record.get("source", ())),
            generated_by=() if generated is None else self._edges([generated]),
            **self._ended(row, record, ("corrects", "corrected_by")),
            **common,
        )

    def _activity(self, row: Row, record: Mapping[str, Any], common: dict[str, Any]) -> Activity:
        return Activity(
            activity_class=record["activity_class"],
            status=record["status"],
            started_at=_instant(record.get("started_at")),
            ended_at=_instant(record.get("ended_at")),
            parameters_digest=record.get("parameters_digest"),
            inputs=self._edges(record["inputs"]),
            outputs=self._outputs(row, record),
            associated_actors=self._edges(record.get("associated_actors", ())),
            **common,
        )

    def _outputs(self, row: Row, record: Mapping[str, Any]) -> tuple[Edge, ...]:
        """What an Activity put out, without what this Space holds of its own: to say from elsewhere what that was
        derived from would take away that it is a root, and what it was validated by (§23.5, §39.5)."""
        edges = self._edges(record["outputs"])
        kept = tuple(edge for edge in edges if not self._of_this_space(edge.target))
        if len(kept) < len(edges):
            row.left_out.append("/outputs")
        return kept

    def _of_this_space(self, code: int) -> bool:
        view = self.resolution.view
        return view.exists(code) and view.record(code).origin.import_id is None

    # members

    def _common(self, row: Row, record: Mapping[str, Any]) -> dict[str, Any]:
        governance = record.get("governance", {})
        if governance.get("authority_class", "descriptive") != "descriptive":
            row.left_out.append("/governance/authority_class")
        common: dict[str, Any] = {
            "state": record["_system"]["state"],
            "facets": self._facets(row, record),
            "retention": self._retention(row, record.get("retention", {})),
            "classification": governance.get("classification") if self.label is None else self.label,
            "quarantined": self.quarantine or row.quarantined,
        }
        if record["_system"].get("recording_validity", {}).get("status") == "invalidated":
            self._invalidated(record, common)
        return common

    def _retention(self, row: Row, hook: Mapping[str, Any]) -> Retention:
        if hook.get("legal_hold"):
            row.left_out.append("/retention/legal_hold")
        found = Retention(hook.get("retention_class"), _instant(hook.get("expires_at")))
        if found != NO_RETENTION and not self.retention:
            row.left_out.append("/retention")
            return NO_RETENTION
        return found

    def _facets(self, row: Row, record: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {}
        for written, members in record.get("facets", {}).items():
            ref = self._symbol(FacetDefinition, written)
            if self._lineage(ref) in _OPERATIONAL:
                row.left_out.append(f"/facets/{written.rpartition('/')[2]}")
                continue
            found[ref] = self._mapped(members, ref, FacetDefinition, "/facets")
        return found or NOTHING

    def _structural(self, row: Row, record: Mapping[str, Any]) -> Mapping[str, tuple[Edge, ...]]:
        found = {}
        for written, edges in record.get("structural", {}).items():
            ref = self._symbol(StructuralField, written)
            if self._lineage(ref) in _STANDING:
                if edges:
                    row.left_out.append(f"/structural/{written.rpartition('/')[2]}")
                continue
            if kept := self._edges(edges):
                found[ref] = kept
        return found or NOTHING

    def _mapped(self, value: Mapping[str, Any], ref: str, kind: type, path: str) -> Any:
        environment = self.resolution.symbols.environment
        shape = (
            references.shape_of_type(environment, ref)
            if kind is ConceptType
            else references.shape_of_facet(environment, ref)
        )
        return references.mapped(value, shape, lambda name: element_id(self._code(name, path)))

    def _payload(self, record: Mapping[str, Any]) -> Json:
        payload = record["payload"]
        if "status" in payload:
            return {"mode": "purged"}
        if payload["mode"] == "external":
            text = self.resolution.capsule.payload["blobs"].get(payload["content_ref"])
            inline = {"mode": "inline", "inline": text}
            if text is not None and content_digest(inline) == record["content_digest"]:
                return inline
        return dict(payload)

    def _ended(self, row: Row, record: Mapping[str, Any], links: tuple[str, str]) -> dict[str, Any]:
        """The lifecycle; what is left of a link to something that is not here is the status alone."""
        said = record.get("lifecycle", {"status": "active"})
        found: dict[str, Any] = {"status": said["status"]}
        for name in links:
            codes = (self.resolution.code(each["id"]) for each in said.get(name, ()))
            found[name] = tuple(dict.fromkeys(code for code in codes if code is not None))
        if row.kind == "assertion":
            found["retracted_at"] = _instant(said.get("retracted_at"))
        return found

    def _invalidated(self, record: Mapping[str, Any], common: dict[str, Any]) -> None:
        """A recording that its source took back stays so: by the repair, or in quarantine where that is not here."""
        repair = record["_system"]["recording_validity"]["repair_ref"]
        code = None if repair is None else self.resolution.code(repair)
        if code is None:
            common["quarantined"] = True
        else:
            common["repaired_by"] = code

    def _edges(self, values: Iterable[Mapping[str, Any]]) -> tuple[Edge, ...]:
        """The references that stand for something here, each once."""
        found: dict[int, Edge] = {}
        for value in values:
            code = self.resolution.code(value["id"])
            if code is not None:
                found.setdefault(code, Edge(code, value.get("role")))
        return tuple(found.values())

    def _term(self, value: Json, path: str) -> int:
        if not isinstance(value, Mapping):
            return int(self.literal(canonical_literal(value)))
        identity = self.resolution.identity_of(value["id"])
        if identity is not None and self.resolution.code(value["id"]) is None:
            return int(self.literal(CanonicalReference(identity)))
        return self._code(value["id"], path)

    def _code(self, name: str, path: str) -> int:
        code = self.resolution.code(name)
        if code is None:
            raise KipError("CapsuleValidationFailed", f"{name!r} stands for nothing here", details={"path": path})
        return code

    def _symbol(self, kind: type, ref: str) -> str:
        found = self.resolution.symbols.ref(Used(kind, ref))
        if found is None:
            raise KipError("SchemaPackageUnavailable", f"there is no {ref} here")
        return found

    def _lineage(self, ref: str) -> str:
        return written_lineage(ref) or ref


def _instant(value: Json) -> int | None:
    return None if value is None else parse_instant(value)
