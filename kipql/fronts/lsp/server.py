"""The language server on pygls: which request is answered by what, and when a text is checked.

A text is checked when it is opened, and after a change when no other came for a moment; the check runs beside the
messages, and what it finds of a text that changed meanwhile is dropped. What goes wrong in an answer is an answer of
nothing, and the server goes on.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import kipql
from kipql.errors import KipError
from kipql.fronts.lsp import answers
from kipql.fronts.lsp.documents import Document, Documents
from kipql.fronts.lsp.memory import Memory
from kipql.fronts.lsp.protocol import Protocol

PAUSE = 0.2  # seconds without a change before a text is checked
TRIGGERS = ('"', "?", ":", ".", "(", "{")
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class Server(LanguageServer):
    """A language server with its memory and the checks that wait."""

    def __init__(self, memory: Memory) -> None:
        super().__init__("kipql", kipql.__version__, protocol_cls=Protocol)
        self.memory = memory
        self.waiting: dict[str, asyncio.Task[None]] = {}

    def report_server_error(self, error: Exception, source: Any) -> None:
        """To the log, and what is no JSON to its sender: it is the client's matter, and no window for a person."""
        _LOG.error("%s: %s", getattr(source, "__name__", source), error)
        protocol = self.protocol
        unread = source is JsonRpcException and isinstance(error, ValueError | RecursionError)
        if unread and isinstance(protocol, Protocol):
            protocol.unreadable(error)

    def document(self, uri: str) -> Document | None:
        """A text that is open."""
        workspace = self.workspace
        return workspace.opened(uri) if isinstance(workspace, Documents) else None

    def check(self, uri: str, pause: float) -> None:
        """Check a text after a pause; a check of it that still waits is dropped."""
        self.drop(uri)
        self.waiting[uri] = asyncio.get_running_loop().create_task(self._checked(uri, pause))

    def drop(self, uri: str) -> None:
        """End the check of a text that still waits."""
        before = self.waiting.pop(uri, None)
        if before is not None:
            before.cancel()

    async def _checked(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self.document(uri)
        if document is None:
            return
        version, text = document.version, document.text
        path, encoding = to_fs_path(uri) or uri, str(document.position_codec.encoding)
        try:
            found = await asyncio.to_thread(answers.diagnostics, path, text, self.memory, encoding)
        except Exception:
            _LOG.exception("a check failed")
            return
        now = self.document(uri)
        if now is not None and now.version == version:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


def serve(memory: Memory) -> Server:
    """A server with its features."""
    server = Server(memory)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        before = server.workspace
        # pygls 2 makes the workspace itself and has no public way to give it another class.
        server.protocol._workspace = Documents(before.root_uri, position_encoding=before.position_encoding)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.check(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.check(params.text_document.uri, PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.drop(params.text_document.uri)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        uri, at = params.text_document.uri, params.position
        return _answered(server, uri, lambda document: answers.completion(document, at, server.memory))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        uri, at = params.text_document.uri, params.position
        return _answered(server, uri, lambda document: answers.hover(document, at, server.memory))

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _answered(server, params.text_document.uri, answers.formatting)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return _answered(server, params.text_document.uri, answers.symbols)

    return server


def _answered(server: Server, uri: str, answer: Callable[[Document], T]) -> T | None:
    """An answer about an open text; None for another, and where something went wrong."""
    document = server.document(uri)
    if document is None:
        return None
    try:
        return answer(document)
    except KipError as error:
        _LOG.info("%s: %s", error.code, error.message)
    except Exception:
        _LOG.exception("an answer failed")
    return None


def run(memory: Memory) -> None:
    """Serve on standard input and output until the client ends it."""
    serve(memory).start_io()
