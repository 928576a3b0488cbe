"""A headless Chromium that a test can press keys and buttons of; it speaks the DevTools protocol over two pipes."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1000",
    "--remote-debugging-pipe",
]


class Browser:
    """A browser with one page. Everything that the page logs or throws is in `complaints`."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 50) for end in (*os.pipe(), *os.pipe())]
        theirs, self._out, self._in, answers = ends[0], ends[1], ends[2], ends[3]

        def take() -> None:  # Chromium listens on 3 and answers on 4
            os.dup2(theirs, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stderr=subprocess.DEVNULL,
            preexec_fn=take,
            pass_fds=(3, 4),
        )
        os.close(theirs)
        os.close(answers)
        self._rest, self._count, self._session = b"", 0, None
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the protocol."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._in, 1 << 16)
            assert read, "the browser is gone"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(json.dumps(message["params"]))
        return message

    def show(self, page: Path, place: str = "") -> None:
        """Go to a page and wait until its script has run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{page.as_uri()}{place}")
        until = time.monotonic() + 20
        while self.value("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < until

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Press the middle of an element."""
        where = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{where}.scrollIntoView({{block: 'center'}})")
        x, y = self.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({where}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: int) -> None:
        """Press a key on what has the focus."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
