"""`python -m tests.lake.spark_settings`: a lake on a Spark that its user set up otherwise, in a process of its own.

Settings that change what a statement means change no answer, a `${...}` is a text, and the user's settings and views
stay. The exit code is 1 where something is otherwise.
"""

import os
import sys
import tempfile
from typing import Any

import kipql
from kipql import lake

THEIRS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.variable.substitute": "true",
    "spark.ui.enabled": "false",
}
SECRET = "kipql_secret"  # a variable of this process
NAMES = ("it's", 'a "b"', "c\\nd", "e\nf", f"${{env:{SECRET}}}", "g")
ASKED = "FIND(?p.name) WHERE { ?p CONCEPT {name: :s} }"
FILTERED = "FIND(?p.name) WHERE { ?p CONCEPT {} FILTER(?p.name == :s) }"
STARTS = "FIND(COUNT(?p)) WHERE { ?p CONCEPT {} FILTER(STARTS_WITH(:s, :t)) }"


def main() -> int:
    from pyspark.sql import SparkSession

    os.environ[SECRET] = "zz' OR '1'='1"
    user: Any = SparkSession.builder.master("local[2]").config(map=THEIRS).getOrCreate()
    user.sql("SELECT 1 AS x").createOrReplaceTempView("concepts")
    problems = []
    with kipql.open() as nexus, tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME :s }', {"s": name})
        lake.export(nexus, folder)
        with lake.open(folder, engine="spark") as opened:
            for text in (ASKED, FILTERED):
                found = {name: opened.query(text, {"s": name}).rows for name in NAMES}
                problems += [f"{text} of {name!r}: {rows}" for name, rows in found.items() if rows != [name]]
            if (counted := opened.query(STARTS, {"s": NAMES[4], "t": "zz"}).rows) != [0]:
                problems.append(f"a value was read as a variable: {counted}")
            nexus.execute('PURGE "C-6" CONFIRM "PURGE"')
            lake.export(nexus, folder)  # without what was purged: files of before are gone
            try:
                problems.append(
                    f"files are gone, and it says {opened.query('FIND(COUNT(?p)) WHERE { ?p CONCEPT {} }').rows}"
                )
            except kipql.KipError as error:
                if error.code != "MemoryUnavailable":
                    problems.append(f"files are gone, and it says {error}")
    problems += [f"{name} is not what it was" for name, value in THEIRS.items() if user.conf.get(name) != value]
    if [tuple(row) for row in user.sql("SELECT * FROM concepts").collect()] != [(1,)]:
        problems.append("the user's view is another one")
    print("\n".join(problems) or "as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
