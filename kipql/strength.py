"""Computed mnemonic strength (§59.1): decay is a function of the read's instant, never a write.

`effective_strength = memory_strength * 2 ** -(max(0, t - last_metabolized_at) / half_life)`. The policy is
pinned by id and content digest; with another pin, or without base or anchor, the strength is unknown (None).
"""

from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.times import parse_instant

HALF_LIFE_30D = "kip:strength-half-life-30d"
HALF_LIFE_30D_DIGEST = "sha256:a50a89b83f937c97cabf0f8371cccfd326f4fdd438b6d7b9ead507d77927b227"
_HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000


def effective_strength(facet: Mapping[str, Any], at: int) -> float | None:
    """The strength at an instant of a MnemonicState facet (its written members), or None where unknown."""
    base, anchor, pin = (facet.get(name) for name in ("memory_strength", "last_metabolized_at", "strength_policy"))
    if isinstance(base, bool) or not isinstance(base, int | float) or anchor is None or not isinstance(pin, Mapping):
        return None
    if pin.get("artifact_ref") != HALF_LIFE_30D or pin.get("content_digest") != HALF_LIFE_30D_DIGEST:
        return None
    try:
        elapsed = max(0, at - parse_instant(anchor))
    except KipError:
        return None
    return float(base * 2.0 ** -(elapsed / _HALF_LIFE_MS))
