"""Planning a compaction: which messages stay as they are, and which a summary stands for.

A plan is a pure function of a history. The head (the goal) and the tail (what is going on) are kept, the middle is
summarised, and no call is separated from its results. Nothing is written here; `kipql.memory.committing` does that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kipql.memory.answers import Answer
from kipql.memory.pairs import groups, is_result, owners, split_pairs
from kipql.memory.pairs import prune_tool_results as prune_tool_results
from kipql.memory.pairs import sanitize_pairs as sanitize_pairs
from kipql.memory.tokens import Estimate, Message, estimate_history, estimate_message

CONTEXT_TOKENS = 16384
SMALLEST_CONTEXT = 2048
SMALLEST_MIDDLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Answer):
    """What a compaction would do.

    triggered         whether there is something to do now
    reason            ok, below_threshold, too_short_history (nothing lies outside the protected head) or
                      no_compactable_window (fewer than two messages between head and tail)
    estimated_tokens  what the history takes of the window now
    threshold         from how many tokens on a history is compacted
    tail_tokens       how many of them the tail may take
    head, middle, tail  `(first, end)` indices; together they are the whole history
    orphans           indices of results that a part would hold without their call: always empty
    threshold_ratio, target_ratio, protect_first, protect_last, passes  the settings after clamping
    """

    triggered: bool
    reason: str
    estimated_tokens: int
    threshold: int
    tail_tokens: int
    head: tuple[int, int]
    middle: tuple[int, int]
    tail: tuple[int, int]
    orphans: list[int]
    threshold_ratio: float
    target_ratio: float
    protect_first: int
    protect_last: int
    passes: int


def plan_compaction(
    messages: Sequence[Message],
    *,
    context_tokens: int = CONTEXT_TOKENS,
    threshold_ratio: float = 0.6,
    target_ratio: float = 0.08,
    protect_first: int = 2,
    protect_last: int = 12,
    passes: int = 3,
    system: str = "",
    tools: str = "",
    force: bool = False,
    estimate_tokens: Estimate | None = None,
) -> Plan:
    """The plan for a history.

    context_tokens   the window, at least 2,048
    threshold_ratio  the share of the window from which on compaction is due, 0.10 to 0.95
    target_ratio     the share of the threshold that the tail may take, 0.05 to 0.80
    protect_first    messages at the start that stay, at least 0
    protect_last     messages at the end that stay, at least 4
    passes           how often a host may repeat it in a row, 1 to 5
    system, tools    texts that share the window: the system prompt, the tool schemas
    force            plan also below the threshold
    estimate_tokens  tokens of a text; a quarter of its length when not given

    >>> history = [{"role": "user", "content": "x" * 400}] * 20
    >>> plan_compaction(history, context_tokens=3000, protect_last=4).middle
    (2, 16)
    """
    threshold_ratio = min(0.95, max(0.10, threshold_ratio))
    target_ratio = min(0.80, max(0.05, target_ratio))
    protect_first, protect_last = max(0, protect_first), max(4, protect_last)
    threshold = int(max(SMALLEST_CONTEXT, context_tokens) * threshold_ratio)
    tail_tokens = int(threshold * target_ratio)
    estimated = estimate_history(messages, system, tools, count=estimate_tokens)
    start, end = boundaries(
        messages,
        protect_first=protect_first,
        tail_tokens=tail_tokens,
        min_tail=protect_last,
        estimate_tokens=estimate_tokens,
    )
    reason = _reason(len(messages), protect_first, start, end, due=force or estimated >= threshold)
    return Plan(
        triggered=reason == "ok",
        reason=reason,
        estimated_tokens=estimated,
        threshold=threshold,
        tail_tokens=tail_tokens,
        head=(0, start),
        middle=(start, end),
        tail=(end, len(messages)),
        orphans=list(split_pairs(messages, (start, end))),
        threshold_ratio=threshold_ratio,
        target_ratio=target_ratio,
        protect_first=protect_first,
        protect_last=protect_last,
        passes=min(5, max(1, passes)),
    )


def boundaries(
    messages: Sequence[Message],
    *,
    protect_first: int,
    tail_tokens: int,
    min_tail: int,
    estimate_tokens: Estimate | None = None,
) -> tuple[int, int]:
    """Where the middle begins and ends, `s <= e`; it is reported also when it is too short to be worth it.

    The tail is the longest suffix within `tail_tokens`, at least `min_tail` messages; one that would reach the head
    is `min_tail`. The start moves forward and the end back until no call is separated from its results.
    """
    total = len(messages)
    spans = groups(messages)
    start = _forward(messages, spans, min(protect_first, total))
    tail = max(min_tail, _suffix(messages, tail_tokens, estimate_tokens))
    if total - tail <= start:
        tail = min_tail
    end = _back(messages, spans, max(0, total - tail))
    return start, max(start, end)


def _reason(total: int, protect_first: int, start: int, end: int, *, due: bool) -> str:
    if not due:
        return "below_threshold"
    if total <= protect_first:
        return "too_short_history"
    return "ok" if end - start >= SMALLEST_MIDDLE else "no_compactable_window"


def _suffix(messages: Sequence[Message], tail_tokens: int, count: Estimate | None) -> int:
    """How many messages at the end fit into `tail_tokens`."""
    spent = 0
    for taken, message in enumerate(reversed(messages)):
        spent += estimate_message(message, count)
        if spent > tail_tokens:
            return taken
    return len(messages)


def _forward(messages: Sequence[Message], spans: Sequence[tuple[int, int]], start: int) -> int:
    while True:
        while start < len(messages) and is_result(messages[start]):
            start += 1
        beyond = max((last + 1 for first, last in spans if first < start <= last), default=start)
        if beyond == start:
            return start
        start = beyond


def _back(messages: Sequence[Message], spans: Sequence[tuple[int, int]], end: int) -> int:
    owned = owners(messages)
    for at in (end, end - 1):
        if 0 <= at < len(messages) and (owner := owned[at]) is not None and owner < end:
            end = owner
            break
    for first, last in reversed(spans):
        if first < end <= last:
            end = first
    return end
