"""Bearer tokens and the Principals behind them (§88.1): a file that says who is who, read once.

A line is `TOKEN PRINCIPAL`; the token itself, or `sha256:` and the 64 hex digits of its digest, so that the file need
not hold what opens the door. Empty lines and lines that begin with # are passed over.
"""

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kipql.errors import KipError
from kipql.govern.principals import Principal, principal_of

LEAST = 16
_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The digests of the tokens, each with its Principal."""

    known: tuple[tuple[bytes, Principal], ...]

    def principal(self, token: str) -> Principal | None:
        """Whose token this is. Every known one is compared, each in constant time: how long it takes tells nothing."""
        given = sha256(token.encode("utf-8", "surrogatepass")).digest()
        found = None
        for digest, principal in self.known:
            if hmac.compare_digest(digest, given):
                found = principal
        return found


def read_tokens(path: str) -> Tokens:
    """The tokens of a file. Raises ArtifactUnavailable, and ArtifactParseError with the line for what is no token."""
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path} can not be read: {error.strerror or error}") from None
    except ValueError:  # no UTF-8, or a path that none can be
        raise KipError("ArtifactUnavailable", f"{path} can not be read: it is no text in UTF-8") from None
    return parse_tokens(text.splitlines(), path)


def parse_tokens(lines: Iterable[str], path: str = "tokens") -> Tokens:
    """The tokens of lines. The error never quotes the line: it may hold a token."""
    known: dict[bytes, Principal] = {}
    for number, line in enumerate(lines, start=1):
        token, _, name = line.strip().partition(" ")
        if not token or token.startswith("#"):
            continue
        digest = _digest(token)
        if digest is None or not name.strip():
            wanted = f"TOKEN PRINCIPAL, the token of at least {LEAST} characters or as sha256:HEX"
            raise KipError("ArtifactParseError", f"{path}:{number} is no line of tokens", hint=f"write {wanted}")
        if digest in known:
            raise KipError("ArtifactParseError", f"{path}:{number} has a token that stands above already")
        known[digest] = principal_of(name.strip())
    if not known:
        raise KipError("ArtifactParseError", f"{path} has no token", hint="without one nobody could ask anything")
    return Tokens(tuple(known.items()))


def _digest(token: str) -> bytes | None:
    if token.startswith("sha256:"):
        found = _DIGEST.fullmatch(token)
        return bytes.fromhex(found[1]) if found else None
    return sha256(token.encode()).digest() if len(token) >= LEAST else None
