"""What an editor does with a TextMate grammar, as far as ours needs it: a line at a time, the leftmost match wins, the
first rule among equals; `begin`/`end` within a line."""

import regex


def tokens(grammar, text):
    """(scope, piece) of every piece of a text; "" where no rule matches."""
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        yield from _rules(grammar["patterns"], body, 0, "")
        if line != body:
            yield "", line[len(body) :]


def _rules(rules, line, at, outer, end=None):
    while at < len(line):
        found = _first(rules, line, at)
        stop = end.search(line, at) if end is not None else None
        if stop is not None and (found is None or stop.start() <= found[0].start()):
            if stop.end() > at:
                yield outer, line[at : stop.end()]
            return stop.end()
        if found is None:
            yield outer, line[at:]
            return len(line)
        match, rule = found
        if match.start() > at:
            yield outer, line[at : match.start()]
        if "begin" in rule:
            yield rule["name"], match[0]
            at = yield from _rules(rule["patterns"], line, match.end(), rule["name"], _compiled(rule["end"]))
        else:
            yield from _captured(rule, match, outer)
            at = match.end()
    return at


def _first(rules, line, at):
    best = None
    for rule in rules:
        match = _compiled(rule.get("match") or rule["begin"]).search(line, at)
        if match is not None and match[0] and (best is None or match.start() < best[0].start()):
            best = match, rule
    return best


def _captured(rule, match, outer):
    scope, at = rule.get("name", outer), match.start()
    for number, capture in sorted((int(key), value) for key, value in rule.get("captures", {}).items()):
        start, end = match.span(number)
        if start < end:
            if start > at:
                yield scope, match.string[at:start]
            yield capture["name"], match.string[start:end]
            at = end
    if at < match.end():
        yield scope, match.string[at : match.end()]


def _compiled(pattern):
    return regex.compile(pattern)
