"""A published dataset and the Wikipedia pages that its questions need, fetched into a folder; resumable.

OUT/test.tsv  OUT/pages/*.md  OUT/redirects.json  OUT/missing.jsonl  OUT/fetch.json
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from iterative_rag.errors import CorpusError, FetchError, UsageError
from iterative_rag.evaluation.datasets.frames_subsets import ALL
from iterative_rag.sources.web.page_client import contact_file, remembered_contact, user_agent

if TYPE_CHECKING:
    from iterative_rag.evaluation.questions import Question
    from iterative_rag.sources.web.page_client import Web
    from iterative_rag.sources.web.retry_policy import RetryPolicy
    from iterative_rag.sources.wikipedia.article_fetching import FetchProgress, Outcome, Wikis
    from iterative_rag.sources.wikipedia.page_names import PageName

SOURCES = {"frames": "https://huggingface.co/datasets/google/frames-benchmark/resolve/main/test.tsv"}
PAGES, REDIRECTS, MISSING, ABOUT = "pages", "redirects.json", "missing.jsonl", "fetch.json"

Asked = dict["PageName", dict[str, None]]


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What to fetch, and where to. `source` is a URL or a file; `subset` (see `frames_subsets`) and `limit` say for
    which questions the pages are fetched.

    `contact` ("" for that of an earlier command, or the project's own page) is named to the wikis, as they ask of
    robots. `api` is the address of their API, with "{language}" in it. `private_hosts`: the hosts of `source` and
    `api` need not be public.
    """

    dataset: str
    out: Path
    source: str = ""
    limit: int | None = None
    contact: str = ""
    api: str = ""
    subset: str = ALL
    private_hosts: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that are reached although they may not be public."""
        from iterative_rag.sources.web.transport import as_named

        if not self.private_hosts:
            return frozenset()
        typed = [self.api] if self.api else []
        typed += [self.source] if _is_url(self.source) else []
        return as_named(typed)


@dataclass(frozen=True, slots=True)
class NotFound:
    """A link of the dataset without a page: kind is missing, disambiguation, failed or "not a page".

    `nearest` are titles that may be meant; `questions` the ids of those that need the page.
    """

    asked: str
    kind: str
    reason: str
    nearest: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What is in the folder now. `fetched` of the `pages` came in this run; `redirects` are asked title -> title."""

    dataset: Path
    folder: Path
    questions: int
    links: int
    pages: int
    fetched: int
    redirects: Mapping[str, str]
    missing: tuple[NotFound, ...]
    seconds: float

    @property
    def failed(self) -> int:
        """Pages that exist but could not be fetched this time."""
        return sum(page.kind == "failed" for page in self.missing)


