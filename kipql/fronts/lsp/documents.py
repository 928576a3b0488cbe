"""The texts that an editor has open, as it sent them: what is on the disk is never read."""

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from kipql.fronts.lsp.places import Places


class Document(TextDocument):
    """One open text with its places."""

    _places: tuple[str, Places] | None = None

    @property
    def text(self) -> str:
        """The whole text."""
        return self._source or ""

    @property
    def source(self) -> str:
        return self.text

    @property
    def places(self) -> Places:
        """The places of the text as it is now."""
        if self._places is None or self._places[0] is not self.text:
            self._places = self.text, Places(self.text, str(self.position_codec.encoding))
        return self._places[1]

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        start = self.places.offset(change.range.start)
        end = max(start, self.places.offset(change.range.end))
        self._source = self.text[:start] + change.text + self.text[end:]


class Documents(Workspace):
    """The open texts by their URI."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        codec = self.position_codec
        return Document(doc_uri, source or "", version, language_id, sync_kind=self._sync_kind, position_codec=codec)

    def opened(self, uri: str) -> Document | None:
        """A text that is open, None for another."""
        document = self.get_text_document(uri)
        return document if isinstance(document, Document) and document.version is not None else None

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply a change; one of a text that is not open is passed over."""
        if self.opened(text_doc.uri) is not None:
            super().update_text_document(text_doc, change)
