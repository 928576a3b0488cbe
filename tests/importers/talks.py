"""What was claimed in the imported conversations, and fifty questions about it, as tables.

A claim is a short paraphrase of one message, named by its `dia_id`, in the speaker's name; the text itself stays in
the public files. A date is what the message says of it: a day, a week, "since we last talked", or nothing, and then it
held by the time of the message. Answers are those of somebody who has read the conversation with care.
"""

from typing import Any, NamedTuple

Bound = str | tuple[str | None, str | None] | None
END = "2030-01-01"


class Said(NamedTuple):
    """One claim. `name` is how questions refer to it; `since` and `until` are days, (first, last) days or instants."""

    name: str
    dia_id: str
    who: str
    predicate: str
    value: str | float | bool
    since: Bound = None
    until: Bound = None
    stance: str = "support"
    mode: str = "stated"


class Asked(NamedTuple):
    """One question: what did `who` say about `predicate` (and `value`), and is it so?

    kind     FIND (what was said), BELIEF (is it still so), AS OF SEQ (what was known before a claim was recorded:
             `before`), FOR TIME (was it so then: `at`)
    status   of the belief, of the slot where no value is asked about; `accepted` values of a slot
    said     the messages behind every claim on it, as (dia_id, stance), in the order they were made
    counts   the messages behind the claims that decide the answer
    over     those behind the claims that an end or a successor has put in the past
    """

    kind: str
    who: str
    predicate: str
    value: str | float | bool | None
    status: str
    accepted: tuple[Any, ...] = ()
    counts: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    at: str | None = None
    before: str | None = None
    hypothetical: bool = False


# Predicates by what they declare; everything else is non-functional.
FUNCTIONAL = ("adoption", "aptitude_test", "studio", "internship", "turtles", "dogs", "tournaments_won", "nike_deal")
BOOLEAN = ("employed",)
PLAIN = (
    "works_as", "has", "has_pet", "goes_to", "has_been_to", "practises", "plays", "member_of", "allergic_to",
    "tolerates", "married", "will_live_in",
)  # fmt: skip

