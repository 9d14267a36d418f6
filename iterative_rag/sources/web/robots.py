"""robots.txt (RFC 9309), fetched within our own limits and cached for the run."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from iterative_rag.errors import FetchError
from iterative_rag.sources.web.contact import ROBOT
from iterative_rag.sources.web.page_client import PageResponse

_MAX_BYTES = 500 * 1024  # the RFC asks for at least as much


class Robots:
    """`get` fetches an address. Python's parser applies the first matching rule and no `*` in paths."""

    def __init__(self, get: Callable[[str], PageResponse]) -> None:
        self._get = get
        self._known: dict[str, RobotFileParser] = {}

    def allow(self, url: str) -> bool:
        """Whether we may fetch this. A site without the file allows all; one whose file fails to load forbids all."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}".lower()
        if site not in self._known:
            self._known[site] = self._rules(site)
        return self._known[site].can_fetch(ROBOT, url)

    def _rules(self, site: str) -> RobotFileParser:
        """Raises FetchError where the site cannot be reached at all."""
        rules = RobotFileParser()
        try:
            reply = self._get(f"{site}/robots.txt")
        except FetchError as error:
            if error.status is None:
                raise
            rules.parse(["User-agent: *", "Disallow: /"])
            return rules
        if 400 <= reply.status < 500:
            rules.parse([])
        else:
            rules.parse(reply.body[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines())
        return rules
