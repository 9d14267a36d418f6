"""A published dataset and its pages into a corpus, from a wiki on loopback; through the command as users type it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.wikipedia_server import FakeTime, FakeWiki, Trouble, is_page
from iterative_rag.cli import main
from iterative_rag.errors import AddressRefused, FetchError, UsageError
from iterative_rag.evaluation.datasets import download
from iterative_rag.evaluation.datasets.download import FetchPlan, FetchReport
from iterative_rag.sources.web import page_client
from iterative_rag.sources.web.retry_policy import RetryPolicy
from iterative_rag.sources.wikipedia.article_fetching import FetchProgress

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
def clock() -> FakeTime:
    return FakeTime()


@pytest.fixture
def fetching(wiki: FakeWiki, clock: FakeTime, tmp_path: Path) -> Callable[..., FetchReport]:
    def call(*, progress: Callable[[FetchProgress], None] | None = None, **more: Any) -> FetchReport:
        plan = FetchPlan("frames", tmp_path / "frames", source=f"{wiki.url}/test.tsv", contact="me@example.org")
        return download.fetch_dataset(
            dataclasses.replace(plan, **{"api": wiki.api, **more}),
            progress=progress,
            allow={wiki.host},
            retry=RetryPolicy(sleep=clock.sleep, now=clock.now),
        )

    return call


def test_the_dataset_and_all_pages_that_it_links_to(
    wiki: FakeWiki, fetching: Callable[..., FetchReport], tmp_path: Path
) -> None:
    seen: list[FetchProgress] = []
    report = fetching(progress=seen.append)
    out = tmp_path / "frames"
    assert (out / "test.tsv").read_bytes() == wiki.files["/test.tsv"]
    assert {path.name for path in (out / "pages").glob("*.md")} == {"Gull_Point.md", "Mara_Quill.md", "Heron_(ship).md"}
    assert "| Heron |" in (out / "pages" / "Heron_(ship).md").read_text()
    assert json.loads((out / "redirects.json").read_text()) == {"Gull Light": "Gull Point"}
    rows = {row["asked"]: row for row in map(json.loads, (out / "missing.jsonl").read_text().splitlines())}
    assert {asked: row["kind"] for asked, row in rows.items()} == {
        "Heron": "disambiguation",
        "Gull Poin": "missing",
        "Tower of Gull Point": "missing",
    }
    assert rows["Heron"]["nearest"] == ["Heron (ship)", "Heron (bird)"]
    assert rows["Gull Poin"]["nearest"] == ["Gull Point"]
    assert len(rows["Heron"]["questions"]) == 1
    about = json.loads((out / "fetch.json").read_text())
    assert about["sha256"] == hashlib.sha256(wiki.files["/test.tsv"]).hexdigest()
    counts = {"questions": 3, "links": 7, "pages": 3, "fetched": 3, "redirects": 1, "missing": 3, "failed": 0}
    assert {name: about[name] for name in counts} == counts
    assert about["started"] <= about["finished"]
    assert (report.pages, report.fetched, report.links) == (3, 3, 7)
    assert [at.done for at in seen] == list(range(1, 8))
    assert {at.total for at in seen} == {7}
    assert "me@example.org" in next(iter(wiki.agents))


def test_the_same_command_again_fetches_no_page_twice_and_needs_no_contact(
    wiki: FakeWiki, fetching: Callable[..., FetchReport]
) -> None:
    fetching()
    del wiki.files["/test.tsv"]  # nor is the dataset asked for again
    report = fetching(contact="")
    assert (report.pages, report.fetched) == (3, 0)
    assert wiki.sent == Counter({"Gull Point": 1, "Mara Quill": 1, "Heron (ship)": 1})
    assert report.redirects == {"Gull Light": "Gull Point"}


def test_a_limit_takes_the_first_questions_and_the_rest_comes_later(
    wiki: FakeWiki, fetching: Callable[..., FetchReport]
) -> None:
    assert (fetching(limit=1).questions, set(wiki.sent)) == (1, {"Gull Point", "Mara Quill"})
    assert fetching().fetched == 1
    assert set(wiki.sent.values()) == {1}


def test_an_interrupted_run_goes_on(wiki: FakeWiki, fetching: Callable[..., FetchReport], tmp_path: Path) -> None:
    def interrupt(at: FetchProgress) -> None:
        if at.fetched:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetching(progress=interrupt)
    assert json.loads((tmp_path / "frames" / "fetch.json").read_text())["contact"] == "me@example.org"
    fetching(contact="")
    assert set(wiki.sent.values()) == {1}


def test_a_local_file_of_another_form_and_other_wikis(
    wiki: FakeWiki, fetching: Callable[..., FetchReport], tmp_path: Path
) -> None:
    links = ["Gull Point", "https://de.wikipedia.org/wiki/Heron_(ship)", "https://example.org/wiki/Lamp"]
    row = {"question": "Where?", "answer": "there", "gold_titles": links}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row) + "\n")
    report = fetching(source=str(tmp_path / "mine.jsonl"))
    assert report.dataset == tmp_path / "frames" / "mine.jsonl"
    assert report.pages == 2
    assert "\nlanguage: de\n" in (tmp_path / "frames" / "pages" / "Heron_(ship).md").read_text()
    assert [(one.asked, one.kind) for one in report.missing] == [("https://example.org/wiki/Lamp", "not a page")]


def test_a_page_that_fails_is_listed_and_tried_again(wiki: FakeWiki, fetching: Callable[..., FetchReport]) -> None:
    wiki.hits, wiki.always = lambda asked: is_page(asked) and asked["oldid"] == "101", Trouble("error")
    report = fetching()
    assert [(one.asked, one.kind) for one in report.missing if one.kind == "failed"] == [("Mara Quill", "failed")]
    assert (report.failed, report.pages) == (1, 2)
    wiki.always = None
    assert (fetching().failed, fetching().pages) == (0, 3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"source": "", "dataset": "hotpot"}, UsageError, "no dataset 'hotpot'"),
        ({"contact": ""}, UsageError, "contact"),
        ({"contact": "nobody"}, UsageError, "neither a mail address"),
        ({"source": "missing.tsv"}, UsageError, "no file missing.tsv"),
        ({"source": "http://127.0.0.1:1/test.tsv"}, AddressRefused, "not a public host"),
        ({"api": "http://10.0.0.1/{language}/api.php"}, AddressRefused, "not a public host"),
    ],
)
def test_what_cannot_be_fetched_says_why(
    change: dict[str, str], error: type[Exception], message: str, fetching: Callable[..., FetchReport],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(page_client, "homepage", lambda: "")
    with pytest.raises(error, match=message):
        fetching(**change)


def test_a_dataset_that_is_not_there_is_an_error(wiki: FakeWiki, fetching: Callable[..., FetchReport]) -> None:
    with pytest.raises(FetchError, match="404") as raised:
        fetching(source=f"{wiki.url}/gone.tsv")
    assert "--source" in raised.value.hint


# --- the command -----------------------------------------------------------------------------

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(wiki: FakeWiki, clock: FakeTime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> Run:
    """`evaluate fetch` in this process: no option lets it reach loopback, so the test lends it the switch."""
    real = download.fetch_dataset

    def local(plan: FetchPlan, **more: Any) -> FetchReport:
        retry = RetryPolicy(sleep=clock.sleep, now=clock.now, on_pause=more.pop("on_pause"))
        return real(plan, allow={wiki.host}, retry=retry, **more)

    monkeypatch.setattr(download, "fetch_dataset", local)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        given = ["--source", f"{wiki.url}/test.tsv", "--api", wiki.api, "--contact", "me@example.org"]
        with pytest.raises(SystemExit) as raised:
            main(["evaluate", "fetch", "frames", *given, *arguments])
        printed = capsys.readouterr()
        return int(raised.value.code or 0), printed.out, printed.err

    return call


def test_the_command_fetches_indexes_and_says_what_is_next(wiki: FakeWiki, command: Run) -> None:
    wiki.troubles.append(Trouble("status", 429, "7"))
    code, out, err = command("--out", "data", "--corpus", "lamps")
    assert code == 0
    assert "3 pages" in out
    assert "iterative-rag evaluate run --dataset data/test.tsv --corpus lamps" in out
    assert "Waiting 7 s" in err
    assert "Heron (disambiguation)" in err
    assert "Near: Heron (ship), Heron (bird)" in err
    with pytest.raises(SystemExit) as raised:
        main(["search", "who lit the lamp", "--corpus", "lamps", "--limit", "1"])
    assert raised.value.code in (0, None)


def test_the_command_as_json_and_again(wiki: FakeWiki, command: Run) -> None:
    code, out, _ = command("--json")
    first = json.loads(out)
    assert code == 0
    assert {name: first[name] for name in ("pages", "fetched", "corpus", "links", "failed")} == {
        "pages": 3, "fetched": 3, "corpus": "frames", "links": 7, "failed": 0,
    }  # fmt: skip
    assert first["indexed"] == {"added": 3, "changed": 0, "unchanged": 0}
    assert first["next"] == "iterative-rag evaluate run --dataset frames/test.tsv --corpus frames"
    again = json.loads(command("--json")[1])
    assert again["fetched"] == 0
    assert again["indexed"] == {"added": 0, "changed": 0, "unchanged": 3}
    assert set(wiki.sent.values()) == {1}


def test_pages_that_failed_make_the_command_fail(wiki: FakeWiki, command: Run) -> None:
    wiki.hits, wiki.always = lambda asked: is_page(asked) and asked["oldid"] == "101", Trouble("error")
    code, _, err = command()
    assert code == 4
    assert "Mara Quill (failed)" in err
    assert "tries again" in err
