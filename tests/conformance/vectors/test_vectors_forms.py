"""Scenarios of form: exact numbers, canonical bytes, timestamps."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kipql
from kipql import KipError
from kipql.cli.main import main
from tests.capsules.material import record_of, resealed
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import PREFIXES, Scene, accepted, fixture, scene
from tests.shared import shared_path

LARGEST = 9_007_199_254_740_991


NOTE = 'CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "note", payload: {{n: {}}}}} }}'


LOSSY = ["9007199254740992", "9007199254740993", "-9007199254740992", "9007199254740993.0", "9.007199254740993e15"]


LOSSY += ["90071992547409920e-1", "1e400", "-1e400", "1e-400", "-1e-400"]


EXACT = {"9007199254740991": LARGEST, "-9007199254740991": -LARGEST, "9007199254740991.0": LARGEST, "1e15": 10**15}


EXACT |= {"1.0": 1, "-0": 0, "-0.0": 0, "0.5": 0.5, "5e-1": 0.5, "1e-300": 1e-300}


BOUND = [LARGEST + 1, -LARGEST - 1, LARGEST + 2, float(LARGEST + 1), float("inf"), float("-inf"), float("nan")]


def canonical(pairs: str) -> str:
    """The digest of canonical bytes that a test writes out itself."""
    return f"sha256:{hashlib.sha256(pairs.encode()).hexdigest()}"


def payload_digest(given: Scene, payload: object) -> str:
    made = given.do('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: :p} }', p=payload)["e"]
    return str(given.element(made)["content_digest"])


def artifacts() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every public artifact that carries a digest of itself."""
    for folder in ("kip/profiles", "conformance/fixtures"):
        found = shared_path(folder)
        assert found is not None
        for path in sorted(found.glob("*.json")):
            artifact = json.loads(path.read_text())
            if "content_digest" in artifact.get("integrity", ()):
                yield path, artifact


def test_mem_011_numbers_are_exact_and_bytes_canonical(tmp_path: Path) -> None:
    given = scene()
    before = given.nexus.digest()
    lossy = [accepted(given.do, NOTE.format(text)) for text in LOSSY]
    lossy += [accepted(given.rows, f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER(1 < {text}) }}") for text in LOSSY]
    lossy += [accepted(given.do, NOTE.format(":n"), n=value) for value in BOUND]
    lossy += [
        accepted(given.nexus.load, [{"kind": "evidence", "fields": {"evidence_class": "note", "payload": value}}])
        for value in BOUND
    ]
    wrong = [
        accepted(given.do, NOTE.format(text))
        for text in ('{a: 1, "a": 2}', '{"a": 1, "\\u0061": 2}', '"\\ud800"', '"\\udc00x"')
    ]
    wrong += [accepted(given.do, NOTE.format(":n"), n="\ud800")]
    wrong += [accepted(given.do, NOTE.format(":n"), n={"\udfff": 1})]
    package = tmp_path / "package.json"
    text = json.dumps({"manifest": {"package_id": "kip://vectors/x", "version": "1.0.0"}, "definitions": {}})
    twice = text.replace('"definitions": {}', '"definitions": {}, "\\u0064efinitions": {}')
    for content in (twice.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), text.encode() + b"\xff"):
        package.write_bytes(content)
        wrong.append(main(["package", "check", str(package)]) == 0)
    package.write_text(text)
    assert main(["package", "check", str(package)]) == 0
    mutations = int(given.nexus.digest() != before)

    for text, value in EXACT.items():
        made = given.do(NOTE.format(text))["e"]
        stored = given.element(made)["payload"]["inline"]["n"]
        assert stored == value and str(abs(stored)) == str(abs(value))

    # RFC 8785 orders names by UTF-16 units, writes 1.0 as 1 and -0 as 0, and leaves every string as it is.
    names = {
        "\u20ac": 1.0,
        "\r": -0.0,
        "\ufb33": 1e21,
        "1": 1e-7,
        "\U0001f602": True,
        "\u0080": None,
        "\u00f6": "e\u0301",
    }
    written = '{"\\r":0,"1":1e-7,"\u0080":null,"\u00f6":"e\u0301","\u20ac":1,"\U0001f602":true,"\ufb33":1e+21}'
    assert payload_digest(given, {**names, "\ufb33": 1.5}) == canonical(written.replace("1e+21", "1.5"))
    assert payload_digest(given, "e\u0301") != payload_digest(given, "\u00e9")
    assert given.do('ENSURE PROPOSITION ?p (:alice, "test/timezone", :o)', o="e\u0301") == given.do(
        'ENSURE PROPOSITION ?p (:alice, "test/timezone", :o)', o="\u00e9"
    )

    digests = {path.name: _agrees(artifact) for path, artifact in artifacts()}
    assert len(digests) >= 5
    observe(
        "MEM-011",
        lossy_number_accepted=any(lossy),
        digest_agreement=all(digests.values()),
        ambiguous_json_accepted=any(wrong),
        bad_write_mutations=mutations,
    )


