"""Cursors: opaque, authenticated continuations of one traversal (specification §44.8, §87.7, §88.4).

A cursor says where a traversal stopped. It belongs to a family (kql, list, history, changes, ...), to a
fingerprint (query, parameters, Space) and to the snapshot it was issued at; a keyed MAC makes any change of
a token visible. Nothing in a token gives authority: the caller's current authority applies on every page.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from os import urandom
from typing import NoReturn

from kipql.errors import KipError
from kipql.values import Json

_MAC = 16
_KEY = 32
_FORMAT = 1
_LONGEST = 8_192


def new_key() -> bytes:
    """A fresh secret for one memory."""
    return urandom(_KEY)


class Cursors:
    """Issues and opens the cursors of one memory.

    key   the memory's secret: a cursor of another memory is malformed here
    """

    __slots__ = ("_key", "_last")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._last: tuple[tuple[str, str, int], str] | None = None

    def name(self, family: str, fingerprint: str, seq: int) -> str:
        """A token for the snapshot itself, without a position; many answers name the same one."""
        asked, last = (family, fingerprint, seq), self._last
        if last is None or last[0] != asked:
            last = self._last = (asked, self.issue(family, fingerprint, seq, None))
        return last[1]

    def issue(self, family: str, fingerprint: str, seq: int, position: Json) -> str:
        """A token for `position` (any JSON value) of a traversal at snapshot `seq`."""
        body = json.dumps([_FORMAT, family, fingerprint, seq, position], separators=(",", ":")).encode()
        return _text(self._mac(body) + body)

    def open(self, text: object, family: str, fingerprint: str) -> tuple[int, Json]:
        """The snapshot and position of a token.

        Raises CursorInvalid for what this memory did not issue, CursorTypeMismatch for another family,
        CursorMismatch for another query, other parameters or another Space.
        """
        _, issued_family, issued_for, seq, position = self._body(text, family)
        if issued_family != family:
            raise KipError(
                "CursorTypeMismatch",
                f"the cursor continues {issued_family}, not {family}",
                hint="send a cursor only to the kind of statement that returned it",
                details={"family": issued_family},
            )
        if issued_for != fingerprint:
            raise KipError(
                "CursorMismatch",
                "the cursor belongs to another query, other parameters or another Space",
                hint="repeat the statement and its parameters unchanged; only CURSOR differs",
                details={"family": family},
            )
        return int(seq), position

    def _body(self, text: object, family: str) -> list[Json]:
        if not isinstance(text, str) or not text or len(text) > _LONGEST or not text.isascii():
            _malformed(family)
        try:
            token = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            _malformed(family)
        if _text(token) != text:  # base64 has several spellings of the same bytes
            _malformed(family)
        from hmac import compare_digest

        body = token[_MAC:]
        if not compare_digest(token[:_MAC], self._mac(body)):
            _malformed(family)
        # What carries our MAC was written by `issue`, perhaps of another release.
        parts = json.loads(body)
        if parts[0] != _FORMAT:
            _malformed(family)
        return list(parts)

    def _mac(self, body: bytes) -> bytes:
        return blake2b(body, digest_size=_MAC, key=self._key).digest()


def _text(token: bytes) -> str:
    return urlsafe_b64encode(token).decode().rstrip("=")


def expired(family: str, reason: str = "expired") -> NoReturn:
    """Raise CursorExpired: the traversal can not go on at its snapshot."""
    raise KipError(
        "CursorExpired",
        "the snapshot that the cursor is pinned to can not be read any more",
        hint="start again without CURSOR",
        details={"family": family, "reason": reason},
    )


def _malformed(family: str) -> NoReturn:
    raise KipError(
        "CursorInvalid",
        "this is not a cursor of this memory",
        hint="pass next_cursor of the previous page unchanged, or leave CURSOR out",
        details={"family": family, "reason": "malformed"},
    )
