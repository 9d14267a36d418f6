"""A published dataset and the Wikipedia pages that its questions need, fetched into a folder; resumable.

OUT/test.tsv  OUT/pages/*.md  OUT/missing.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from iterative_rag.errors import FetchError, UsageError
from iterative_rag.evaluation.frames import ALL
from iterative_rag.sources.web.page_client import user_agent
from iterative_rag.system.files import write_whole

if TYPE_CHECKING:
    from iterative_rag.evaluation.records import Question
    from iterative_rag.sources.web.page_client import RetryPolicy
    from iterative_rag.sources.wikipedia.article_fetching import Progress
    from iterative_rag.sources.wikipedia.page_names import PageName

SOURCES = {"frames": "https://huggingface.co/datasets/google/frames-benchmark/resolve/main/test.tsv"}
PAGES, MISSING = "pages", "missing.jsonl"


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What to fetch, and where to. `source` is a URL or a file; `subset` (see `frames`) and `limit` say for
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
    """What is in the folder now. `fetched` of the `pages` came in this run."""

    dataset: Path
    folder: Path
    pages: int
    fetched: int
    missing: tuple[NotFound, ...]

    @property
    def failed(self) -> int:
        """Pages that exist but could not be fetched this time."""
        return sum(page.kind == "failed" for page in self.missing)


def fetch_dataset(
    plan: FetchPlan,
    *,
    progress: Progress | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> FetchReport:
    """Fetch the dataset's file and all pages; pages already there are not fetched again.

    `allow` and `retry` are for tests: hosts that need not be public, and pauses that need not be waited for.
    Raises UsageError, FetchError, CorpusError or MissingExtra; the same call resumes.
    """
    from iterative_rag.app.factory import fetch_wikipedia
    from iterative_rag.evaluation.dataset_forms import load, select
    from iterative_rag.evaluation.frames import ids_of
    from iterative_rag.sources.web.page_client import RetryPolicy
    from iterative_rag.sources.wikipedia.article_fetching import Wanted

    retry = retry or RetryPolicy(on_pause=on_pause)
    user_agent(plan.contact)  # that the wikis ask for one is told before anything is fetched
    file = fetch_questions(plan, allow=allow, retry=retry)
    dataset = load(file)
    questions = select(dataset, limit=plan.limit, ids=ids_of(dataset, plan.subset))
    asked, missing = _pages_of(questions)
    collected = fetch_wikipedia(
        Wanted(tuple(asked)),
        folder=plan.out / PAGES,
        contact=plan.contact,
        api=plan.api,
        private_hosts=plan.private_hosts,
        progress=progress,
        allow=allow,
        retry=retry,
    )
    for page in collected.missing:
        for title in asked[page.name]:
            missing.append(NotFound(title, page.kind, page.reason, page.nearest, _needing(title, questions)))
    missing.sort(key=lambda page: (page.kind, page.asked))
    rows = [json.dumps(asdict(page), ensure_ascii=False) + "\n" for page in missing]
    write_whole(plan.out / MISSING, "".join(rows).encode())
    return FetchReport(file, collected.folder, len(collected.stored), collected.fetched, tuple(missing))


def fetch_questions(
    plan: FetchPlan,
    *,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> Path:
    """The dataset's file without its pages: a local one as it lies there, else downloaded into the folder, once."""
    from iterative_rag.sources.web.page_client import RetryPolicy, Web, is_fetchable, status_error
    from iterative_rag.sources.web.transport import as_named

    if not plan.source and plan.dataset not in SOURCES:
        raise UsageError(f"There is no dataset {plan.dataset!r} to fetch.", hint=f"One of: {', '.join(SOURCES)}.")
    source = plan.source or SOURCES[plan.dataset]
    if not is_fetchable(source):
        return Path(source).expanduser()
    file = plan.out / (Path(urlsplit(source).path).name or "dataset.tsv")
    if file.is_file():
        return file
    own = as_named([plan.source]) if plan.private_hosts and plan.source else frozenset()
    with Web(user_agent(plan.contact, required=False), allow={*allow, *own}) as web:

        def download() -> bytes:
            reply = web.get(source)
            if reply.status >= 400:
                raise status_error(reply, {404: "Give another address, or a file: --source."})
            return reply.body

        write_whole(file, (retry or RetryPolicy(on_pause=on_pause)).call(download))
    return file


def _pages_of(questions: Sequence[Question]) -> tuple[dict[PageName, list[str]], list[NotFound]]:
    """The pages that the questions need, each with the link texts that name it, and the links that name none."""
    from iterative_rag.sources.wikipedia.page_names import page_name

    asked: dict[PageName, list[str]] = {}
    missing = []
    for title in dict.fromkeys(title for question in questions for title in question.gold_titles):
        try:
            asked.setdefault(page_name(title), []).append(title)
        except UsageError as error:
            missing.append(NotFound(title, "not a page", str(error), (), _needing(title, questions)))
    return asked, missing


def _needing(title: str, questions: Sequence[Question]) -> tuple[str, ...]:
    return tuple(question.id for question in questions if title in question.gold_titles)
