"""What `kipql.editing` says of a text, in the words of the protocol."""

from lsprotocol import types

from kipql.audit.directives import NAMES
from kipql.editing.around import around
from kipql.editing.completing import Offer, offers
from kipql.editing.explained import DIRECTIVES, meaning
from kipql.editing.findings import Finding, findings
from kipql.editing.outline import outline
from kipql.errors import KipError
from kipql.escape import terminal_lines
from kipql.fronts.lsp.documents import Document
from kipql.fronts.lsp.memory import Memory
from kipql.fronts.lsp.places import Places
from kipql.spans import Span

_LONG = 50_000  # characters of a statement beyond which nobody waits for its words
_SYMBOLS = {
    "check": types.SymbolKind.Function,
    "KQL": types.SymbolKind.Object,
    "KML": types.SymbolKind.Event,
    "META": types.SymbolKind.Property,
}
_ITEMS = {
    "keyword": types.CompletionItemKind.Keyword,
    "variable": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Variable,
    "function": types.CompletionItemKind.Function,
    "aggregate": types.CompletionItemKind.Function,
    "field": types.CompletionItemKind.Field,
    "Facet field": types.CompletionItemKind.Field,
    "member": types.CompletionItemKind.Field,
    "attribute": types.CompletionItemKind.Field,
    "Predicate": types.CompletionItemKind.Interface,
    "Type": types.CompletionItemKind.Class,
    "type": types.CompletionItemKind.Class,
}


def diagnostics(path: str, text: str, memory: Memory, encoding: str) -> list[types.Diagnostic]:
    """Everything wrong with a text."""
    places = Places(text, encoding)
    schema = memory.schema if memory.knows_words else None
    return [_diagnostic(finding, places) for finding in findings(path, text, schema)]


def _diagnostic(finding: Finding, places: Places) -> types.Diagnostic:
    error = finding.error
    said = error.message + (f"\nhint: {error.hint}" if error.hint else "")
    severity = types.DiagnosticSeverity.Error if finding.sure else types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        places.range(finding.span), terminal_lines(said), severity=severity, code=error.code, source="kipql"
    )


def completion(document: Document, position: types.Position, memory: Memory) -> types.CompletionList:
    """The words that may stand at a position."""
    text, at = document.text, document.places.offset(position)
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]
    found = _directives(line, at) if line.lstrip().startswith("//!") else _offers(text, at, memory)
    items = [_item(document, offer, number, at) for number, offer in enumerate(found)]
    return types.CompletionList(is_incomplete=True, items=items)


def _offers(text: str, at: int, memory: Memory) -> list[Offer]:
    """The words of a statement, read by itself."""
    part = around(text, at)
    if part.end - part.start > _LONG:
        return []
    found = offers(text[part.start : part.end], at - part.start, memory.vocabulary)
    return [offer._replace(begin=offer.begin + part.start) for offer in found]


def _directives(line: str, at: int) -> list[Offer]:
    written = line.lstrip()[3:].lstrip()
    if ":" in written:
        return []
    return [Offer(f"{name}: ", at - len(written), "directive") for name in NAMES if name.startswith(written)]


def _item(document: Document, offer: Offer, number: int, at: int) -> types.CompletionItem:
    """One word; the quote that an editor closed by itself is replaced with the rest."""
    end = at + (offer.text.endswith('"') and document.text[at : at + 1] == '"')
    said = DIRECTIVES.get(offer.text[:-2]) if offer.what == "directive" else None
    return types.CompletionItem(
        offer.text,
        kind=_ITEMS.get(offer.what, types.CompletionItemKind.Value),
        detail=offer.what,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, said) if said else None,
        sort_text=f"{number:04}",
        filter_text=offer.text,
        text_edit=types.TextEdit(document.places.range(Span(offer.begin, end)), offer.text),
    )


def hover(document: Document, position: types.Position, memory: Memory) -> types.Hover | None:
    """What stands at a position."""
    at = document.places.offset(position)
    part = around(document.text, at)
    if part.end - part.start > _LONG:
        return None
    text = document.text[part.start : part.end]
    found = meaning(text, at - part.start, memory.nexus, memory.vocabulary.symbols)
    if found is None:
        return None
    said = types.MarkupContent(types.MarkupKind.Markdown, found.text)
    return types.Hover(said, document.places.range(Span(found.span.start + part.start, found.span.end + part.start)))


def formatting(document: Document) -> list[types.TextEdit]:
    """The edit that makes a text canonical; none for one that can not be read, and none for one that is."""
    from kipql.lang import format as canonical

    try:
        better = canonical(document.text)
    except KipError:
        return []
    return [] if better == document.text else [types.TextEdit(document.places.whole(), better)]


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """The statements of a text."""
    places = document.places
    return [
        types.DocumentSymbol(
            terminal_lines(entry.name),
            _SYMBOLS[entry.kind],
            places.range(entry.span),
            places.range(entry.head),
            detail=terminal_lines(entry.detail),
        )
        for entry in outline(document.path or "", document.text)
    ]
