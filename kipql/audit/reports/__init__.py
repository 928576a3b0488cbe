"""Reports: a Report as text, JSON, JUnit, SARIF, GitHub annotations and a Markdown summary, a file each.

Each is a pure function of the Report and of the severity that fails a run; each escapes for its own sink
(`kipql.escape`), since what a memory holds is data to all of them. The table names them, and a form is loaded when it
is written.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kipql.audit.report import Report

TEXT, JSON, JUNIT, SARIF, GITHUB, SUMMARY = "text", "json", "junit", "sarif", "github", "summary"

FORMATS: Mapping[str, str] = MappingProxyType(
    {TEXT: "text", JSON: "as_json", JUNIT: "junit", SARIF: "sarif", GITHUB: "github"}
)
"""The module of each form that a run is reported in; its function is `report_` and the form."""
_MODULES = {**FORMATS, SUMMARY: "summary"}


def rendered(report: "Report", form: str, fail_on: str) -> str:
    """A report in one of `FORMATS`, or as the `summary` of a build.

    fail_on  the least severity that fails the run, "never" for none
    """
    made: str = getattr(import_module(f"{__name__}.{_MODULES[form]}"), f"report_{form}")(report, fail_on)
    return made
