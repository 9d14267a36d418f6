from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from pathlib import Path

from fakes.evaluation_records import abstention, cited, fact, folder, hop, record
from fakes.evaluation_reports import Page, full, report_of
from iterative_rag.evaluation.metrics.summary import summarise
from iterative_rag.evaluation.records import Cause, Cited, Hop, JudgeVerdict, Outcome
from iterative_rag.evaluation.report.html_report import html
from iterative_rag.evaluation.report.markdown_report import markdown
from iterative_rag.evaluation.report.report_tables import RESULTS, Report, beside, result

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}&lt;\u202eevil\u2066\x1b[31m\ud800"


# --- the page --------------------------------------------------------------------------------


def test_nothing_from_a_record_becomes_markup_or_runs() -> None:
    evil = dataclasses.replace(full(text=EVIL), id=EVIL, question=EVIL, fault=EVIL)
    run = folder(
        [evil, full("b")], name="run", backend=EVIL, judge=EVIL, dataset={"name": EVIL, "form": EVIL, "digest": EVIL}
    )
    run = dataclasses.replace(run, path=Path("runs") / EVIL.replace("/", ""))
    sibling = folder([full()], name="<b>other</b>")
    source = html(Report(run, summarise(run), ((sibling, summarise(sibling)),)))
    page = Page(source)
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img")
    assert not [name for _, found in page.elements for name in found if name.startswith("on") or name == "style"]
    assert "<script>alert(1)</script>" in page.text  # shown as it is, harmless
    assert "{{ 7*7 }}" in page.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", source)
    source.encode("utf-8")


def test_it_stands_alone() -> None:
    page = Page(html(report_of([full()])))
    assert not [found for tag, found in page.elements if tag in ("link", "iframe", "object", "base", "img", "audio")]
    for tag, found in page.elements:
        for name in ("src", "href", "action", "srcset", "data", "xlink:href"):
            assert not found.get(name) or str(found[name]).startswith("#"), (tag, found)
    assert not re.search(r"url\(|@import|https?:", page.raw["style"] + page.raw["script"])


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


def test_questions_carry_what_the_filter_needs_and_causes_lead_to_theirs() -> None:
    records = [
        record("a"),
        record("b", False, cause=Cause.NOT_READ),
        abstention("c", cause=Cause.NOT_READ),
        record("d", judge=JudgeVerdict.UNJUDGED),
    ]
    page = Page(html(report_of(records)))
    questions = page.all("details", class_="q")
    assert [one["data-result"] for one in questions] == ["right", "wrong", "abstained", "unjudged"]
    assert [one["data-cause"] for one in questions] == ["", Cause.NOT_READ, Cause.NOT_READ, ""]
    assert {str(found["href"]) for found in page.all("a")} >= {"#q2", "#q3"}
    (form,) = page.all("form")
    assert "hidden" in form  # until the script is there to do something
    assert {found["value"] for found in page.all("input", name="result")} == {
        "",
        "right",
        "wrong",
        "abstained",
        "unjudged",
    }


def test_other_runs_stand_around_this_one_from_the_floor_to_the_ceiling() -> None:
    oracle = folder([record("a"), record("b")], name="gold", mode="oracle")
    naive = folder([record("a", False), record("b", False)], name="plain", mode="naive")
    this = report_of([record("a"), record("b", False)], oracle, naive, name="loop")
    assert [(row.label, row.value) for row in beside(this)] == [("plain", 0.0), ("loop", 0.5), ("gold", 1.0)]
    text = Page(html(this)).text
    assert text.index("plain") < text.index("loop", text.index("floor")) < text.index("gold")


def test_what_makes_figures_doubtful_is_said() -> None:
    other = folder([record("a")], name="other", judge="model, judge 2")
    records = [
        record("a", judge=JudgeVerdict.UNJUDGED),
        record("b", outcome=Outcome.FAULT),
        record("c", missing_gold=("L",)),
    ]
    found = report_of(records, other, questions=9, self_judged=True, judge="model, judge 1", excluded=2)
    for text in (Page(html(found)).text, markdown(found)):
        for said in (
            "not finished: 3 of 9",
            "judged its own",
            "1 answer ended in an error",
            "1 answer could not be judged",
            "2 questions left out",
            "lacks 1 needed article",
            "different judges",
        ):
            assert said in text, said


def test_a_long_run_stays_small_and_says_what_was_cut() -> None:
    quote = "The bridge was begun under the mayor and carried the coach road. " * 12
    facts = tuple(fact(document, quote) for document in "abcdefghij")
    hops = tuple(hop(n, listed="abcdefghijkl", read="abc") for n in range(1, 9))
    hops = tuple(dataclasses.replace(one, facts=facts) for one in hops)
    records = [record(f"q{n}", n % 2 == 0, hops=hops, gold=("a", "b")) for n in range(128)]
    whole = report_of(records[:2])
    page = html(report_of(records))
    assert len(page.encode()) < 2_000_000
    assert "To keep this page small" in page
    assert "To keep this page small" not in html(whole)
    assert "and 2 more facts" in html(whole)
    wrong_only = html(report_of(records), largest=len(page.encode()) - 1)
    assert "of right answers none" in wrong_only
    assert {found["id"]: found for found in Page(wrong_only).all("details", class_="q")}.keys() == {
        f"q{n}" for n in range(1, 129)
    }
    bare = html(whole, largest=1)
    assert "The hops are left out" in bare
    assert "What is q0?" in bare
    assert "carried the coach road" not in bare


def test_a_needed_article_is_never_among_the_titles_that_are_cut() -> None:
    documents = {f"d{n}": f"Title {n}" for n in range(40)}
    one = record("a", gold=("d39",), documents=documents, hops=(Hop(1, "q", ("n",), tuple(documents), ("d0",)),))
    page = Page(html(report_of([one])))
    titles = page.text[page.text.index("Hop 1") :]
    assert "Title 39" in titles
    assert "Title 30" not in titles
    assert "and 24 more" in titles


def test_an_empty_run_has_a_page_too() -> None:
    page = Page(html(report_of([], questions=4)))
    assert "No question is finished yet" in page.text
    assert "0 of 4" in page.text


# --- Markdown --------------------------------------------------------------------------------


# --- words -----------------------------------------------------------------------------------


def test_every_record_has_one_result() -> None:
    records = {
        "right": record("a"),
        "wrong": record("b", False, outcome=Outcome.INCOMPLETE),
        "abstained": abstention("c"),
        "incomplete": record("d", False, outcome=Outcome.INCOMPLETE, short_answer=""),
        "fault": record("e", True, outcome=Outcome.FAULT),
        "unjudged": record("f", answers=()),
    }
    assert {name: result(one) for name, one in records.items()} == {name: name for name in RESULTS}


# --- the command -----------------------------------------------------------------------------
