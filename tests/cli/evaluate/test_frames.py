"""`evaluate frames` as users type it: questions and pages from stand-ins on loopback, killed, resumed, reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes import bridge_world
from fakes.command_line import Command, Done
from fakes.model_server import FakeServer
from fakes.wikipedia_server import FakeWiki
from iterative_rag.evaluation.run_folder import read_run

WORLD = bridge_world.places(6)
EN = "https://en.wikipedia.org/wiki/"
FILE = "/datasets/google/frames-benchmark/resolve/main/test.tsv"


def tsv() -> bytes:
    """The benchmark's published form: a column of numbers without a name, then the questions."""
    lines = ["\tPrompt\tAnswer\treasoning_types\twiki_links"]
    for number, place in enumerate(WORLD):
        kinds = "Multiple constraints" if number else "Tabular reasoning | Multiple constraints"
        links = [f"{EN}{place.bridge}_bridge", EN + place.town, *([f"{EN}Lost_page"] if number == 1 else [])]
        lines.append(f"{number}\t{place.two_hops}\t{place.mayor}\t{kinds}\t{links}")
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        for place in WORLD:
            running.add(
                f"{place.bridge} bridge", f"<p>The {place.bridge} bridge is a stone bridge in {place.town}.</p>"
            )
            running.add(place.town, f"<p>{place.town} is a town. The mayor of {place.town} is {place.mayor}.</p>")
        running.files[FILE] = tsv()
        yield running


def command(wiki: FakeWiki, *more: str, private: bool = True) -> list[str]:
    own = ["--questions", wiki.url + FILE, "--api", wiki.api, "--contact", "me@example.org"]
    own += ["--allow-private-hosts"] if private else []
    return [sys.executable, "-m", "iterative_rag", "evaluate", "frames", *own, *more]


@pytest.fixture
def whole(wiki: FakeWiki, run: Command) -> Callable[..., Done]:
    """The command to its end, in this process."""

    def call(*more: str, code: int = 0, private: bool = True, **environment: str) -> Done:
        done = run(*command(wiki, *more, private=private)[3:], **environment)
        assert done.code == code, done.err
        return done

    return call


def test_killed_while_asking_nothing_is_paid_twice(wiki: FakeWiki, whole: Callable[..., Done], tmp_path: Path) -> None:
    """How a kill while pages are fetched goes on shows tests/cli/corpus/test_fetch.py."""
    options = ("--subset", "all", "--llm", "ollama/tiny:8b", "-c", "1", "-q")
    reached = threading.Event()
    paid: Counter[str] = Counter()

    def reply(body: Mapping[str, Any]) -> str:
        if len(paid) == 7 and not reached.is_set():
            reached.set()
            threading.Event().wait(0.3)  # the reply that is awaited never comes
            return ""
        paid[json.dumps(body["messages"])] += 1
        return bridge_world.reply(body)

    with FakeServer(reply=reply) as server:
        environment = {**os.environ, "OLLAMA_HOST": server.url}
        with subprocess.Popen(command(wiki, *options), env=environment, stderr=subprocess.DEVNULL) as process:
            assert reached.wait(60)
            process.kill()
        whole(*options, OLLAMA_HOST=server.url)
    assert set(paid.values()) == {1}
    assert set(wiki.sent.values()) == {1}
    assert sum(path.endswith(".tsv") for path in wiki.fetched_files) == 1
    run = read_run(tmp_path / "runs" / "frames-all-ollama-tiny-8b")
    assert [(record.id, record.right) for record in run.records] == [(str(number), True) for number in range(6)]


def test_the_report_stands_beside_published_figures_and_says_what_differs(
    whole: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("0\n1\n4  # the last\n", encoding="utf-8")
    done = whole("--subset", "mine.txt", "--llm", "builtin", "--out", "run")
    assert "Lost page" in (tmp_path / "frames" / "missing.jsonl").read_text(encoding="utf-8")
    assert "1 link has no page" in done.err
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    for text in (report, done.out):
        assert "Gemini 1.5 Pro, oracle" in text
        assert "arXiv:2409.12941" in text
        assert "Questions: 3 of 824 (subset " in text
        assert "6 of the 7 that the questions link to, among 0 other documents" in text
        assert "Tables: 0 of these 6 pages have one" in text
    assert "Gemini 1.5 Pro, oracle" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    again = json.loads(whole("--subset", "mine.txt", "--llm", "builtin", "--out", "run", "--json").out)
    assert again["right"] == 1.0
    assert again["benchmark"]["published"][0]["source"] == "Alzubi et al. 2025, arXiv:2503.20201"
    # What `inspect view` shows of a hop: articles by their titles.
    from inspect_ai.event import InfoEvent
    from inspect_ai.log import read_eval_log

    (log,) = (tmp_path / "run" / "logs").glob("*.eval")
    samples = read_eval_log(str(log)).samples or []
    hops: list[Any] = [event.data for sample in samples for event in sample.events if isinstance(event, InfoEvent)]
    titles = {fact["title"] for hop in hops for fact in hop["facts"]}
    assert titles
    assert titles <= {title for hop in hops for title in hop["read"]}


def test_pages_of_ones_own_are_not_fetched(wiki: FakeWiki, whole: Callable[..., Done], tmp_path: Path) -> None:
    rows = [{"title": f"{place.bridge} bridge", "text": f"The {place.bridge} bridge is old."} for place in WORLD]
    rows[0]["text"] += "\n\n| Year | Toll |\n|---|---|\n| 1900 | 2 |\n"
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = whole("--pages", "pages.jsonl", "--subset", "all", "--limit", "2", "--llm", "builtin", "--json", "-q")
    about = json.loads(done.out)["benchmark"]
    assert (about["pages_held"], about["pages_needed"], about["documents"]) == (2, 5, 6)
    assert about["pages_with_tables"] == 1
    assert not wiki.sent


def test_a_private_host_is_reached_only_where_the_user_says_so(
    wiki: FakeWiki, whole: Callable[..., Done], tmp_path: Path
) -> None:
    assert "environment" in whole(private=False, code=2, ITERATIVE_RAG_ALLOW_PRIVATE_HOSTS="1").err
    refused = whole(private=False, code=4)
    assert "is not a public host" in refused.err
    assert "--allow-private-hosts" in refused.err
    wiki.files[FILE] = b""
    with FakeWiki() as other:
        wiki.moved[FILE] = f"{other.url}{FILE}"
        assert "is not a public host" in whole(code=4).err
    assert not other.fetched_files