def fetch_dataset(
    plan: FetchPlan,
    *,
    progress: Callable[[FetchProgress], None] | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> FetchReport:
    """Fetch the dataset's file and all pages; pages already there are not fetched again.

    `allow` and `retry` are for tests: hosts that need not be public, and pauses that need not be waited for.
    Raises UsageError, FetchError, CorpusError or MissingExtra; the same call resumes.
    """
    from iterative_rag.evaluation.datasets import dataset_forms
    from iterative_rag.evaluation.datasets.frames_subsets import ids_of
    from iterative_rag.sources.web.page_client import Web
    from iterative_rag.sources.web.retry_policy import RetryPolicy
    from iterative_rag.sources.wikipedia.article_fetching import Wikis
    from iterative_rag.sources.wikipedia.mediawiki_api import API

    source = plan.source or _published(plan.dataset)
    before = _about(plan.out)
    own = "" if plan.contact else str(before.get("contact", ""))
    contact = own or remembered_contact(plan.contact, contact_file())
    retry = retry or RetryPolicy(on_pause=on_pause)
    with Web(user_agent(contact), allow={*allow, *plan.hosts}) as web:
        file = _dataset_file(plan.out, source, before, web, retry)
        dataset = dataset_forms.load(file)
        questions = dataset_forms.select(dataset, limit=plan.limit, ids=ids_of(dataset, plan.subset))
        about = {
            "dataset": plan.dataset,
            "source": source,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "contact": contact,
            "started": before.get("started") or _now(),
        }
        _write_json(plan.out / ABOUT, about)  # before the first page: a killed run remembers its source and contact
        wikis = Wikis(web, retry, api=plan.api or API)
        report = _Fetching(file, plan.out, questions).run(wikis, progress)
    _write_json(plan.out / REDIRECTS, dict(sorted(report.redirects.items())))
    rows = [json.dumps(asdict(page), ensure_ascii=False) + "\n" for page in report.missing]
    _write(plan.out / MISSING, "".join(rows))
    counts = {name: getattr(report, name) for name in ("questions", "links", "pages", "fetched", "failed", "seconds")}
    counts |= {"redirects": len(report.redirects), "missing": len(report.missing)}
    _write_json(plan.out / ABOUT, {**about, "finished": _now(), **counts})
    return report


def fetch_questions(
    plan: FetchPlan,
    *,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> Path:
    """The dataset's file without its pages: a local one as it lies there, else downloaded into the folder, once."""
    source = plan.source or _published(plan.dataset)
    if not _is_url(source):
        return Path(source).expanduser()
    from iterative_rag.sources.web.page_client import Web
    from iterative_rag.sources.web.retry_policy import RetryPolicy

    before = _about(plan.out)
    with Web(
        user_agent(plan.contact or remembered_contact("", contact_file()), required=False), allow={*allow, *plan.hosts}
    ) as web:
        file = _dataset_file(plan.out, source, before, web, retry or RetryPolicy(on_pause=on_pause))
    _write_json(plan.out / ABOUT, {**before, "dataset": plan.dataset, "source": source})
    return file


@dataclass
class _Fetching:
    """One run over the links of some questions."""

    dataset: Path
    out: Path
    questions: Sequence[Question]
    redirects: dict[str, str] = field(default_factory=dict)
    missing: list[NotFound] = field(default_factory=list)
    places: set[Path] = field(default_factory=set)
    fetched: set[Path] = field(default_factory=set)

    def run(self, wikis: Wikis, progress: Callable[[FetchProgress], None] | None) -> FetchReport:
        from iterative_rag.sources.wikipedia.article_fetching import fetch_into
        from iterative_rag.sources.wikipedia.article_files import PageFolder

        asked = self._asked()
        folder = PageFolder(self.out / PAGES)
        started = time.monotonic()
        for outcome in fetch_into(folder, asked, wikis, progress=progress):
            self._note(outcome, asked[outcome.name])
        links = {title for question in self.questions for title in question.gold_titles}
        return FetchReport(
            self.dataset,
            self.out / PAGES,
            len(self.questions),
            len(links),
            len(self.places),
            len(self.fetched),
            self.redirects,
            tuple(sorted(self.missing, key=lambda page: (page.kind, page.asked))),
            round(time.monotonic() - started, 1),
        )

    def _asked(self) -> Asked:
        """The pages that the questions need, each with the link text that names it."""
        from iterative_rag.sources.wikipedia.page_names import page_name

        asked: Asked = {}
        for title in dict.fromkeys(title for question in self.questions for title in question.gold_titles):
            try:
                asked.setdefault(page_name(title), {})[title] = None
            except UsageError as error:
                self.missing.append(NotFound(title, "not a page", str(error), (), self._needed_by(title)))
        return asked

    def _note(self, outcome: Outcome, asked: Collection[str]) -> None:
        from iterative_rag.sources.wikipedia.article_fetching import Stored

        if isinstance(outcome, Stored):
            self.places.add(outcome.place)
            if outcome.fetched:
                self.fetched.add(outcome.place)
            if outcome.title != outcome.name.title:
                self.redirects |= dict.fromkeys(asked, outcome.title)
            return
        self.missing.extend(
            NotFound(title, outcome.kind, outcome.reason, outcome.nearest, self._needed_by(title)) for title in asked
        )

    def _needed_by(self, title: str) -> tuple[str, ...]:
        return tuple(question.id for question in self.questions if title in question.gold_titles)


def _published(dataset: str) -> str:
    if dataset not in SOURCES:
        raise UsageError(f"There is no dataset {dataset!r} to fetch.", hint=f"One of: {', '.join(SOURCES)}.")
    return SOURCES[dataset]


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _dataset_file(out: Path, source: str, before: Mapping[str, Any], web: Web, retry: RetryPolicy) -> Path:
    """The dataset in the folder: there already from the same source, copied, or downloaded."""
    from iterative_rag.sources.web.page_client import status_error

    url = _is_url(source)
    file = out / (Path(urlsplit(source).path if url else source).name or "dataset.tsv")
    if file.is_file() and before.get("source") == source:
        return file
    if url:

        def download() -> bytes:
            reply = web.get(source)
            if reply.status >= 400:
                raise status_error(reply, {404: "Give another address, or a file: --source."})
            return reply.body

        data = retry.call(download)
    else:
        from iterative_rag.evaluation.datasets.question_files import read_bytes

        data = read_bytes(Path(source).expanduser())
    _write(file, data)
    return file


# --- files -----------------------------------------------------------------------------------


def _about(out: Path) -> dict[str, Any]:
    """The notes of the previous run; {} for the first."""
    try:
        about = json.loads((out / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{out / ABOUT} cannot be read: {error}.", hint="Remove it, or give another --out.") from error
    return about if isinstance(about, dict) else {}


def _write_json(path: Path, value: object) -> None:
    _write(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _write(path: Path, data: str | bytes) -> None:
    """Write atomically."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)
        os.replace(temporary, path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be written: {error.strerror}.", hint="Check the folder.") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
