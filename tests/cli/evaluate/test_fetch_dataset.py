"""A published dataset and its pages into a corpus, from a wiki on loopback; through the command as users type it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.wikipedia_server import FakeTime, FakeWiki, Trouble
from iterative_rag.errors import AddressRefused, UsageError
from iterative_rag.evaluation import download
from iterative_rag.evaluation.download import FetchPlan, FetchReport
from iterative_rag.sources.web.page_client import RetryPolicy
from iterative_rag.sources.wikipedia.article_fetching import Progress

EN = "https://en.wikipedia.org/wiki/"
QUESTIONS = [
    ("Who lit the lamp of Gull Point?", "Mara Quill", ["Gull_Point", "Mara_Quill#Early_years"]),
    ("Which ship passed the Gull Light?", "the Heron", ["Gull_Light", "Heron_(ship)", "Heron"]),
    ("How tall is the tower at Nowhere?", "9 m", ["Gull_Poin", "Gull_Point", "Tower_of_Gull_Point"]),
]


def tsv(questions: list[tuple[str, str, list[str]]]) -> bytes:
    lines = ["Prompt\tAnswer\treasoning_types\twiki_links"]
    for prompt, answer, names in questions:
        links = [name if "/" in name else EN + name for name in names]
        lines.append(f"{prompt}\t{answer}\tMultiple constraints\t{links}")
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        running.add("Gull Point", "<p>Gull Point is a cape. Its lamp was lit by Mara Quill in 1857.</p>")
        running.add("Mara Quill", "<p>Mara Quill kept the light.</p>")
        running.add("Heron (ship)", "<table class=wikitable><tr><th>Ship</th></tr><tr><td>Heron</td></tr></table>")
        running.add("Heron", disambiguation=True, links=("Heron (ship)", "Heron (bird)"))
        running.redirects["Gull Light"] = ("Gull Point", "The lamp")
        running.files["/test.tsv"] = tsv(QUESTIONS)
        yield running


@pytest.fixture
def fetching(wiki: FakeWiki, tmp_path: Path) -> Callable[..., FetchReport]:
    def call(*, progress: Progress | None = None, **more: Any) -> FetchReport:
        plan = FetchPlan("frames", tmp_path / "frames", source=f"{wiki.url}/test.tsv", contact="me@example.org")
        return download.fetch_dataset(
            dataclasses.replace(plan, **{"api": wiki.api, **more}),
            progress=progress,
            allow={wiki.host},
            retry=RetryPolicy(sleep=FakeTime().sleep),
        )

    return call


def test_the_dataset_and_all_pages_that_it_links_to(
    wiki: FakeWiki, fetching: Callable[..., FetchReport], tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    report = fetching(progress=lambda done, of: seen.append((done, of)))
    out = tmp_path / "frames"
    assert (out / "test.tsv").read_bytes() == wiki.files["/test.tsv"]
    assert {path.name for path in (out / "pages").glob("*.md")} == {"Gull_Point.md", "Mara_Quill.md", "Heron_(ship).md"}
    assert "| Heron |" in (out / "pages" / "Heron_(ship).md").read_text()
    rows = {row["asked"]: row for row in map(json.loads, (out / "missing.jsonl").read_text().splitlines())}
    assert {asked: row["kind"] for asked, row in rows.items()} == {
        "Heron": "disambiguation",
        "Gull Poin": "missing",
        "Tower of Gull Point": "missing",
    }
    assert rows["Heron"]["nearest"] == ["Heron (ship)", "Heron (bird)"]
    assert rows["Gull Poin"]["nearest"] == ["Gull Point"]
    assert len(rows["Heron"]["questions"]) == 1
    assert (report.pages, report.fetched) == (3, 3)
    assert seen == [(done, 7) for done in range(1, 8)]
    assert "me@example.org" in next(iter(wiki.agents))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"source": "", "dataset": "hotpot"}, UsageError, "no dataset 'hotpot'"),
        ({"contact": ""}, UsageError, "contact"),
        ({"contact": "nobody"}, UsageError, "neither a mail address"),
        ({"source": "missing.tsv"}, UsageError, "no file missing.tsv"),
        ({"source": "http://["}, UsageError, "no file http"),
        ({"source": "http://127.0.0.1:1/test.tsv"}, AddressRefused, "not a public host"),
        ({"api": "http://10.0.0.1/{language}/api.php"}, AddressRefused, "not a public host"),
    ],
)
def test_what_cannot_be_fetched_says_why(
    change: dict[str, str], error: type[Exception], message: str, fetching: Callable[..., FetchReport]
) -> None:
    with pytest.raises(error, match=message):
        fetching(**change)


def test_the_command_fetches_indexes_and_says_what_is_next(
    wiki: FakeWiki, monkeypatch: pytest.MonkeyPatch, run: Command
) -> None:
    """No option lets `evaluate fetch` reach loopback, so the test lends it the switch."""
    real = download.fetch_dataset

    def local(plan: FetchPlan, **more: Any) -> FetchReport:
        retry = RetryPolicy(sleep=FakeTime().sleep, on_pause=more.pop("on_pause"))
        return real(plan, allow={wiki.host}, retry=retry, **more)

    monkeypatch.setattr(download, "fetch_dataset", local)
    wiki.troubles.append(Trouble("status", 429, "7"))
    given = ("--source", f"{wiki.url}/test.tsv", "--api", wiki.api, "--contact", "me@example.org")
    done = run("evaluate", "fetch", "frames", *given, "--out", "data", "--corpus", "lamps")
    assert done.code == 0
    assert "3 pages" in done.err
    assert "iterative-rag evaluate run --dataset data/test.tsv --corpus lamps" in done.out
    assert "Waiting 7 s" in done.err
    assert "3 links have no page: data/missing.jsonl" in done.err
    assert run("search", "who lit the lamp", "--corpus", "lamps", "--limit", "1").code == 0
