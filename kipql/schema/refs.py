"""How packages and symbols are named (specification §20.2-§20.4, §20.14).

package id        kip://profiles/cognitive-memory
package ref       kip://profiles/cognitive-memory@2.0.0
exact identity    kip://profiles/cognitive-memory@2.0.0/Person      what is stored and validated against
lineage identity  kip://profiles/cognitive-memory/Person            what matching and identity use
"""

import re
from typing import NamedTuple

_PATH = r"kip://[a-z0-9-]+(?:/[a-z0-9-]+)*"
_VERSION = r"[0-9]+(?:\.[0-9]+)*(?:[-+][0-9A-Za-z.+-]+)?"
_NAME = r"[^\W\d][\w-]*"

_PACKAGE_ID = re.compile(_PATH)
_EXACT_VERSION = re.compile(_VERSION)
_SYMBOL = re.compile(_NAME)
_EXACT = re.compile(f"({_PATH})@({_VERSION})/({_NAME})")
_LINEAGE = re.compile(f"({_PATH})/({_NAME})")

CORE_PACKAGE = "kip://core"
CORE_VERSION = "2.0.0"
CORE_REF = f"{CORE_PACKAGE}@{CORE_VERSION}"
DRAFT_PACKAGE = "kip://local/draft"
DRAFT_VERSION = "0.0.0"
DRAFT_REF = f"{DRAFT_PACKAGE}@{DRAFT_VERSION}"


class Exact(NamedTuple):
    """The parts of an exact symbol ref."""

    package_id: str
    version: str
    name: str

    @property
    def package_ref(self) -> str:
        return f"{self.package_id}@{self.version}"

    @property
    def lineage(self) -> str:
        return f"{self.package_id}/{self.name}"


def parse_exact(text: str) -> Exact | None:
    """The parts of `kip://path@version/Name`, or None when `text` is not an exact ref."""
    match = _EXACT.fullmatch(text)
    return Exact(*match.groups()) if match else None


def written_lineage(ref: str) -> str | None:
    """The lineage that an exact ref or a lineage ref spells, before any declared rename; None for other text."""
    if exact := parse_exact(ref):
        return exact.lineage
    return ref if _LINEAGE.fullmatch(ref) else None


def is_package_id(text: str) -> bool:
    return _PACKAGE_ID.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """True for one exact version; ranges and floating aliases are never persisted (§20.4)."""
    return _EXACT_VERSION.fullmatch(text) is not None


def is_symbol_name(text: str) -> bool:
    return len(text) <= 128 and _SYMBOL.fullmatch(text) is not None


def version_key(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Orders versions: numbers by value, and a pre-release before its release."""
    number, mark, rest = re.fullmatch(r"([0-9.]+)([-+]?)(.*)", version, re.DOTALL).groups()  # type: ignore[union-attr]
    return tuple(int(part) for part in number.split(".") if part), mark != "-", rest
