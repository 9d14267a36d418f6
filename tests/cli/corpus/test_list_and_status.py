"""`corpus` and `corpus status`: what there is, and what is stale."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fakes.command_line import Command
from iterative_rag.sources.formats.format import shown


def test_status_tells_what_is_stale(run: Command, articles: Path) -> None:
    run("index", str(articles), "--corpus", "towns", "-q")
    assert "stale      nothing\n" in run("corpus", "status", "towns").out
    (articles / "Aldermere.md").write_text("# Aldermere\n\nA town.\n")
    (articles / "Sunday_bridge.md").unlink()
    for name in ("Wend.md", "Vessel_Isles.md"):
        (articles / name).write_text(f"# {name}\n\nA place.\n")
    told = run("corpus", "status", "towns").out
    assert "2 new, 1 changed, 1 gone; iterative-rag index " in told
    command = told.partition("; iterative-rag ")[2].removesuffix(" brings it up to date\n").split()
    assert run(*command).out.startswith("2 added, 1 changed, 0 unchanged, 1 removed")
    (made,) = json.loads(run("corpus", "status", "towns", "--json").out)["corpora"]
    assert made["stale"] == {"new": 0, "changed": 0, "gone": 0, "roots": [], "unread": []}
    assert "stale" not in run("corpus", "status", "towns", "--no-check").out
    articles.rename(articles.parent / "moved")
    gone = run("corpus", "status", "towns")
    assert "not known of all its sources" in gone.out
    assert "not compared" in gone.err
    assert "start over: iterative-rag corpus remove towns" in gone.err


def test_corpora_as_json(run: Command, articles: Path) -> None:
    assert json.loads(run("corpus", "list", "--json").out) == {"corpora": []}
    run("index", str(articles), "--corpus", "towns", "-q")
    listed = json.loads(run("corpus", "--json").out)
    (towns,) = listed["corpora"]
    known = {"name": "towns", "documents": 2, "passages": 2, "state": "ready"}
    assert {key: towns[key] for key in known} == known
    assert {"embedder", "bytes", "updated"} <= towns.keys()
    assert json.loads(run("corpus", "list", "--json").out) == listed
    assert json.loads(run("corpus", "status", "towns", "--json", "--no-check").out) == listed
    removed = run("corpus", "remove", "towns", "--yes", "--json")
    assert json.loads(removed.out) == {"removed": "towns", "documents": 2, "pages": None}
    assert removed.err == ""


def test_an_answer_says_that_its_source_has_changed(run: Command, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    page, rows = folder / os.fsdecode(b"Oda_Brenk\xff.md"), folder / "towers.jsonl"
    (folder / os.fsdecode(b"Oda_Brenk\xfe.md")).write_text("# Orm\n\nOrm is a town, in a file that is shown alike.\n")
    page.write_text("# Oda Brenk\n\nOda Brenk was born on 3 March 1874 in Karsa.\n")
    towers = [{"title": "Velm Tower", "text": "The Velm Tower is 310 m tall."}, {"title": "Orm", "text": "A town."}]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in towers))
    run("index", str(folder), "--corpus", "mine", "-q")

    def notice(question: str) -> str:
        made = json.loads(run("ask", question, "--corpus", "mine", "--llm", "builtin", "--json").out)
        assert made["citations"], made
        return str(made["corpus_notice"])

    born, tall = "When was Oda Brenk born?", "How tall is the Velm Tower?"
    os.utime(page)  # written again, with the same words
    rows.write_text("".join(f"{json.dumps(row | {'more': 1})}\n" for row in reversed(towers)))
    assert notice(born) == notice(tall) == ""
    page.write_text(page.read_text().replace("1874", "1875"))
    assert f"Changed since it was indexed: [1] {shown(page)}" in notice(born)
    assert "iterative-rag corpus status mine" in notice(born)
    assert "Note: Changed since it was indexed" in run("ask", born, "--corpus", "mine", "--llm", "builtin").out
    assert notice(tall) == ""
    rows.unlink()
    assert "Changed since it was indexed" in notice(tall)
    run("index", str(folder), "--corpus", "mine", "-q")
    assert notice(born) == ""
