"""What the server counts, in the text format of Prometheus: requests, errors by code, latency, the head."""

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one server; safe from several threads."""

    def __init__(self, space_seq: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self._registry}
        self._requests = Counter("kipql_requests", "Requests by HTTP status.", ["status"], **own)
        self._operations = Counter("kipql_operations", "Operations by their status.", ["status"], **own)
        self._errors = Counter("kipql_errors", "Errors of requests and operations by code.", ["code"], **own)
        self._seconds = Histogram("kipql_request_seconds", "Seconds a request took.", buckets=_BUCKETS, **own)
        self.running = Gauge("kipql_requests_running", "Requests under way.", **own)
        Gauge("kipql_space_seq", "The sequence of the last commit.", **own).set_function(space_seq)

    def answered(self, status: int, reply: Mapping[str, Any], seconds: float) -> None:
        """Count a request with its response envelope."""
        self._requests.labels(str(status)).inc()
        self._seconds.observe(seconds)
        if "error" in reply:
            self._errors.labels(reply["error"]["code"]).inc()
        for result in reply.get("results", ()):
            self._operations.labels(result["status"]).inc()
            if "error" in result:
                self._errors.labels(result["error"]["code"]).inc()

    def text(self) -> bytes:
        """All of it, as it is scraped."""
        return generate_latest(self._registry)