CLAIMS: dict[str, tuple[Said, ...]] = {
    "26": (
        Said("researching", "D2:8", "Caroline", "adoption", "researching agencies"),
        Said("pottery", "D5:4", "Melanie", "practises", "pottery", since="2023-07-02"),
        Said("piano", "D5:5", "Caroline", "plays", "piano"),
        Said("luna", "D7:18", "Melanie", "has_pet", "Luna"),
        Said("oliver", "D7:18", "Melanie", "has_pet", "Oliver"),
        Said("applied", "D13:1", "Caroline", "adoption", "applied", since=("2023-08-21", "2023-08-23")),
        Said("oscar", "D13:3", "Caroline", "has_pet", "Oscar"),
        Said("bailey", "D13:4", "Melanie", "has_pet", "Bailey"),
        Said("guitar", "D15:21", "Caroline", "plays", "acoustic guitar"),
        Said("no pottery", "D16:11", "Caroline", "practises", "pottery", stance="reject"),
        Said("break", "D17:8", "Melanie", "practises", "pottery", since=("2023-09-01", "2023-09-30"), stance="reject"),
        Said("passed", "D19:1", "Caroline", "adoption", "passed the interviews", since="2023-10-20"),
    ),
    "30": (
        Said("banker", "D1:2", "Jon", "works_as", "banker", since=(None, "2023-01-17"), until="2023-01-19"),
        Said(
            "courier",
            "D1:3",
            "Gina",
            "works_as",
            "Door Dash",
            since=(None, "2022-12-31"),
            until=("2023-01-01", "2023-01-20"),
        ),
        Said("paris", "D2:4", "Jon", "has_been_to", "Paris", since="2023-01-28"),
        Said("gina rome", "D2:5", "Gina", "has_been_to", "Rome"),
        Said("gina paris", "D2:5", "Gina", "has_been_to", "Paris", stance="reject"),
        Said("searching", "D3:1", "Jon", "studio", "looking for a place"),
        Said("gym", "D6:1", "Jon", "goes_to", "gym", since=("2023-03-06", "2023-03-12")),
        Said("no account", "D8:1", "Jon", "has", "bank account", stance="reject"),
        Said("interview", "D11:14", "Gina", "internship", "interviewed", since="2023-05-10"),
        Said("intern", "D12:1", "Gina", "internship", "accepted"),
        Said("rome", "D15:1", "Jon", "has_been_to", "Rome", since=("2023-06-12", "2023-06-18")),
        Said("shaky", "D18:2", "Jon", "studio", "on tenuous grounds"),
        Said("temp", "D18:2", "Jon", "works_as", "temporary job"),
    ),
    "41": (
        Said("failed", "D3:11", "John", "aptitude_test", "failed"),
        Said("passed", "D8:18", "John", "aptitude_test", "great results", since=("2023-02-27", "2023-03-05")),
        Said("church", "D14:10", "Maria", "member_of", "church", since="2023-05-05"),
        Said("max", "D17:1", "John", "has_pet", "Max", since=(None, "2014-06-03"), until=("2023-05-25", "2023-06-03")),
        Said("promoted", "D19:8", "John", "employed", True),
        Said("brigade", "D26:2", "John", "member_of", "fire-fighting brigade"),
        Said("jobless", "D28:1", "John", "employed", False, since=("2023-08-03", "2023-08-05")),
        Said("coco", "D30:1", "Maria", "has_pet", "Coco", since=("2023-07-24", "2023-07-30")),
        Said("shadow", "D31:4", "Maria", "has_pet", "Shadow", since=("2023-07-31", "2023-08-12")),
        Said("brigade again", "D32:1", "John", "member_of", "fire-fighting brigade"),
    ),
    "42": (
        Said("first win", "D1:3", "Nate", "tournaments_won", 1),
        Said("two turtles", "D2:14", "Nate", "turtles", 2),
        Said("reptiles", "D2:23", "Joanna", "allergic_to", "most reptiles"),
        Said("fur", "D2:23", "Joanna", "allergic_to", "animals with fur"),
        Said("cockroaches", "D5:11", "Joanna", "allergic_to", "cockroaches"),
        Said("lactose", "D8:18", "Joanna", "tolerates", "lactose", stance="reject"),
        Said("second win", "D10:4", "Nate", "tournaments_won", 2, since=("2022-04-25", "2022-05-01")),
        Said("max", "D12:3", "Nate", "has_pet", "Max"),
        Said("fourth win", "D17:1", "Nate", "tournaments_won", 4, since="2022-07-08"),
        Said("three turtles", "D28:25", "Nate", "turtles", 3, since=("2022-11-07", "2022-11-09")),
    ),
    "43": (
        Said("considering", "D2:4", "John", "nike_deal", "considering"),
        Said("signed", "D3:13", "John", "nike_deal", "signed"),
        Said("piano", "D8:12", "Tim", "plays", "piano"),
        Said("wedding", "D12:2", "John", "married", True, since=("2023-09-25", "2023-10-01")),
        Said("violin", "D21:11", "Tim", "plays", "violin"),
        Said("galway", "D28:3", "Tim", "will_live_in", "Galway", since=("2024-02-01", "2024-02-29"), mode="predicted"),
    ),
    "44": (
        Said("analyst", "D1:2", "Andrew", "works_as", "financial analyst", since=("2023-03-20", "2023-03-26")),
        Said("no pets", "D1:12", "Andrew", "dogs", 0),
        Said("one", "D12:1", "Andrew", "dogs", 1, since=("2023-07-08", "2023-07-11")),
        Said("toby", "D12:1", "Andrew", "has_pet", "Toby", since=("2023-07-08", "2023-07-11")),
        Said("two", "D24:2", "Andrew", "dogs", 2, since=("2023-10-13", "2023-10-19")),
        Said("buddy", "D24:6", "Andrew", "has_pet", "Buddy", since=("2023-10-13", "2023-10-19")),
        Said("three", "D28:8", "Andrew", "dogs", 3, since=("2023-11-04", "2023-11-22")),
        Said("scout", "D28:8", "Andrew", "has_pet", "Scout", since=("2023-11-04", "2023-11-22")),
    ),
}

FIND, BELIEF, AS_OF, FOR_TIME = "FIND", "BELIEF", "AS OF SEQ", "FOR TIME"

