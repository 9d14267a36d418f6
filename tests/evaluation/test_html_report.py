from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from pathlib import Path

from fakes.evaluation_records import Page, cited, folder, full, hop, record, report_of
from iterative_rag.evaluation.html_report import html
from iterative_rag.evaluation.markdown_report import markdown
from iterative_rag.evaluation.records import Cause, Cited, JudgeVerdict
from iterative_rag.evaluation.report_tables import Report
from iterative_rag.evaluation.summary import summarise

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}&lt;\u202eevil\u2066\x1b[31m\ud800"


# --- the page --------------------------------------------------------------------------------


def test_nothing_from_a_record_becomes_markup_or_runs() -> None:
    evil = dataclasses.replace(full(text=EVIL), id=EVIL, question=EVIL, fault=EVIL)
    run = folder(
        [evil, full("b")], name="run", backend=EVIL, judge=EVIL, dataset={"name": EVIL, "form": EVIL, "digest": EVIL}
    )
    run = dataclasses.replace(run, path=Path("runs") / EVIL.replace("/", ""))
    source = html(Report.of(run))
    page = Page(source)
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img")
    assert not [name for _, found in page.elements for name in found if name.startswith("on") or name == "style"]
    assert "<script>alert(1)</script>" in page.text  # shown as it is, harmless
    assert "{{ 7*7 }}" in page.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", source)
    source.encode("utf-8")


def test_the_policy_lets_only_its_own_script_and_style_in() -> None:
    page = Page(html(report_of([full()])))
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    rules = dict(rule.strip().split(" ", 1) for rule in str(policy["content"]).split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for directive, element in (("script-src", "script"), ("style-src", "style")):
        digest = base64.b64encode(hashlib.sha256(page.raw[element].encode()).digest()).decode()
        assert rules[directive] == f"'sha256-{digest}'"


def test_a_citation_leads_to_its_page_on_the_web_and_nowhere_else() -> None:
    citations = (
        Cited("Wye", "w", True, "https://example.org/wye?a=1&b=2"),
        Cited("Ex", "x", True, "javascript:alert(1)"),
        Cited("Why", "y", True),
    )
    page = Page(
        html(report_of([record("a", True, hops=(hop(1, listed="w", read="w", facts="w"),), citations=citations)]))
    )
    links = [str(one["href"]) for one in page.all("a") if not str(one.get("href", "#")).startswith("#")]
    assert links == ["https://example.org/wye?a=1&b=2"]


def test_a_question_opens_to_its_whole_trace() -> None:
    one = record(
        "a",
        False,
        gold=("x", "y", "w", "v"),
        missing_gold=("Lost",),
        hops=(
            hop(1, listed="xyz", read="xz", facts="z", rephrased="Now what?", needs=("Which bridge?",)),
            hop(2, question="Now what?", listed="w", read="w", facts="w"),
        ),
        documents={"x": "Ex", "y": "Why", "w": "Wye", "v": "Vee", "z": "Zed"},
        citations=cited("w", verified=False),
        short_answer="seven",
        answers=("eight", "8"),
        cause=Cause.NOT_EXTRACTED,
        judge=JudgeVerdict.INCORRECT,
    )
    page = Page(html(report_of([one])))
    for shown in (
        "What is a?",
        "seven",
        "eight · 8",
        "Which bridge?",
        "Ex read, gave no fact",
        "Why shortlisted, not read",
        "Wye cited",
        "Vee never shortlisted",
        "Lost not in the corpus",
        "quote not found",
        "It is so.",
        "judge incorrect",
        "read but not extracted",
    ):
        assert shown in page.text, shown
    # A rephrasing stands once, not again as the question of the next hop.
    assert page.text.count("Now what?") == 1


# --- Markdown ----------------------------------------------------------------------------------------


def test_it_holds_no_text_of_questions_answers_or_articles() -> None:
    secret = "Zanzibar"
    one = dataclasses.replace(full(text=secret), types=("numbers",), question=f"Where is {secret}?")
    shown = report_of([one, record("b", types=("dates",))])
    figures = markdown(shown)
    assert secret not in figures
    assert str(shown.run.path.parent) not in figures
    for heading in ("Accuracy", "Where it failed", "By reasoning type", "Evidence", "Cost", "Calibration"):
        assert f"## {heading}" in figures


def test_figures_stand_with_their_intervals() -> None:
    text = markdown(report_of([record(str(n), n < 12, spent=(2, 900, 100, 3.0)) for n in range(16)]))
    low, high = summarise([record(str(n), n < 12) for n in range(16)])["intervals"]["right"]
    assert re.search(rf"answered rightly +\| +75\.0\s%.*{100 * low:.1f} – {100 * high:.1f}", text)
    assert re.search(r"LLM calls +\| +2 +\| +2 – 2 +\| +32 ", text)


def test_text_in_a_table_cannot_break_it() -> None:
    evil = "x | y\n# not a heading <b> [l](http://evil.example) `c` @me www.evil.example"
    text = markdown(report_of([record("a", types=(evil,)), record("b", types=("other",))]))
    (row,) = [line for line in text.splitlines() if "not a heading" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 5
    assert "<b>" not in row
    assert "http://" not in row
    assert "www.evil" not in row
    assert re.search(r"(?<!\\)[`\[@]", row) is None
