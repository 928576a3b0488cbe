"""Running a call so that Ctrl-C ends it and not the session.

The call runs in a thread of its own and is handed an Event; the main thread waits. An interrupt sets the Event, the
engine looks at it in every loop, and the call ends with ExecutionTimeout (`details.cancelled`).
"""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LOOK = 0.1  # seconds


def cancellable(call: Callable[[threading.Event], T]) -> T:
    """What the call answers. Raises what it raises; a second Ctrl-C does not wait for it."""
    cancel, done = threading.Event(), threading.Event()
    answers: list[T] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(call(cancel))
        except BaseException as error:
            problems.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="kipql-statement", daemon=True).start()
    try:
        _wait(done)
    except KeyboardInterrupt:
        cancel.set()
        _wait(done)
    if problems:
        raise problems[0]
    return answers[0]


def _wait(done: threading.Event) -> None:
    """Wait in steps: a wait without an end can not be interrupted everywhere, and a joined thread that was is lost."""
    while not done.wait(_LOOK):
        pass
