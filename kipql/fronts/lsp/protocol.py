"""What is no message of the protocol is answered, where somebody waits for an answer.

pygls reads a message with the types of the protocol and drops what does not fit, also a request whose client then
waits for ever. Here such a request is answered with an error (JSON-RPC 2.0 §5.1): its parameters do not fit (-32602),
it is no request (-32600), it is no JSON (-32700, with no id: there is none to be read). Notifications and answers get
none.
"""

import logging
from typing import Any

from cattrs import transform_error
from cattrs.errors import ClassValidationError
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.protocol import LanguageServerProtocol

LONGEST = 300  # characters of what is said about parameters
_LOG = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """The protocol of pygls, with an answer to every request."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The object as it is: pygls asks for every object in a message, and only the whole is one."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle a message as it was read from JSON, or answer what is none."""
        wrong = _no_message(message)
        if wrong is None and self._shutdown and message.get("method") != types.EXIT:
            wrong = "the server has been shut down"
        if wrong is not None:
            self.answer(message, JsonRpcInvalidRequest(wrong))
            return
        try:
            structured = super().structure_message(message)
        except JsonRpcException as error:
            self.answer(message, JsonRpcInvalidParams(_misfits(error.__cause__)))
            return
        super().handle_message(structured)

    def answer(self, message: Any, error: JsonRpcException) -> None:
        """Tell the sender of a message what is wrong with it; the sender of a notification or an answer waits for
        nothing."""
        _LOG.error("%s", error)
        sent = message if isinstance(message, dict) else {"id": None, "method": None}
        if "id" in sent and "method" in sent:
            named = sent["id"] if _is_id(sent["id"]) else None
            # As an object: an id of null, which has to be said, is left out of a message of the types.
            self._send_data({"jsonrpc": "2.0", "id": named, "error": error.to_response_error()})

    def unreadable(self, error: Exception) -> None:
        """Answer what is no JSON."""
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        self.answer(None, JsonRpcParseError(f"this is no JSON: {reason}"[:LONGEST]))


def _no_message(message: Any) -> str | None:
    """Why this can be no message of JSON-RPC 2.0, None where it can."""
    if not isinstance(message, dict):
        return "a message is an object"
    if message.get("jsonrpc") != "2.0":
        return 'a message has "jsonrpc": "2.0"'
    if "id" in message and not (_is_id(message["id"]) or "method" not in message):
        return "an id is a string or an integer"
    if "method" in message and not isinstance(message["method"], str):
        return "a method is a string"
    return None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _misfits(error: BaseException | None) -> str:
    """What does not fit, each with its place."""
    found = transform_error(error, path="message") if isinstance(error, ClassValidationError) else []
    return ("; ".join(found) or "the parameters do not fit the method")[:LONGEST]
