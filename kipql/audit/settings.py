"""What a run is asked with: parameters, coordinates, bounds. Nothing here says how it is reported."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from kipql.audit.coordinates import AsOf
from kipql.audit.selection import Selection
from kipql.values import Json

NOW = "now"
"""The parameter that every statement may use without being given it: the time of the run."""


@dataclass(frozen=True, slots=True)
class Settings:
    """
    selection   which checks run
    parameters  values for placeholders; they win over what a check's `params:` says
    as_of       the state of the memory for statements that name none
    now         the time of the run, as the protocol writes it; None is the clock's. It is the parameter `:now`, decides
                whether a suppression is over, and when it is given it is the FOR TIME of statements that name none
    timeout     seconds for a statement
    jobs        how many statements run at once
    cancel      ends every query that this process asks, in whatever thread, once it is set; an interrupted run of
                threads sets it. Workers that are processes are ended instead
    """

    selection: Selection = field(default_factory=Selection)
    parameters: Mapping[str, Json] = field(default_factory=dict)
    as_of: AsOf | None = None
    now: str | None = None
    timeout: float | None = None
    jobs: int = 1
    cancel: threading.Event | None = None


DEFAULT = Settings()
