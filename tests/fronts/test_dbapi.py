"""`kipql.dbapi` keeps PEP 249: the module, connections with transactions, cursors with rows, errors in classes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

import kipql
from kipql import dbapi
from kipql.fronts.dbapi.errors import mapped

CREATE = 'CREATE CONCEPT ?p { TYPE "Person" NAME :name SET FIELDS {key: :key} }'
NAMES = "FIND(?p.name, ?p.key) WHERE { ?p CONCEPT {} } ORDER BY ?p.key"


@pytest.fixture
def connection():
    with dbapi.connect() as made:
        yield made


def filled(connection, *keys):
    connection.cursor().executemany(CREATE, [{"name": key.upper(), "key": key} for key in keys])
    connection.commit()


def test_the_module_says_what_it_is():
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "named")
    assert all(hasattr(dbapi, name) for name in dbapi.__all__)


def test_the_errors_are_the_hierarchy_of_the_pep_and_kip_errors():
    assert issubclass(dbapi.Error, kipql.KipError) and issubclass(dbapi.InterfaceError, dbapi.Error)
    assert not issubclass(dbapi.InterfaceError, dbapi.DatabaseError) and not issubclass(dbapi.Warning, dbapi.Error)
    names = (
        "DataError",
        "OperationalError",
        "IntegrityError",
        "InternalError",
        "ProgrammingError",
        "NotSupportedError",
    )
    for name in names:
        assert issubclass(getattr(dbapi, name), dbapi.DatabaseError)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)


@pytest.mark.parametrize("code", sorted(kipql.CODES))
def test_every_code_has_a_class_and_is_the_same_error_in_it(code):
    error = mapped(kipql.KipError(code, "what", hint="do", details={"a": 1}))
    assert isinstance(error, dbapi.DatabaseError) and type(error) is not dbapi.DatabaseError
    assert (error.code, error.message, error.hint, error.details) == (code, "what", "do", {"a": 1})


@pytest.mark.parametrize(
    ("text", "parameters", "kind"),
    [
        ("FIND(?p", None, dbapi.ProgrammingError),
        ('FIND(?p) WHERE { (?p, "nonsense", ?q) }', None, dbapi.ProgrammingError),
        ("FIND(?p) WHERE { ?p {key: :key} }", {}, dbapi.ProgrammingError),
        ("FIND(?p) WHERE { ?p {key: :key} }", {"key": object()}, dbapi.DataError),
        (CREATE, {"name": "A", "key": "there"}, dbapi.IntegrityError),
        ('FIND(?p.key) WHERE { ?p CONCEPT {} } CURSOR "x"', None, dbapi.ProgrammingError),
        (NAMES, ["there"], dbapi.InterfaceError),
        (5, None, dbapi.ProgrammingError),
    ],
)
def test_an_error_is_caught_by_its_class(connection, text, parameters, kind):
    filled(connection, "there")
    with pytest.raises(kind) as caught:
        connection.execute(text, parameters)
    assert type(caught.value) is kind and caught.value.code in kipql.CODES


def test_an_error_in_a_text_keeps_its_caret(connection):
    with pytest.raises(dbapi.ProgrammingError, match=r"(?s)1:\d+: InvalidSyntax.*\^"):
        connection.execute("FIND(?p.name WHERE")


def test_reading_a_read_only_memory_works_and_writing_is_operational(tmp_path):
    with dbapi.connect(tmp_path / "m") as connection:
        filled(connection, "a")
    connection.close()
    reader = dbapi.connect(tmp_path / "m", readonly=True)
    assert reader.execute(NAMES).fetchall() == [("A", "a")]
    with pytest.raises(dbapi.OperationalError):
        reader.execute(CREATE, {"name": "B", "key": "b"})
    reader.close()


def test_a_memory_that_can_not_be_opened_is_an_error_of_the_module(tmp_path):
    (tmp_path / "file").write_text("no memory", "utf-8")
    with pytest.raises(dbapi.Error):
        dbapi.connect(tmp_path / "file")
    with pytest.raises(dbapi.InterfaceError, match="packages"):
        dbapi.connect(kipql.open(), packages=[])
    with pytest.raises(dbapi.Error):
        dbapi.connect(principal="")


def test_writes_are_seen_by_their_transaction_and_durable_with_commit(connection):
    nexus = connection.nexus
    cursor = connection.execute(CREATE, {"name": "A", "key": "a"})
    assert (cursor.rowcount, cursor.lastrowid, cursor.description) == (-1, "C-1", None)
    connection.execute(CREATE, {"name": "B", "key": "b"})
    assert connection.in_transaction and nexus.space_seq == 0
    assert connection.execute(NAMES).fetchall() == [("A", "a"), ("B", "b")]
    connection.commit()
    assert not connection.in_transaction and nexus.space_seq == 1 == connection.receipt.space_seq
    connection.commit()
    assert nexus.space_seq == 1


def test_rollback_and_close_and_an_exception_leave_nothing(connection):
    nexus = connection.nexus
    connection.execute(CREATE, {"name": "A", "key": "a"})
    connection.rollback()
    assert connection.execute(NAMES).fetchall() == []
    with pytest.raises(ZeroDivisionError), connection:
        connection.execute(CREATE, {"name": "A", "key": "a"})
        raise ZeroDivisionError
    assert nexus.space_seq == 0
    other = dbapi.connect(nexus)
    other.execute(CREATE, {"name": "A", "key": "a"})
    other.close()
    assert nexus.query(NAMES).rows == []
    nexus.execute(CREATE, {"name": "A", "key": "a"})  # the writer's place is free again, the Nexus open


def test_a_statement_that_fails_leaves_the_transaction_as_it_was(connection):
    connection.execute(CREATE, {"name": "A", "key": "a"})
    with pytest.raises(dbapi.IntegrityError):
        connection.execute(CREATE, {"name": "B", "key": "a"})
    connection.commit()
    assert connection.execute(NAMES).fetchall() == [("A", "a")]


def test_a_commit_that_fails_writes_nothing_and_ends_the_transaction():
    nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
    connection = dbapi.connect(nexus)
    connection.execute(CREATE, {"name": "A", "key": "a"})
    nexus.close()
    with pytest.raises(dbapi.Error):
        connection.commit()
    assert not connection.in_transaction


def test_autocommit_is_a_commit_a_write():
    connection = dbapi.connect(autocommit=True)
    cursor = connection.cursor().executemany(CREATE, [{"name": "A", "key": "a"}, {"name": "B", "key": "b"}])
    assert cursor.rowcount == 2
    assert connection.nexus.space_seq == 2 == connection.receipt.space_seq and not connection.in_transaction


def test_define_commits_at_once_and_fails_inside_a_transaction(connection):
    define = 'DEFINE PREDICATE "resides_in" { description: "Where the subject lives." }'
    connection.execute(define)
    assert connection.nexus.space_seq == 1 and not connection.in_transaction
    connection.execute(CREATE, {"name": "A", "key": "a"})
    with pytest.raises(dbapi.DatabaseError):
        connection.execute('DEFINE PREDICATE "works_at" { description: "Where." }')


def test_a_principal_is_recorded():
    connection = dbapi.connect(principal="planner", autocommit=True)
    connection.execute(CREATE, {"name": "A", "key": "a"})
    assert connection.receipt.principal_id == "planner"


def test_rows_are_tuples_fetched_in_order(connection):
    filled(connection, *"abcde")
    cursor = connection.execute("FIND(?p.key) WHERE { ?p CONCEPT {} } ORDER BY ?p.key")
    assert cursor.rowcount == 5 and cursor.fetchone() == ("a",)
    assert cursor.fetchmany() == [("b",)] and cursor.fetchmany(2) == [("c",), ("d",)]
    assert cursor.fetchall() == [("e",)] and cursor.fetchone() is None and cursor.fetchmany(3) == []
    cursor.execute(NAMES)
    cursor.arraysize = 3
    assert len(cursor.fetchmany()) == 3 and list(cursor) == [("D", "d"), ("E", "e")]


def test_the_description_names_and_types_the_columns(connection):
    filled(connection, "a", "b")
    asked = (
        "FIND(?p.name, ?p.aliases, ?p._system.version, ?p._system.created_at, ?p.canonical_id) WHERE { ?p CONCEPT {} }"
    )
    described = connection.execute(asked).description
    assert [column[0] for column in described] == [
        "p.name", "p.aliases", "p._system.version", "p._system.created_at", "p.canonical_id"
    ]  # fmt: skip
    assert [column[1] for column in described] == [dbapi.STRING, dbapi.JSON, dbapi.NUMBER, dbapi.DATETIME, None]
    assert all(len(column) == 7 and column[2:] == (None,) * 5 for column in described)
    assert connection.execute("FIND(IS_NULL(?p.name)) WHERE { ?p CONCEPT {} }").description[0][1] is dbapi.BOOLEAN


def test_meta_has_columns_too(connection):
    cursor = connection.execute("LIST SCHEMA PACKAGES")
    names = [column[0] for column in cursor.description]
    assert len(names) > 1 and all(len(row) == len(names) for row in cursor)
    cursor.execute("DESCRIBE PROTOCOL")
    assert [column[0] for column in cursor.description] == ["member", "value"] and ("kip", "2.0") in cursor.fetchall()


def test_what_can_not_be_meant_is_an_interface_error(connection):
    cursor = connection.cursor()
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchone()
    cursor.execute(CREATE, {"name": "A", "key": "a"})
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchall()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute(NAMES)
    other = dbapi.connect()
    spare = other.cursor()
    other.close()
    other.close()
    for call in (other.cursor, other.commit, other.rollback, lambda: spare.execute(NAMES)):
        with pytest.raises(dbapi.InterfaceError):
            call()


def test_executemany_is_for_writes(connection):
    cursor = connection.cursor().executemany(CREATE, [{"name": "A", "key": key} for key in "abc"])
    assert cursor.rowcount == -1 and cursor.executemany(CREATE, []).rowcount == 0
    with pytest.raises(dbapi.ProgrammingError):
        cursor.executemany(NAMES, [{}])


@pytest.mark.parametrize("given", [None, 5, "ab", b"ab", {"name": "A", "key": "a"}, object()])
def test_executemany_of_what_is_no_sequence_of_mappings_is_an_interface_error(connection, given):
    with pytest.raises(dbapi.InterfaceError, match="sequence of mappings"):
        connection.cursor().executemany(CREATE, given)


def test_executemany_looks_at_all_parameters_before_it_runs_the_first(connection):
    with pytest.raises(dbapi.InterfaceError, match="a mapping by name, not list"):
        connection.cursor().executemany(CREATE, [{"name": "A", "key": "a"}, ["B", "b"]])
    assert not connection.in_transaction and connection.execute(NAMES).fetchall() == []


def test_executemany_takes_what_can_be_gone_through_once(connection):
    made = connection.cursor().executemany(CREATE, ({"name": key, "key": key} for key in "abc"))
    connection.commit()
    assert made.connection is connection and connection.execute(NAMES).rowcount == 3


WRONG_SIZES = [-1, "a", "1", 1.5, True, []]


@pytest.mark.parametrize("size", WRONG_SIZES)
@pytest.mark.parametrize("where", ["size", "arraysize"])
def test_a_number_of_rows_that_is_none_is_an_interface_error_and_loses_no_row(connection, size, where):
    filled(connection, "a", "b")
    cursor = connection.execute(NAMES)
    assert cursor.fetchone() == ("A", "a")
    with pytest.raises(dbapi.InterfaceError, match="number of rows"):
        if where == "size":
            cursor.fetchmany(size)
        else:
            cursor.arraysize = size
            cursor.fetchmany()
    assert cursor.fetchall() == [("B", "b")]


def test_no_rows_and_more_rows_than_there_are_can_be_asked_for(connection):
    filled(connection, "a")
    cursor = connection.execute(NAMES)
    assert cursor.fetchmany(0) == [] and cursor.fetchmany(10**30) == [("A", "a")]


@pytest.mark.parametrize("operation", [None, 5, b"FIND", ["x"], ""])
def test_an_operation_that_is_no_text_is_a_programming_error(connection, operation):
    with pytest.raises(dbapi.ProgrammingError):
        connection.execute(operation)
    with pytest.raises(dbapi.ProgrammingError):
        connection.cursor().executemany(operation, [{}])


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (dbapi.Date, (0, 1, 1)),
        (dbapi.Date, (2026, 2, 30)),
        (dbapi.Timestamp, (2026, 1, 1, 25)),
        (dbapi.Timestamp, ("2026", 1, 1)),
        (dbapi.DateFromTicks, (1e300,)),
        (dbapi.DateFromTicks, (None,)),
        (dbapi.TimestampFromTicks, (float("nan"),)),
        (dbapi.TimestampFromTicks, ("0",)),
        (dbapi.TimestampFromTicks, (-1e12,)),
    ],
)
def test_what_is_no_instant_is_a_data_error(make, given):
    with pytest.raises(dbapi.DataError):
        make(*given)


def test_values_of_time_are_instants(connection):
    assert dbapi.Date(2026, 4, 1) == datetime(2026, 4, 1, tzinfo=UTC) == dbapi.DateFromTicks(1775001600 + 5)
    assert dbapi.TimestampFromTicks(1775001605) == dbapi.Timestamp(2026, 4, 1, 0, 0, 5)
    note = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "x", observed_at: :at} }'
    connection.execute(note, {"at": dbapi.Timestamp(2026, 4, 1, 12, 0, 0)})
    seen = connection.execute("FIND(?e.observed_at) WHERE { ?e EVIDENCE {} }").fetchall()
    assert seen == [("2026-04-01T12:00:00.000Z",)]
    for made in (lambda: dbapi.Time(1, 2, 3), lambda: dbapi.TimeFromTicks(0), lambda: dbapi.Binary(b"")):
        with pytest.raises(dbapi.NotSupportedError):
            made()


def test_warnings_are_the_caveats(connection):
    (warning,) = connection.execute('FIND(?a) WHERE { ?a ASSERTION {status: "active"} }').warnings
    assert warning.hint == "did you mean lifecycle.status?"


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_it(connection):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    filled(connection, "a", "b")
    frame = pandas.read_sql(NAMES, connection)
    assert list(frame.columns) == ["p.name", "p.key"] and frame["p.key"].tolist() == ["a", "b"]
    one = pandas.read_sql("FIND(?p.name) WHERE { ?p {key: :key} }", connection, params={"key": "b"})
    assert one["p.name"].tolist() == ["B"]


def test_a_transaction_is_ended_by_the_thread_that_began_it(connection):
    connection.execute(CREATE, {"name": "A", "key": "a"})
    with ThreadPoolExecutor(1) as other, pytest.raises(dbapi.InterfaceError):
        other.submit(connection.commit).result()
    connection.commit()
    assert connection.nexus.space_seq == 1