def _agrees(artifact: dict[str, Any]) -> bool:
    """Whether the engine's canonical bytes give the digest that an artifact carries."""
    body = {name: value for name, value in artifact.items() if name != "integrity"}
    given = kipql.open()
    made = given.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: :p} }', {"p": body})
    found = given.query("FIND(?e.content_digest) WHERE { ?e EVIDENCE {} }").scalar()
    assert made.space_seq == 1
    return bool(found == artifact["integrity"]["content_digest"])


NONCANONICAL = [
    "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.0Z", "2026-01-01T00:00:00.0000Z", "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:00.000+00:00", "2026-01-01T01:00:00.000+01:00", "2026-01-01T00:00:00.000", "2026-01-01",
    "2026-01-01t00:00:00.000Z", "2026-01-01T00:00:00.000z", "2026-01-01 00:00:00.000Z", "20260101T000000.000Z",
]  # fmt: skip


IMPOSSIBLE = [
    "2026-12-31T23:59:60.000Z", "2026-02-29T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-13-01T00:00:00.000Z",
    "2026-00-10T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2100-02-29T00:00:00.000Z",
]  # fmt: skip


LEAP_DAY = "2024-02-29T23:59:59.999Z"


ASSERTED = 'ASSERT (:alice, "test/timezone", "+08:00") {by: :alice, mode: "stated", at: :at}'


def entrances(given: Scene, at: str) -> list[Callable[[], object]]:
    """Every way in for a timestamp: texts, bound values, Facets, reads, records, wire requests, Capsules."""
    literal = json.dumps(at)
    facet = 'CREATE CONCEPT ?c {{ TYPE "test/Experience" SET FACET "test/MnemonicState" {{last_metabolized_at: {}}} }}'
    evidence = {"kind": "evidence", "fields": {"evidence_class": "note", "observed_at": at}}

    def wire() -> None:
        reply = given.nexus.request(
            {
                "kip": "2.0",
                "parameters": {"alice": given.ids["alice"], "at": at},
                "operations": [{"command": ASSERTED.replace('"test/', f'"{PREFIXES["test/"]}')}],
            }
        )
        for each in (reply.get("error"), *(entry.get("error") for entry in reply["results"])):
            if each:
                raise KipError(each["code"], each["message"])

    def artifact() -> None:
        capsule = given.nexus.export_capsule([given.ids["e_alice_msg"]])
        dated = resealed(capsule, lambda payload: record_of(payload, "evidence").update(observed_at=at))
        kipql.open(packages=[fixture("test-core-domain-1.0.0.schema")]).import_capsule(dated)

    return [
        lambda: given.do(ASSERTED.replace(":at}", f"{literal}}}")),
        lambda: given.do(ASSERTED, at=at),
        lambda: given.do(ASSERTED.replace(":at}", ":now, valid: {from: :at}}"), at=at, now="2026-01-01T00:00:00.000Z"),
        lambda: given.do(facet.format(literal)),
        lambda: given.do(facet.format(":at"), at=at),
        lambda: given.rows(f'FIND(?b.status) WHERE {{ ?b BELIEF SLOT (:alice, "test/timezone") }} FOR TIME {literal}'),
        lambda: given.rows('FIND(?b.status) WHERE { ?b BELIEF SLOT (:alice, "test/timezone") } FOR TIME :at', at=at),
        lambda: given.nexus.load([evidence]),
        wire,
        artifact,
    ]


def test_rel_001_a_timestamp_has_one_form_wherever_it_comes_in() -> None:
    given = scene(now="2026-09-06T12:00:00.000Z")
    before = given.nexus.digest()
    shapes = [[accepted(call) for call in entrances(given, at)] for at in NONCANONICAL]
    dates = [[accepted(call) for call in entrances(given, at)] for at in IMPOSSIBLE]
    writes = int(given.nexus.digest() != before)
    assert all(accepted(call) for call in entrances(given, LEAP_DAY))
    observe(
        "REL-001",
        noncanonical_accepted=any(map(any, shapes)),
        invalid_calendar_accepted=any(map(any, dates)),
        rejected_input_writes=writes,
    )
