"""The bounds of a server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The bounds of a server; times are seconds.

    body         bytes of a request            timeout  what a request may take, its own deadline may say less
    head         until the headers are there   arriving until the body is there
    idle         a connection without request  reading  until an answer is read
    threads      requests that run at once
    waiting      requests that wait for a thread; the next one is turned away
    connections  that are open at once; the next one is turned away
    """

    body: int = 1024 * 1024
    timeout: float = 30.0
    head: float = 10.0
    arriving: float = 10.0
    idle: int = 5
    reading: float = 60.0
    threads: int = 4
    waiting: int = 64
    connections: int = 512