QUESTIONS: dict[str, tuple[Asked, ...]] = {
    "26": (
        Asked(BELIEF, "Caroline", "adoption", None, "accepted", ("passed the interviews",), ("D19:1",),
              ("D2:8", "D13:1")),
        Asked(FOR_TIME, "Caroline", "adoption", None, "accepted", ("applied",), ("D13:1",), ("D2:8",), at="2023-09-15"),
        Asked(FOR_TIME, "Caroline", "adoption", None, "accepted", ("researching agencies",), ("D2:8",),
              at="2023-06-15"),
        Asked(FOR_TIME, "Caroline", "adoption", None, "uncertain", at="2023-08-22"),
        Asked(AS_OF, "Caroline", "adoption", None, "accepted", ("applied",), ("D13:1",), ("D2:8",), before="passed"),
        Asked(FIND, "Melanie", "has_pet", None, "accepted", ("Luna", "Oliver", "Bailey"), ("D7:18", "D7:18", "D13:4"),
              said=(("D7:18", "support"), ("D7:18", "support"), ("D13:4", "support"))),
        Asked(FOR_TIME, "Melanie", "has_pet", "Bailey", "uncertain", at="2023-07-20"),
        Asked(BELIEF, "Melanie", "practises", "pottery", "rejected", (), ("D17:8",), ("D5:4",)),
        Asked(FOR_TIME, "Melanie", "practises", "pottery", "accepted", (), ("D5:4",), at="2023-08-01"),
        Asked(FOR_TIME, "Melanie", "practises", "pottery", "uncertain", at="2023-09-15"),
        Asked(AS_OF, "Melanie", "practises", "pottery", "accepted", (), ("D5:4",), before="break"),
        Asked(BELIEF, "Caroline", "practises", "pottery", "rejected", (), ("D16:11",)),
        Asked(FIND, "Caroline", "plays", None, "accepted", ("piano", "acoustic guitar"), ("D5:5", "D15:21"),
              said=(("D5:5", "support"), ("D15:21", "support"))),
    ),
    "30": (
        Asked(BELIEF, "Jon", "works_as", "banker", "insufficient", (), (), ("D1:2",)),
        Asked(FOR_TIME, "Jon", "works_as", "banker", "accepted", (), ("D1:2",), at="2023-01-18"),
        Asked(FOR_TIME, "Jon", "works_as", "banker", "uncertain", at="2023-01-19T12:00:00.000Z"),
        Asked(FOR_TIME, "Gina", "works_as", "Door Dash", "uncertain", at="2023-01-10"),
        Asked(BELIEF, "Gina", "works_as", "Door Dash", "insufficient", (), (), ("D1:3",)),
        Asked(BELIEF, "Jon", "studio", None, "accepted", ("on tenuous grounds",), ("D18:2",), ("D3:1",)),
        Asked(FOR_TIME, "Jon", "studio", None, "uncertain", at="2023-06-25"),
        Asked(AS_OF, "Jon", "studio", None, "accepted", ("looking for a place",), ("D3:1",), before="shaky"),
        Asked(BELIEF, "Jon", "has", "bank account", "rejected", (), ("D8:1",)),
        Asked(FOR_TIME, "Jon", "goes_to", "gym", "uncertain", at="2023-03-08"),
        Asked(FOR_TIME, "Jon", "goes_to", "gym", "insufficient", at="2023-03-01"),
        Asked(BELIEF, "Jon", "goes_to", "gym", "accepted", (), ("D6:1",)),
        Asked(BELIEF, "Gina", "internship", None, "accepted", ("accepted",), ("D12:1",), ("D11:14",)),
        Asked(AS_OF, "Gina", "internship", None, "accepted", ("interviewed",), ("D11:14",), before="intern"),
        Asked(FIND, "Jon", "has_been_to", None, "accepted", ("Paris", "Rome"), ("D2:4", "D15:1"),
              said=(("D2:4", "support"), ("D15:1", "support"))),
        Asked(BELIEF, "Gina", "has_been_to", "Paris", "rejected", (), ("D2:5",)),
    ),
    "41": (
        Asked(BELIEF, "John", "aptitude_test", None, "accepted", ("great results",), ("D8:18",), ("D3:11",)),
        Asked(FOR_TIME, "John", "aptitude_test", None, "accepted", ("failed",), ("D3:11",), at="2023-02-01"),
        Asked(FOR_TIME, "John", "aptitude_test", None, "uncertain", at="2023-03-01"),
        Asked(AS_OF, "John", "aptitude_test", None, "accepted", ("failed",), ("D3:11",), before="passed"),
        Asked(BELIEF, "John", "employed", True, "rejected", (), ("D28:1",), ("D19:8",)),
        Asked(FOR_TIME, "John", "employed", True, "accepted", (), ("D19:8",), at="2023-07-01"),
        Asked(FOR_TIME, "John", "employed", True, "uncertain", at="2023-08-04"),
        Asked(AS_OF, "John", "employed", False, "rejected", (), ("D19:8",), before="jobless"),
        Asked(BELIEF, "John", "has_pet", "Max", "insufficient", (), (), ("D17:1",)),
        Asked(FOR_TIME, "John", "has_pet", "Max", "accepted", (), ("D17:1",), at="2020-01-01"),
        Asked(FIND, "Maria", "has_pet", None, "accepted", ("Coco", "Shadow"), ("D30:1", "D31:4"),
              said=(("D30:1", "support"), ("D31:4", "support"))),
        Asked(FOR_TIME, "Maria", "has_pet", "Coco", "uncertain", at="2023-07-27"),
        Asked(FOR_TIME, "Maria", "member_of", "church", "insufficient", at="2023-05-01"),
        Asked(FIND, "John", "member_of", "fire-fighting brigade", "accepted", (), ("D26:2", "D32:1"),
              said=(("D26:2", "support"), ("D32:1", "support"))),
    ),
    "42": (
        Asked(BELIEF, "Nate", "turtles", None, "accepted", (3,), ("D28:25",), ("D2:14",)),
        Asked(FOR_TIME, "Nate", "turtles", None, "accepted", (2,), ("D2:14",), at="2022-06-01"),
        Asked(FOR_TIME, "Nate", "turtles", None, "uncertain", at="2022-11-08"),
        Asked(FOR_TIME, "Nate", "tournaments_won", None, "accepted", (4,), ("D17:1",), ("D1:3", "D10:4"),
              at="2022-07-15"),
        Asked(AS_OF, "Nate", "tournaments_won", None, "accepted", (2,), ("D10:4",), ("D1:3",), at="2022-07-15",
              before="fourth win"),
        Asked(FIND, "Joanna", "allergic_to", None, "accepted", ("most reptiles", "animals with fur", "cockroaches"),
              ("D2:23", "D2:23", "D5:11"), said=(("D2:23", "support"), ("D2:23", "support"), ("D5:11", "support"))),
        Asked(FIND, "Joanna", "tolerates", "lactose", "rejected", (), ("D8:18",), said=(("D8:18", "reject"),)),
        Asked(BELIEF, "Nate", "has_pet", "Max", "accepted", (), ("D12:3",)),
    ),
    "43": (
        Asked(BELIEF, "John", "nike_deal", None, "accepted", ("signed",), ("D3:13",), ("D2:4",)),
        Asked(AS_OF, "John", "nike_deal", None, "accepted", ("considering",), ("D2:4",), before="signed"),
        Asked(FOR_TIME, "John", "nike_deal", None, "uncertain", at="2023-07-01"),
        Asked(FOR_TIME, "John", "married", True, "insufficient", at="2023-09-01"),
        Asked(BELIEF, "John", "married", True, "accepted", (), ("D12:2",)),
        Asked(FIND, "Tim", "plays", None, "accepted", ("piano", "violin"), ("D8:12", "D21:11"),
              said=(("D8:12", "support"), ("D21:11", "support"))),
        Asked(FOR_TIME, "Tim", "will_live_in", "Galway", "insufficient", at="2024-03-15"),
        Asked(FOR_TIME, "Tim", "will_live_in", "Galway", "accepted", (), ("D28:3",), at="2024-03-15",
              hypothetical=True),
    ),
    "44": (
        Asked(BELIEF, "Andrew", "dogs", None, "accepted", (3,), ("D28:8",), ("D1:12", "D12:1", "D24:2")),
        Asked(FOR_TIME, "Andrew", "dogs", None, "accepted", (1,), ("D12:1",), ("D1:12",), at="2023-09-01"),
        Asked(FOR_TIME, "Andrew", "dogs", None, "accepted", (0,), ("D1:12",), at="2023-05-01"),
        Asked(FOR_TIME, "Andrew", "dogs", None, "uncertain", over=("D1:12",), at="2023-10-15"),
        Asked(AS_OF, "Andrew", "dogs", None, "accepted", (2,), ("D24:2",), ("D1:12", "D12:1"), at="2023-12-01",
              before="three"),
        Asked(FIND, "Andrew", "has_pet", None, "accepted", ("Toby", "Buddy", "Scout"), ("D12:1", "D24:6", "D28:8"),
              said=(("D12:1", "support"), ("D24:6", "support"), ("D28:8", "support"))),
        Asked(FOR_TIME, "Andrew", "works_as", "financial analyst", "insufficient", at="2023-03-01"),
        Asked(BELIEF, "Andrew", "works_as", "financial analyst", "accepted", (), ("D1:2",)),
    ),
}  # fmt: skip
