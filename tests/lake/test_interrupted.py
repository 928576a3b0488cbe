"""Ctrl-C in a query of a lake is a Ctrl-C, and not a defect; the lake answers the next one."""

import signal
import subprocess
import sys

import duckdb
import pytest

from kipql.lake.engines import on_duckdb

SCRIPT = """
import sys, tempfile
import kipql
from kipql import lake

nexus = kipql.open()
for _ in range(12):
    nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Ada" }')
folder = tempfile.mkdtemp()
lake.export(nexus, folder)
opened = lake.open(folder)
many = " ".join(f"?{name} CONCEPT {{}}" for name in "abcdefgh")
print("begun", flush=True)
try:
    opened.query(f'FIND(COUNT(?a)) WHERE {{ {many} FILTER(REGEX(?a.name, "z.*z") || ?b.name != ?c.name) }}')
except KeyboardInterrupt:
    print("interrupted", opened.query("FIND(COUNT(?a)) WHERE { ?a CONCEPT {} }").rows)
"""


def test_ctrl_c_ends_a_query() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as asked:
        assert asked.stdout is not None
        assert asked.stdout.readline() == "begun\n"
        try:
            asked.wait(1)  # it is in the midst of the query then
        except subprocess.TimeoutExpired:
            asked.send_signal(signal.SIGINT)
        told, _ = asked.communicate(timeout=60)
    assert told == "interrupted [12]\n"


def test_ctrl_c_in_a_function_of_ours_is_one() -> None:
    def stopped(text: str) -> str:
        raise KeyboardInterrupt

    with duckdb.connect() as connection:
        connection.create_function("stopped", stopped, ["VARCHAR"], "VARCHAR")
        with pytest.raises(KeyboardInterrupt), on_duckdb._failing():
            connection.execute("SELECT stopped('a')").fetchall()
