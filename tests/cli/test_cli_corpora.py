"""`index`, `corpus`, `search`, `show`, `cache` and `doctor` on a real corpus, as processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag.cli.progress import where
from iterative_rag.ingest import Progress

TEXTS = {
    "Sunday_bridge.md": "# Sunday bridge\n\nThe Sunday bridge is the oldest crossing in Aldermere.\n",
    "Aldermere.md": "# Aldermere\n\nAldermere is a market town that was founded by Edda Holm in 1204.\n",
}


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_status_tells_what_is_stale(shell: Command, articles: Path) -> None:
    shell("index", str(articles), "--corpus", "towns", "-q")
    assert "stale      nothing\n" in shell("corpus", "status", "towns").out
    (articles / "Aldermere.md").write_text("# Aldermere\n\nA town.\n")
    (articles / "Sunday_bridge.md").unlink()
    for name in ("Wend.md", "Vessel_Isles.md"):
        (articles / name).write_text(f"# {name}\n\nA place.\n")
    told = shell("corpus", "status", "towns").out
    assert "2 new, 1 changed, 1 gone; iterative-rag index " in told
    command = told.partition("; iterative-rag ")[2].removesuffix(" brings it up to date\n").split()
    assert shell(*command).out.startswith("2 added, 1 changed, 0 unchanged, 1 removed")
    (made,) = json.loads(shell("corpus", "status", "towns", "--json").out)["corpora"]
    assert made["stale"] == {"new": 0, "changed": 0, "gone": 0, "roots": [], "unread": []}
    assert "stale" not in shell("corpus", "status", "towns", "--no-check").out
    articles.rename(articles.parent / "moved")
    gone = shell("corpus", "status", "towns")
    assert "not known of all its sources" in gone.out
    assert "not compared" in gone.err
    assert "start over: iterative-rag corpus remove towns" in gone.err


def test_what_status_calls_gone_is_removed_by_the_command_that_it_names(shell: Command, tmp_path: Path) -> None:
    """The only file of a corpus became empty: the command that was named refused, and the old text stayed."""
    for name in ("Aldermere.md", "lines.jsonl"):
        source = tmp_path / name
        record = json.dumps({"title": "Aldermere", "text": "A market town."})
        source.write_text(record if name.endswith("jsonl") else TEXTS["Aldermere.md"])
        shell("index", str(source), "--corpus", "towns", "-q")
        source.write_text("")
        told = shell("corpus", "status", "towns").out
        assert "0 new, 0 changed, 1 gone; iterative-rag index " in told
        done = shell(*told.partition("; iterative-rag ")[2].removesuffix(" brings it up to date\n").split())
        assert (done.code, done.out.partition(", 1 removed")[0]) == (0, "0 added, 0 changed, 0 unchanged"), done.err
        assert shell("search", "market town", "--corpus", "towns").code == 4


def test_what_cannot_be_read_any_more_is_not_called_gone(shell: Command, tmp_path: Path) -> None:
    source = tmp_path / "Aldermere.md"
    source.write_text(TEXTS["Aldermere.md"])
    shell("index", str(source), "--corpus", "towns", "-q")
    source.write_bytes(bytes(range(256)) * 40)
    told = shell("corpus", "status", "towns")
    assert ("gone" in told.out, "not compared" in told.err) == (False, True)
    assert shell("index", str(source), "--corpus", "towns").code == 4
    assert shell("search", "market town", "--corpus", "towns").code == 0


def test_a_corpus_is_indexed_listed_searched_shown_and_removed(shell: Command, articles: Path) -> None:
    done = shell("index", str(articles), "--corpus", "towns")
    assert done.code == 0
    assert done.out.startswith("2 added, 0 changed, 0 unchanged, 0 removed, 0 skipped; 2 passages embedded")

    again = shell("index", str(articles), "--corpus", "towns")
    assert again.out.startswith("0 added, 0 changed, 2 unchanged, 0 removed")

    assert shell("corpus").out == "towns  2 documents, 2 passages, ready\n"
    status = shell("corpus", "status", "towns").out
    for words in ("documents", "passages", "embedder", "builtin/", "size", "updated"):
        assert words in status

    found = shell("search", "who founded the market town", "--corpus", "towns")
    first = found.out.splitlines()[0]
    assert "Aldermere" in first
    assert "dense 1" in first
    assert "founded by Edda Holm" in found.out

    hits = json.loads(shell("search", "market town", "--corpus", "towns", "--json", "-n", "1").out)
    text = (articles / "Aldermere.md").read_text(encoding="utf-8")
    assert [hit["title"] for hit in hits] == ["Aldermere"]
    assert text[hits[0]["start"] : hits[0]["end"]] == hits[0]["text"]

    assert shell("show", "sunday_bridge", "--corpus", "towns").out == TEXTS["Sunday_bridge.md"]

    assert shell("corpus", "remove", "towns", stdin="n\n").code == 1
    assert "towns" in shell("corpus").out
    assert shell("corpus", "remove", "towns", "--yes").code == 0
    assert shell("corpus").out == ""


def test_skipped_files_are_named_on_stderr(shell: Command, articles: Path) -> None:
    (articles / "binary.txt").write_bytes(b"\0\1\2" * 400)
    done = shell("index", str(articles), "--corpus", "towns")
    assert done.code == 0
    assert "1 skipped" in done.out
    assert "binary.txt" in done.err
    assert "binary.txt" not in done.out


def test_quiet_indexing_says_nothing(shell: Command, articles: Path) -> None:
    done = shell("index", str(articles), "--corpus", "towns", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_the_starter_corpus_is_indexed_when_it_is_first_asked(shell: Command) -> None:
    first = shell("search", "first lady", "-n", "1")
    assert "Indexing the starter corpus, once" in first.err
    assert first.out
    assert shell("search", "first lady", "-n", "1").err == ""


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (Progress(1200, 2460, 31000, 212.4, 95.0), "1,200 of 2,460 documents, 31,000 passages, 212/s, 1:35 left"),
        (Progress(3, None, 8, 0.0, None), "3 documents, 8 passages, 0/s"),
    ],
)
def test_progress_says_rate_and_time_left(at: Progress, shown: str) -> None:
    assert where(at) == shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "no-such-folder"),
        ("search", "words", "--corpus", "nowhere"),
        ("show", "Title", "--corpus", "nowhere"),
        ("corpus", "status", "nowhere"),
        ("corpus", "remove", "nowhere", "--yes"),
        ("ask", "Who was it?", "--corpus", "nowhere", "--llm", "builtin"),
    ],
    ids=" ".join,
)
def test_a_corpus_error_is_4_with_a_hint(shell: Command, arguments: tuple[str, ...]) -> None:
    done = shell(*arguments)
    assert done.code == 4
    assert done.out == ""
    assert done.err.startswith("Error: ")
    assert "Hint:" in done.err
    assert "Traceback" not in done.err


def test_a_missing_title_names_the_nearest(shell: Command, articles: Path) -> None:
    shell("index", str(articles), "--corpus", "towns")
    done = shell("show", "Aldermeer", "--corpus", "towns")
    assert done.code == 4
    assert "'Aldermere'" in done.err


def test_a_corpus_name_is_no_path(shell: Command, articles: Path) -> None:
    done = shell("index", str(articles), "--corpus", "../outside")
    assert done.code == 2
    assert not (articles.parent / "outside").exists()


def test_an_empty_search_is_wrong_usage(shell: Command) -> None:
    assert shell("search", " ").code == 2


def test_cache(shell: Command) -> None:
    done = shell("cache")
    assert done.code == 0
    assert "entries  0" in done.out
    assert shell("cache", "clear").code == 0


def test_a_damaged_cache_is_one_warning(shell: Command, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "cache"
    folder.mkdir(parents=True)
    (folder / "cache.sqlite").write_bytes(b"this is no database" * 100)
    done = shell("cache")
    assert done.code == 0
    assert done.err.startswith("Warning: The cache")
    assert "Traceback" not in done.err


def test_doctor_is_content_with_a_bare_machine(shell: Command) -> None:
    done = shell("doctor", OLLAMA_HOST="http://127.0.0.1:9")
    assert done.code == 0, done.out + done.err
    for name in ("Python", "settings", "built-in", "Ollama", "corpora", "cache", "disk"):
        assert f" {name} " in done.out
    assert "ollama serve" in done.out
    assert done.out.splitlines()[-1].startswith("Ready:")


def test_doctor_names_a_setting_that_is_wrong(shell: Command, tmp_path: Path) -> None:
    (tmp_path / "iterative-rag.toml").write_text("max_hop = 3\n", encoding="utf-8")
    done = shell("doctor")
    assert done.code == 2
    assert "max_hops" in done.out


def test_doctor_never_shows_a_key(shell: Command) -> None:
    secret = "sk-do-not-show"
    done = shell("doctor", ITERATIVE_RAG_API_KEY=secret, OPENAI_API_KEY=secret, OLLAMA_HOST="http://127.0.0.1:9")
    assert secret not in done.out + done.err


def test_doctor_misses_the_corpus_that_the_settings_name(shell: Command) -> None:
    done = shell("doctor", ITERATIVE_RAG_CORPUS="towns", OLLAMA_HOST="http://127.0.0.1:9")
    assert done.code == 4
    assert "iterative-rag index PATH --corpus towns" in done.out


def test_corpora_as_json(shell: Command, articles: Path) -> None:
    assert json.loads(shell("corpus", "list", "--json").out) == {"corpora": []}
    shell("index", str(articles), "--corpus", "towns", "-q")
    listed = json.loads(shell("corpus", "--json").out)
    (towns,) = listed["corpora"]
    known = {"name": "towns", "documents": 2, "passages": 2, "state": "ready"}
    assert {key: towns[key] for key in known} == known
    assert {"embedder", "bytes", "updated"} <= towns.keys()
    assert json.loads(shell("corpus", "list", "--json").out) == listed
    assert json.loads(shell("corpus", "status", "towns", "--json", "--no-check").out) == listed
    removed = shell("corpus", "remove", "towns", "--yes", "--json")
    assert json.loads(removed.out) == {"removed": "towns", "documents": 2, "pages": None}
    assert removed.err == ""
