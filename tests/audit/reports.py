"""A report with everything in it, and with hostile text wherever a memory or a script can put one."""

from kipql.audit.directives import Directives
from kipql.audit.expect import parse_expectation
from kipql.audit.report import Finding, Fixed, Outcome, Report
from kipql.audit.script import Step
from kipql.audit.suppress import parse_suppression
from kipql.errors import KipError
from kipql.runtime.texts import Problem
from kipql.spans import Span

HOSTILE = (
    'a\x1b[31m\u202e\x00\u200b\r\n::error::forged ##[group] ##vso[x] </testcase><x a="b\'"> ]]> &amp; '
    "[l](javascript:x) {0} | `c` <img src=x> @all \ud800 %0A =cmd()"
)
PATH = "audits/<b>\x1b[2J::x,%:.kql"


def step(name, line=3, path="audits/a.kql", **said):
    expect = parse_expectation(said.pop("expect", "empty"))
    return Step(path, line, "FIND(?c) WHERE {}", 0, "KQL", Directives(check=name, expect=expect, **said), ("?c.name",))


def outcome(made, findings=(), **rest):
    counting = sum(1 for finding in findings if not finding.known)
    return Outcome(made, tuple(findings), **{"found": len(findings), "counting": counting, "seconds": 0.25, **rest})


def finding(message, number, known=False, row=None, space_id=None):
    return Finding(message, row, {}, f"{number:032x}", known, space_id)


def full():
    """Every state of a check and of a finding."""
    late = parse_suppression(f"{HOSTILE.splitlines()[0]} until 2026-08-01")
    still = parse_suppression("being moved until 2026-12-31")
    error = KipError("SchemaSymbolNotFound", f"no {HOSTILE}", span=Span(5, 8), hint=HOSTILE, text="FIND(\x1b[1m) WHERE")
    return Report(
        outcomes=(
            outcome(
                step("hostile", path=PATH, severity="error", title=HOSTILE, tags=("t", "u"), owner=HOSTILE),
                (
                    finding(HOSTILE, 1, row={"c.name": HOSTILE, "c.n": 1, "c.x": None}),
                    finding("known\n", 2, known=True),
                    finding("elsewhere", 3, space_id="kip:space:\x1b[1m"),
                ),
                found=5,
                counting=4,
            ),
            outcome(step("noted", severity="note"), (finding("only a note", 4),)),
            outcome(step("moved", suppress=still), (finding("hidden away", 5),), suppressed=True, counting=0),
            outcome(step("late", suppress=late), (finding("back again", 6),), lapsed=True),
            outcome(step("absent", requires=("kip://x",)), skipped="kip://x is not active"),
            outcome(step("clean", line=40)),
            Outcome(Step("audits/a.kql", 50, "FIND(1)", 0, "KQL", Directives()), (), ("?n",), [(HOSTILE,)]),
            Outcome(Step("audits/a.kql", 60, "CREATE", 0, "KML", Directives()), receipt={"status": "committed"}),
        ),
        problems=(
            Problem(PATH, 7, 2, error),
            Problem("", 0, 0, KipError("NotFoundOrNotVisible", f"no check has the tag {HOSTILE}")),
        ),
        space_seq=12,
        warnings=(Problem("audits/a.kql", 9, 6, KipError("SchemaFieldNotFound", HOSTILE)),),
        fixed=(Fixed("gone", "f" * 32, HOSTILE),),
        space_id=None,
        now="2026-09-01T12:34:56.789Z",
        at=11,
        baseline=True,
    )


def clean():
    return Report(outcomes=(outcome(step("clean")),), space_seq=3, now="2026-09-01T12:34:56.789Z")
