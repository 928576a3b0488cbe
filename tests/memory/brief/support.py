"""What the tests of recall share: a small memory with people, claims, experiences and things that are owed."""

from datetime import UTC, datetime

import kipql
from kipql.memory import Brain

NOW = datetime(2026, 9, 1, tzinfo=UTC)
PACKAGES = ["kip://domains/general@1.0.0", "kip://kipql/agent@1.0.0"]
HALF_LIFE = {
    "artifact_ref": "kip:strength-half-life-30d",
    "content_digest": "sha256:a50a89b83f937c97cabf0f8371cccfd326f4fdd438b6d7b9ead507d77927b227",
}
WORLD = """MUTATE {
  CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada", aliases: ["阿达"]} }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"} }
  CREATE CONCEPT ?rome { TYPE "Place" NAME "Rome" SET FIELDS {key: "rome"} }
  CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" SET FIELDS {key: "oslo"} }
  CREATE EVIDENCE ?mail { SET FIELDS {evidence_class: "message", payload: "I moved to Rome in January."} }
  CREATE EVIDENCE ?talk { SET FIELDS {evidence_class: "message", payload: "Ada would like to see Oslo one day."} }
  CREATE CONCEPT ?failed { TYPE "Experience" SET FIELDS {key: "failed"}
    SET ATTRIBUTES {goal: "deploy version 2", outcome_status: "failure", outcome_summary: "the migration hung"} }
  CREATE CONCEPT ?worked { TYPE "Experience" SET FIELDS {key: "worked"}
    SET ATTRIBUTES {goal: "deploy version 1", outcome_status: "success"} }
  CREATE CONCEPT ?owed { TYPE "Commitment" SET FIELDS {key: "owed"}
    SET ATTRIBUTES {summary: "send Ada the report", status: "pending", due_at: "2026-08-01T00:00:00.000Z"}
    SET FACET "MnemonicState" {memory_strength: 0.01, last_metabolized_at: "2026-01-01T00:00:00.000Z",
      strength_policy: :policy}
    SET STRUCTURAL { ("owed_to", ?ada) } }
  CREATE CONCEPT ?rule { TYPE "Insight" SET FIELDS {key: "friday"}
    SET ATTRIBUTES {summary: "never deploy on Fridays", scope: "constraint"} }
  ASSERT ?home (?ada, "lives_in", ?rome) {
    by: ?ada, mode: "stated", at: "2026-01-10T00:00:00.000Z", evidence: ?mail
  }
}"""


def opened(**settings):
    """An empty memory with the packages of these tests and a clock that stands still."""
    return kipql.open(packages=PACKAGES, clock=lambda: NOW, **settings)


def world(nexus=None):
    """The small memory, and the ids of its elements by handle."""
    nexus = nexus or opened()
    return nexus, nexus.execute(WORLD, {"policy": HALF_LIFE}).handles


def brain_of(nexus, **settings):
    return Brain(nexus, **settings)


def say(nexus, subject, predicate, value, by, **members):
    """One claim; its id."""
    fields = {"mode": "stated", "at": "2026-02-01T00:00:00.000Z", **members}
    listed = ", ".join(f"{name}: :{name}" for name in fields)
    text = f"ASSERT ?said (:subject, :predicate, :value) {{by: :by, {listed}}}"
    given = {"subject": subject, "predicate": predicate, "value": value, "by": by, **fields}
    return nexus.execute(text, given).handles["said"]


def refs(items):
    return [item["ref"] for item in items]
