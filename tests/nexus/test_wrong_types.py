"""A host that passes the wrong thing gets a typed KipError from every public method, never a defect (InternalError)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kipql

WRONG: list[Any] = [
    None, 7, 2.5, True, "", "nonsense", b"bytes", [], ["read"], [7], [["read"]], {}, {"id": 7}, {1: 2}, {"read"},
    object(), float("nan"), "x" * 5_000, "\ud800", "\x00", lambda: None, [None], {"a": [object()]},
]  # fmt: skip


def within(nexus: kipql.Nexus, act: Callable[[Any], object]) -> object:
    with nexus.transaction() as tx:
        return act(tx)


# Every positional or named argument that a host may get wrong, one hole a call.
CALLS: dict[str, Callable[[kipql.Nexus, Any], object]] = {
    "query text": lambda n, x: n.query(x),
    "query parameters": lambda n, x: n.query("FIND(?c) WHERE { ?c {name: :n} }", x),
    "query parameter": lambda n, x: n.query("FIND(?c) WHERE { ?c {name: :n} }", {"n": x}),
    "query limits": lambda n, x: n.query("LIST TYPES", limits=x),
    "query cancel": lambda n, x: n.query("LIST TYPES", cancel=x),
    "execute text": lambda n, x: n.execute(x),
    "execute parameter": lambda n, x: n.execute('CREATE CONCEPT ?c { TYPE "Person" NAME :n }', {"n": x}),
    "prepare": lambda n, x: n.prepare(x),
    "prepared parameters": lambda n, x: n.prepare("FIND(?c) WHERE { ?c {name: :n} }").query(x),
    "explain": lambda n, x: n.explain(x),
    "explain parameters": lambda n, x: n.explain("FIND(?c) WHERE { ?c {name: :n} }", x),
    "transaction limits": lambda n, x: n.transaction(limits=x).__enter__().__class__,
    "load": lambda n, x: n.load(x),
    "load record": lambda n, x: n.load([x]),
    "load kind": lambda n, x: n.load([{"kind": x}]),
    "load type": lambda n, x: n.load([{"kind": "concept", "type": x, "name": x}]),
    "load batch": lambda n, x: n.load([], batch=x),
    "load limits": lambda n, x: n.load([], limits=x),
    "load cancel": lambda n, x: n.load([{"kind": "concept", "type": "Person"}], cancel=x),
    "execute cancel": lambda n, x: n.execute('CREATE CONCEPT ?c { TYPE "Person" }', cancel=x),
    "transaction cancel": lambda n, x: n.transaction(cancel=x).__enter__().__class__,
    "prepared cancel": lambda n, x: n.prepare("FIND(?c) WHERE { ?c CONCEPT {} }").query(cancel=x),
    "export cancel": lambda n, x: n.export_capsule(cancel=x),
    "as_principal": lambda n, x: n.as_principal(x),
    "space": lambda n, x: n.space(x),
    "install_packages": lambda n, x: n.install_packages(x),
    "install_package": lambda n, x: n.install_package(x),
    "promote symbol": lambda n, x: n.promote(x, "Person"),
    "promote into": lambda n, x: n.promote("Person", x),
    "promote kind": lambda n, x: n.promote("Person", "Person", kind=x),
    "install_policy": lambda n, x: n.install_policy(x),
    "install_policy id": lambda n, x: n.install_policy({"policy_id": x}),
    "install_policy weights": lambda n, x: n.install_policy({"policy_id": "acme:p", "version": "1", "weights": x}),
    "install_policy precedence": lambda n, x: n.install_policy(
        {"policy_id": "acme:p", "version": "1", "precedence": x}
    ),
    "subscribe": lambda n, x: n.subscribe(x),
    "backup": lambda n, x: n.backup(x if isinstance(x, str) and "nonsense" not in x and len(x) < 9 else None),
    "request": lambda n, x: n.request(x),
    "request principal": lambda n, x: n.request({}, principal=x),
    "watches follow": lambda n, x: n.watches.follow(x),
    "export roots": lambda n, x: n.export_capsule(x),
    "export options": lambda n, x: n.export_capsule(closure=x),
    "export as_of": lambda n, x: n.export_capsule(as_of=x),
    "capture text": lambda n, x: n.capture(x),
    "capture expectation": lambda n, x: n.capture("FIND(?c) WHERE { ?c CONCEPT {} }", expectation=x),
    "transaction execute": lambda n, x: within(n, lambda tx: tx.execute(x)),
    "transaction query": lambda n, x: within(n, lambda tx: tx.query(x)),
    "repair identity": lambda n, x: n.repair.identity(x, expected_identity_version=1, reason_evidence="E-1"),
    "repair version": lambda n, x: n.repair.identity("d", expected_identity_version=x, reason_evidence="E-1"),
    "repair evidence": lambda n, x: n.repair.identity("d", expected_identity_version=1, reason_evidence=x),
    "repair action": lambda n, x: n.repair.identity("d", expected_identity_version=1, reason_evidence="E-1", action=x),
    "preview_import": lambda n, x: n.preview_import(x),
    "import_capsule": lambda n, x: n.import_capsule(x),
    "import plan": lambda n, x: n.import_capsule(n.export_capsule(["C-1"]), x),
    "import key": lambda n, x: n.import_capsule(n.export_capsule(["C-1"]), idempotency_key=x),
    **{
        f"repair recording {name}": lambda n, x, name=name: n.repair.recording(
            **{
                "source_ref": "E-1",
                "source_digest": "sha256:0",
                "source_locator": "bytes:0-1",
                "invalidated_refs": ["A-1"],
                "expected_versions": {"A-1": 1},
                "reason": "extraction_error",
                name: x,
            }
        )
        for name in (
            "source_ref",
            "source_digest",
            "source_locator",
            "invalidated_refs",
            "expected_versions",
            "reason",
            "replacement_refs",
            "statement",
            "parameters",
        )
    },
    # governance
    "grant subject": lambda n, x: n.govern.grant(x, "read"),
    "grant permission": lambda n, x: n.govern.grant("bob", x),
    "deny permission": lambda n, x: n.govern.deny("bob", x),
    **{
        f"grant {name}": lambda n, x, name=name: n.govern.grant("bob", "read", **{name: x})
        for name in ("kinds", "types", "predicates", "classification", "up_to", "ids", "facets", "fields")
    },
    "deny fields": lambda n, x: n.govern.deny("bob", "read", fields=x),
    "revoke": lambda n, x: n.govern.revoke(x),
    "role name": lambda n, x: n.govern.role(x, ["read"]),
    "role permissions": lambda n, x: n.govern.role("reader", x),
    "group name": lambda n, x: n.govern.group(x, ["bob"]),
    "group members": lambda n, x: n.govern.group("staff", x),
    "bind principal": lambda n, x: n.govern.bind(x, "C-1"),
    "bind actor": lambda n, x: n.govern.bind("bob", x),
    "unbind actor": lambda n, x: n.govern.unbind("bob", x),
    "reserve": lambda n, x: n.govern.reserve(x),
    "reserve flag": lambda n, x: n.govern.reserve("C-1", x),
    "designate_self": lambda n, x: n.govern.designate_self(x),
    "labels": lambda n, x: n.govern.labels(x),
    "labels unclassified": lambda n, x: n.govern.labels("open", unclassified=x),
    "classify targets": lambda n, x: n.govern.classify(x, None),
    "classify label": lambda n, x: n.govern.classify("C-1", x),
    "elevate targets": lambda n, x: n.govern.elevate(x, "advisory"),
    "elevate class": lambda n, x: n.govern.elevate("C-1", x),
    "quarantine": lambda n, x: n.govern.quarantine(x),
    "release": lambda n, x: n.govern.release(x),
    "require_approval": lambda n, x: n.govern.require_approval(x),
    "approve": lambda n, x: n.govern.approve(x),
    "authority": lambda n, x: n.govern.authority(x),
    "describe": lambda n, x: n.govern.describe(x),
    **{
        f"single_agent {name}": lambda n, x, name=name: n.govern.single_agent(
            **{"agent": "a", "maintenance": "m", "instrument": "i", "owner": "o", "self_identity": "C-1", name: x}
        )
        for name in ("agent", "maintenance", "instrument", "owner", "self_identity", "merged")
    },
    "trust actor": lambda n, x: n.govern.trust.set(x, 0.5),
    "trust value": lambda n, x: n.govern.trust.set("C-1", x),
    "trust note": lambda n, x: n.govern.trust.set("C-1", 0.5, note=x),
    "trust remove": lambda n, x: n.govern.trust.remove(x),
    "trust list": lambda n, x: n.govern.trust.list(x),
    "trust version": lambda n, x: n.govern.trust.version(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_by_a_code(name: str, recwarn: object) -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }')
    for wrong in WRONG:
        try:
            answer = CALLS[name](nexus, wrong)
        except kipql.KipError as error:
            assert error.code != "InternalError", (wrong, error.message)
            assert isinstance(error.to_dict()["message"], str)
        else:
            assert "InternalError" not in repr(answer), wrong


OPENED = ("readonly", "packages", "limits", "clock", "principal", "durability", "embedder")


@pytest.mark.parametrize("option", OPENED)
def test_a_wrong_option_of_open_is_refused_by_a_code(option: str, tmp_path: Path) -> None:
    for number, wrong in enumerate(WRONG):
        path = tmp_path / str(number)
        options = {option: wrong}
        try:
            with kipql.open(path if option == "durability" else None, **options) as nexus:
                if not nexus._session.readonly:
                    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        except kipql.KipError as error:
            assert error.code != "InternalError", (wrong, error.message)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_a_wrong_path_is_refused_by_a_code(wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        kipql.open(wrong).close()
    except kipql.KipError as error:
        assert error.code != "InternalError", error.message
