"""The errors of PEP 249 over the codes of KIP (§87): the same error, in the class that generic code catches.

Each of them is a KipError, with code, hint, span and details; which class it is follows from the code, or else from its
category.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kipql.errors import KipError


class Warning(Exception):
    """Wanted by PEP 249; never raised: `cursor.warnings` has what is hardly meant."""


class Error(KipError):
    """Whatever goes wrong here."""


class InterfaceError(Error):
    """Something is wrong with the call: a closed cursor, parameters that are no mapping."""


class DatabaseError(Error):
    """Something is wrong with what was asked."""


class DataError(DatabaseError):
    """A value is of the wrong type or form."""


class OperationalError(DatabaseError):
    """The memory can not, or must not, do it now: limits, rights, locks, conflicts, cursors."""


class IntegrityError(DatabaseError):
    """It would break a rule that the memory keeps."""


class InternalError(DatabaseError):
    """A defect of kipql."""


class ProgrammingError(DatabaseError):
    """The statement is wrong, or names what is not there."""


class NotSupportedError(DatabaseError):
    """Nothing here does that."""


_BY_CATEGORY: Mapping[str, type[DatabaseError]] = {
    "syntax": ProgrammingError,
    "protocol": ProgrammingError,
    "schema": ProgrammingError,
    "data": IntegrityError,
    "epistemic": IntegrityError,
    "governance": OperationalError,
    "transaction": OperationalError,
    "history": OperationalError,
    "search": OperationalError,
    "artifact": DataError,
    "resource": OperationalError,
    "system": OperationalError,
}
_BY_CODE: Mapping[str, type[DatabaseError]] = {
    "ReadonlyViolation": OperationalError,
    "UnsupportedCapability": NotSupportedError,
    "UnsupportedIsolation": NotSupportedError,
    "UnsupportedProtocolVersion": NotSupportedError,
    "SearchModeUnsupported": NotSupportedError,
    "TypeMismatch": DataError,
    "ConstraintViolation": IntegrityError,
    "SchemaSymbolConflict": IntegrityError,
    "NotFoundOrNotVisible": ProgrammingError,
    "ReferenceError": ProgrammingError,
    "IdempotencyConflict": IntegrityError,
    "CursorInvalid": ProgrammingError,
    "CursorMismatch": ProgrammingError,
    "CursorTypeMismatch": ProgrammingError,
    "InternalError": InternalError,
}


def mapped(error: KipError) -> DatabaseError:
    """The same error in its class of PEP 249."""
    kind = _BY_CODE.get(error.code) or _BY_CATEGORY.get(error.category, DatabaseError)
    made = kind(error.code, error.message, span=error.span, hint=error.hint, details=error.details, text=error.text)
    made.__cause__ = error
    return made


@contextmanager
def mapping() -> Iterator[None]:
    """Raise every KipError of the block in its class of PEP 249."""
    try:
        yield
    except Error:
        raise
    except KipError as error:
        raise mapped(error) from error


def misuse(message: str, hint: str | None = None) -> InterfaceError:
    """The error of a call that can not be meant."""
    return InterfaceError("PreconditionFailed", message, hint=hint)
