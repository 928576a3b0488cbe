"""A UNION branch is matched by its own clauses: what stands before it is the other alternative (§44.5, §43.2)."""

import kipql
from tests.properties.vocabulary import PACKAGE

MERGED = """MUTATE {
  CREATE CONCEPT ?a { TYPE "Robot" NAME "a" SET FIELDS { key: "r0" } }
  CREATE CONCEPT ?b { TYPE "Robot" NAME "b" SET FIELDS { key: "r1" } }
}"""
PATH = '({type: "Robot", key: "r0"}, "knows"{0,2}, ?c)'


def test_a_path_in_a_branch_binds_the_survivor_whatever_the_other_alternative_takes_as_written() -> None:
    nexus = kipql.open(packages=[PACKAGE])
    nexus.execute(MERGED)
    nexus.execute('MERGE CONCEPT "C-2" INTO "C-1"')
    text = f'FIND(?c.id) WHERE {{ {PATH} STRUCTURAL (?c, "part", ?c) UNION {{ {PATH} }} }}'
    assert nexus.query(text).rows == nexus.query(text).rows == ["C-1"]
    later = f'FIND(?c.id) WHERE {{ {PATH} UNION {{ {PATH} }} ?d CONCEPT {{state: "merged", merged_into: ?c}} }}'
    assert nexus.query(later).rows == ["C-1"]
