"""Finds the calls by which clients report on their own use, and what to answer to one that is dropped."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.config.host_patterns import HostMatcher, host_regexes
from gateway.detection.data_files import read_toml


@dataclass(frozen=True, slots=True)
class Report:
    """A kind of report: the beginning of its path, its hosts if only those are meant, and the answer."""

    path: str
    hosts: HostMatcher | None
    status: int
    body: bytes

    def matches(self, host: str, path: str) -> bool:
        """Tells whether a call is one of this kind."""
        return path.startswith(self.path) and (self.hosts is None or self.hosts(host, 443))


_REPORTS = tuple(
    Report(
        each["path"],
        HostMatcher(host_regexes(each["hosts"])) if "hosts" in each else None,
        each.get("status", 202),
        each.get("body", "{}").encode(),
    )
    for each in read_toml(__file__)["reports"]
)


def report_of(origin: str, path: str) -> Report | None:
    """Returns the kind of report that a call is, if it is one. `origin` is the scheme, host and port of its URL."""
    host = urlsplit(origin).hostname or ""
    return next((report for report in _REPORTS if report.matches(host, path)), None)
