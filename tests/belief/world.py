"""The memory that `tests/cases/beliefs*.kqt` reads: four people, three places, and what was said about them in 2026.

C-1 Ann    lived in Rome, said in January, and in Oslo from 1 June, said on the 10th
C-2 Ben    in Rome from February until August, by himself; in Bern, says Cid since July
C-3 Cid    in Bern since some day of 2026
C-4 Dee    in Rome for work, in Oslo generally, both by herself
"""

PEOPLE = {
    "manifest": {"package_id": "kip://test/beliefs", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Place": {"description": "A place."},
            "Theme": {"description": "Colours."},
            "Editor": {"description": "A program for text."},
            "Setting": {"description": "A context."},
        },
        "predicates": {
            "lives_in": {"description": "Residence.", "functional": True, "object": {"concept_types": ["Place"]}},
            "likes": {"description": "Likes.", "object": {"kinds": ["Concept"]}},
            "height": {"description": "In centimetres.", "functional": True, "object": {"literal_types": ["number"]}},
            "awake": {
                "description": "Whether awake.",
                "functional": True,
                "boolean_completeness": True,
                "object": {"literal_types": ["boolean"]},
            },
            "married_to": {
                "description": "Spouse.",
                "functional": True,
                "complete": True,
                "object": {"concept_types": ["Person"]},
            },
            "member_of": {"description": "A closed list.", "open_world": False, "object": {"concept_types": ["Place"]}},
            "tagged": {"description": "A text or a thing.", "object": {}},
        },
    },
}

_BASE = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} }
  CREATE CONCEPT ?ben { TYPE "Person" NAME "Ben" SET FIELDS {key: "ben"} }
  CREATE CONCEPT ?cid { TYPE "Person" NAME "Cid" SET FIELDS {key: "cid"} }
  CREATE CONCEPT ?dee { TYPE "Person" NAME "Dee" SET FIELDS {key: "dee"} }
  CREATE CONCEPT ?rome { TYPE "Place" NAME "Rome" }
  CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" }
  CREATE CONCEPT ?bern { TYPE "Place" NAME "Bern" }
  CREATE CONCEPT ?dark { TYPE "Theme" NAME "Dark" }
  CREATE CONCEPT ?light { TYPE "Theme" NAME "Light" }
  CREATE CONCEPT ?vim { TYPE "Editor" NAME "Vim" }
  CREATE CONCEPT ?work { TYPE "Setting" NAME "Work" }
  CREATE CONCEPT ?home { TYPE "Setting" NAME "Home" }
  ENSURE PROPOSITION ?unsaid (?ben, "likes", ?dark)
  ASSERT ?a1 (?ann, "lives_in", ?rome) {by: ?ann, mode: "stated", at: "2026-01-10T00:00:00.000Z"}
  ASSERT ?a2 (?ann, "lives_in", ?oslo) {by: ?ann, mode: "stated", at: "2026-06-10T00:00:00.000Z",
    valid: {from: "2026-06-01T00:00:00.000Z"}}
  ASSERT ?a3 (?ben, "lives_in", ?rome) {by: ?ben, mode: "stated", at: "2026-02-01T00:00:00.000Z",
    valid: {from: "2026-02-01T00:00:00.000Z", until: "2026-08-01T00:00:00.000Z"}}
  ASSERT ?a4 (?ben, "lives_in", ?bern) {by: ?cid, mode: "stated", at: "2026-07-01T00:00:00.000Z"}
  ASSERT ?a5 (?cid, "lives_in", ?bern) {by: ?cid, mode: "stated", at: "2026-03-01T00:00:00.000Z",
    valid: {from: {earliest: "2026-01-01T00:00:00.000Z", latest: "2026-12-31T23:59:59.999Z"}}}
  ASSERT ?a6 (?dee, "lives_in", ?rome) {by: ?dee, mode: "stated", at: "2026-02-01T00:00:00.000Z", context: [?work]}
  ASSERT ?a7 (?dee, "lives_in", ?oslo) {by: ?dee, mode: "stated", at: "2026-03-01T00:00:00.000Z"}
  ASSERT ?a8 (?ann, "likes", ?dark) {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z", confidence: 0.9}
  ASSERT ?a9 (?ann, "likes", ?light) {by: ?ann, mode: "stated", at: "2026-01-02T00:00:00.000Z"}
  ASSERT ?a10 (?ann, "likes", ?vim) {by: ?ben, mode: "stated", stance: "reject", at: "2026-01-03T00:00:00.000Z"}
  ASSERT ?a11 (?ann, "height", 170) {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT ?a12 (?ann, "height", 172) {by: ?ben, mode: "observed", at: "2026-01-02T00:00:00.000Z"}
  ASSERT ?a13 (?ben, "awake", true) {by: ?ben, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT ?a14 (?ben, "married_to", ?cid) {by: ?ben, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT ?a15 (?ann, "tagged", "C-5") {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT ?a16 (?ben, "likes", ?light) {by: ?ben, mode: "inferred", at: "2026-01-01T00:00:00.000Z"}
  ASSERT ?a17 (?cid, "likes", ?vim) {by: ?cid, mode: "predicted", at: "2026-01-01T00:00:00.000Z"}
}"""

TEXTS = (_BASE,)

MERGED = (
    *TEXTS,
    """MUTATE {
      CREATE CONCEPT ?old { TYPE "Person" NAME "Annie" }
      CREATE CONCEPT ?roma { TYPE "Place" NAME "Roma" }
      ASSERT ?a1 (?old, "lives_in", ?roma) {by: "C-2", mode: "stated", at: "2026-01-20T00:00:00.000Z"}
    }""",
    'MERGE CONCEPT "C-13" INTO "C-1"',
    'MERGE CONCEPT "C-14" INTO "C-5"',
)
