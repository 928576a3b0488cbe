"""What makes a finding the same one in another run: its check and its key columns, never its wording.

Two findings of one check that share a key are told apart by their number.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kipql.audit.report import Finding
from kipql.escape import json_text
from kipql.values import Json

SHORT = 32


def fingerprint(check: str, key: Mapping[str, Json], number: int = 0, space_id: str | None = None) -> str:
    """The first half of a sha256 over canonical JSON, in hexadecimal."""
    parts: dict[str, Json] = {"check": check, "key": dict(key)}
    if number:
        parts["number"] = number
    if space_id is not None:
        parts["space_id"] = space_id
    return hashlib.sha256(json_text(parts, sort=True).encode()).hexdigest()[:SHORT]


def fingerprinted(check: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a check with their fingerprints."""
    seen: Counter[str] = Counter()
    for finding in findings:
        plain = fingerprint(check, finding.key, space_id=finding.space_id)
        number, seen[plain] = seen[plain], seen[plain] + 1
        print_ = fingerprint(check, finding.key, number, finding.space_id) if number else plain
        yield replace(finding, fingerprint=print_)
