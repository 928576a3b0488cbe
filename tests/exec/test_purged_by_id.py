"""What was purged is found by no id, whatever stands in the same row of another kind (specification §60.3)."""

import kipql

BY_ID = "FIND(?x) WHERE { ?x EVIDENCE {id: :id} }"


def test_purged_evidence_stays_away_though_the_concept_of_its_row_is_merged() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "x"} }')
    nexus.execute('PURGE "E-1" CONFIRM "PURGE"')
    for _ in range(3):  # as closures first, then as compiled source; there is no Concept yet
        assert nexus.query(BY_ID, {"id": "E-1"}).rows == []
    for _ in range(2):
        nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "x" }')
    nexus.execute('MERGE CONCEPT "C-1" INTO "C-2"')
    for _ in range(3):
        assert nexus.query(BY_ID, {"id": "E-1"}).rows == []
        assert nexus.query("FIND(?x.id) WHERE { ?x CONCEPT {id: :id} }", {"id": "C-1"}).rows == ["C-1"]
