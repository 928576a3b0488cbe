"""Documents and the printer: groups go on one line when they fit and hold no comment, else they break.

A group is a list of parts: plain strings, `Text` (a string that knows where it stood in the source),
`LINE` (a blank or a line end), `SOFT` (nothing or a line end), `HARD` (always a line end), `IN` and `OUT`
(one step of indentation), and groups. Nothing here recurses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 100
STEP = 2


class Mark:
    """A part without text."""

    __slots__ = ("flat",)

    def __init__(self, flat: str) -> None:
        self.flat = flat


LINE, SOFT, HARD, IN, OUT = Mark(" "), Mark(""), Mark(""), Mark(""), Mark("")


@dataclass(frozen=True, slots=True)
class SourceComment:
    """A comment of the source. `trailing`: code stands before it on its line. `gap`: an empty line does."""

    text: str
    start: int
    trailing: bool
    gap: bool


class Text:
    """A string at `anchor` in the source, with the comments that go before it and behind it."""

    __slots__ = ("anchor", "lead", "parent", "tail", "text")

    def __init__(self, text: str, anchor: int | None = None) -> None:
        self.text = text
        self.anchor = anchor
        self.lead: list[SourceComment] = []
        self.tail: str | None = None
        self.parent: Group | None = None


Part: TypeAlias = "str | Text | Mark | Group"


class Group:
    """Parts that stay on one line together, or not."""

    __slots__ = ("broken", "parent", "parts", "width")

    def __init__(self, parts: list[Part]) -> None:
        self.parts: list[Part] = []
        self.parent: Group | None = None
        self.broken = False
        self.width = 0
        for part in parts:
            if isinstance(part, str):
                part = Text(part)
            self.parts.append(part)
            if isinstance(part, Mark):
                self.width += len(part.flat)
                self.broken = self.broken or part is HARD
            else:
                part.parent = self
                self.width += len(part.text) if isinstance(part, Text) else part.width
                self.broken = self.broken or (isinstance(part, Group) and part.broken)


# Before a closing bracket a comment is one step further in.
_CLOSING = ("}", ")", "]")


def texts(root: Group) -> Iterator[Text]:
    """The texts of a document in order."""
    stack: list[Part] = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, Text):
            yield part
        elif isinstance(part, Group):
            stack.extend(reversed(part.parts))


def attach(root: Group, comments: list[SourceComment]) -> list[SourceComment]:
    """Give each comment to a text: behind the text before it, or before the first text that stood after it.

    Groups with a comment inside break. Returns the comments that no text stood after.
    """
    at, last = 0, None
    for text in texts(root):
        while text.anchor is not None and at < len(comments) and comments[at].start < text.anchor:
            _give(comments[at], last, text)
            at += 1
        last = text
    rest = comments[at:]
    if rest and rest[0].trailing and last is not None and last.tail is None:
        last.tail = rest.pop(0).text
        _break(last, -1)
    return rest


def _give(comment: SourceComment, before: Text | None, after: Text) -> None:
    if comment.trailing and before is not None and before.tail is None:
        before.tail = comment.text
        _break(before, -1)
    else:
        after.lead.append(comment)
        _break(after, 0)


def _break(text: Text, edge: int) -> None:
    """Break every group that has the comment inside, not at its edge (0 the first part, -1 the last)."""
    part: Text | Group = text
    group = text.parent
    inside = False
    while group is not None:
        solid = [item for item in (group.parts[:3] if edge == 0 else group.parts[-3:]) if not isinstance(item, Mark)]
        inside = inside or not solid or solid[edge] is not part
        if inside:
            group.broken = True
        part, group = group, group.parent


class Printer:
    """Writes documents into lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.indent = 0
        self.must_break = False

    def new_line(self) -> None:
        """End the line, without the blanks at its end."""
        self.lines.append(self.line.rstrip())
        self.line = ""
        self.must_break = False

    def write(self, text: str) -> None:
        """Text on the current line, indented where it begins one."""
        if self.must_break:
            self.new_line()
        if not self.line and text:
            self.line = " " * (STEP * self.indent)
        self.line += text

    def comment(self, comment: SourceComment) -> None:
        """A comment on a line of its own."""
        if self.line.strip():
            self.new_line()
        self.write(comment.text)
        self.must_break = True

    def put(self, text: Text) -> None:
        """A text with its comments."""
        inside = text.text in _CLOSING
        self.indent += inside
        for comment in text.lead:
            self.comment(comment)
        self.indent -= inside
        self.write(text.text)
        if text.tail is not None:
            self.line = f"{self.line.rstrip()} {text.tail}"
            self.must_break = True

    def room(self) -> int:
        """How many characters still fit on the line."""
        return WIDTH - (len(self.line) if self.line else STEP * self.indent)

    def group(self, root: Group) -> None:
        """Print a document."""
        stack: list[tuple[Group, bool, int]] = [(root, not root.broken and root.width <= self.room(), 0)]
        while stack:
            group, flat, at = stack.pop()
            while at < len(group.parts):
                part = group.parts[at]
                at += 1
                if isinstance(part, Text):
                    self.put(part)
                elif isinstance(part, Group):
                    stack.append((group, flat, at))
                    fits = flat or (not part.broken and part.width + _closing(group.parts, at) <= self.room())
                    group, flat, at = part, fits, 0
                elif part is IN or part is OUT:
                    self.indent += 1 if part is IN else -1
                elif isinstance(part, str):
                    self.write(part)
                elif not flat:
                    if self.line.strip():
                        self.new_line()
                elif part.flat and not self.must_break:
                    self.write(part.flat)


def _closing(parts: list[Part], at: int) -> int:
    """The width of what must follow on the same line: up to the next possible line end."""
    width = 0
    for part in parts[at : at + 4]:
        if part is LINE or part is SOFT or part is HARD or isinstance(part, Group):
            break
        width += len(part.text) if isinstance(part, Text) else 0
    return width
