"""kipql as a DB-API 2.0 module (PEP 249): for programs and libraries that know databases and not KIP.

    from kipql import dbapi

    with dbapi.connect("brain.kip") as connection:
        connection.execute('FIND(?p.name) WHERE { ?p {type: :type} }', {"type": "Person"}).fetchall()

Values are JSON values; parameters are named, `:name` in the text. A transaction begins with the first write. A
Connection is used by one thread at a time, a transaction by the thread that began it.
"""

from kipql.fronts.dbapi.connection import Connection, connect
from kipql.fronts.dbapi.cursor import Cursor
from kipql.fronts.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from kipql.fronts.dbapi.types import (
    BINARY,
    BOOLEAN,
    DATETIME,
    JSON,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 1
paramstyle = "named"

__all__ = [
    "BINARY",
    "BOOLEAN",
    "DATETIME",
    "JSON",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
