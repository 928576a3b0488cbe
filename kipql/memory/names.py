"""The keys of a session's elements. The session is part of each, so sessions never meet."""

import hashlib


def session_key(session: str) -> str:
    """The Experience of a session."""
    return f"session:{session}"


def turn_key(session: str, turn: int) -> str:
    """The Event of a turn."""
    return f"turn:{session}:{turn}"


def message_key(session: str, turn: int, index: int) -> str:
    """The client key of a message's Evidence."""
    return f"msg:{session}:{turn}:{index}"


def state_key(session: str) -> str:
    """The WorkingState of a session."""
    return f"ws:{session}"


def actor_key(session: str) -> str:
    """The Person in whose name a session's agent says what it concludes."""
    return f"agent:{session}"


def pin_key(session: str, sha: str, turn: int, nth: int) -> str:
    """A pin: the text, the turn it was made in, and how often that text was pinned in that turn before."""
    return f"{session}#{sha}#{turn}#{nth}"


def pin_digest(session: str, sha: str, turn: int, nth: int) -> str:
    """What a `pin_id` is the beginning of."""
    return hashlib.sha256("\0".join((session, sha, str(turn), str(nth))).encode()).hexdigest()
