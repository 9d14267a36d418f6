from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fakes.evaluation_records import abstention, cited, fact, folder, hop, record, store
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.evaluation.metrics.summary import summarise
from iterative_rag.evaluation.records import Cause, FoundFact, Hop, JudgeVerdict, Outcome, QuestionRecord
from iterative_rag.evaluation.report.formatting import number, percent, visible
from iterative_rag.evaluation.report.html_report import html
from iterative_rag.evaluation.report.markdown_report import escaped, markdown, table
from iterative_rag.evaluation.report.report_tables import RESULTS, Report, beside, result
from iterative_rag.evaluation.running.run_folder import RunFolder

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}&lt;\u202eevil\u2066\x1b[31m\ud800"


def report_of(records: Sequence[QuestionRecord], *siblings: RunFolder, **manifest: Any) -> Report:
    run = folder(records, **manifest)
    return Report(run, summarise(run), tuple((one, summarise(one)) for one in siblings))


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside of script and style."""

    VOID = frozenset({"meta", "link", "img", "input", "br", "col", "hr"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.parts: list[str] = []
        self.raw: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a beginning"
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + text
        else:
            self.parts.append(text)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]


def full(question: str = "a", text: str = "words") -> QuestionRecord:
    """A record that has everything, with `text` in every field that comes from outside."""
    found = FoundFact(text, text, text, f"{text} quoted", text, "x")
    return record(
        question,
        False,
        answers=(text,),
        types=(text,),
        gold=("x", "y"),
        missing_gold=(text,),
        hops=(Hop(1, text, (text,), ("x", "z"), ("x",), (found,), text), Hop(2, text)),
        documents={"x": text, "y": text, "z": text},
        citations=cited("x", verified=False),
        judge=JudgeVerdict.INCORRECT,
        cause=Cause.COMPOSED_WRONGLY,
        short_answer=text,
        text=f"{text} [1]",
        reason=text,
        confidence=0.8,
        spent=(3, 100, 20, 1.5),
    )


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


def test_figures_only_holds_no_text_of_questions_answers_or_articles() -> None:
    secret = "Zanzibar"
    one = dataclasses.replace(full(text=secret), types=("numbers",), question=f"Where is {secret}?")
    found = report_of([one, record("b", types=("dates",))])
    assert secret in markdown(found)
    figures = markdown(found, figures_only=True)
    assert secret not in figures
    assert str(found.run.path.parent) not in figures
    for heading in ("Accuracy", "Where it failed", "By reasoning type", "Evidence", "Cost", "Calibration"):
        assert f"## {heading}" in figures


def test_figures_stand_with_their_intervals() -> None:
    text = markdown(report_of([record(str(n), n < 12, spent=(2, 900, 100, 3.0)) for n in range(16)], price=[1.0, 1.0]))
    low, high = summarise([record(str(n), n < 12) for n in range(16)])["intervals"]["right"]
    assert re.search(rf"answered rightly +\| +75\.0\s%.*{100 * low:.1f} – {100 * high:.1f}", text)
    assert re.search(r"LLM calls +\| +2 +\| +2 – 2 +\| +32 ", text)
    assert re.search(r"cost +\| +\$0\.001 ", text)


def test_text_in_a_table_cannot_break_it() -> None:
    one = record("a|b", False, question="x | y\n# not a heading <b> [l](http://evil.example) `c` @me www.evil.example")
    text = markdown(report_of([one]))
    (row,) = [line for line in text.splitlines() if "not a heading" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 6
    assert "<b>" not in row
    assert "http://" not in row
    assert "www.evil" not in row
    assert re.search(r"(?<!\\)[`\[@]", row) is None


def test_columns_are_aligned() -> None:
    lines = table(["", "n"], [["long label", "1"], ["x", "1,000"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1] == "|------------|------:|"


# --- words -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (3.0, "3"), (1.234, "1.23"), (56.78, "56.8"), (12345.6, "12,346"), (None, "–")]
)
def test_numbers_have_as_many_digits_as_one_reads(value: float | None, shown: str) -> None:
    assert number(value) == shown


def test_texts_are_one_line_and_cut() -> None:
    assert visible(" a\n\tb\x00c ") == "a b\ufffdc"
    assert visible("abcdef", 4) == "abc…"
    assert percent(0.12345) == "12.3\u00a0%"
    assert escaped("1 * 2") == r"1 \* 2"
    assert escaped("questions_dev (FRAMES)") == "questions_dev (FRAMES)"
    assert escaped("_so_ [a](b) a__") == r"\_so\_ \[a\](b) a_\_"


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


def call(*arguments: object) -> Any:
    return CliRunner().invoke(evaluate_app, [str(argument) for argument in arguments])


def test_the_command_writes_markdown_json_and_the_page(tmp_path: Path) -> None:
    run = store(folder([record("a"), record("b", False, judge=JudgeVerdict.INCORRECT)]), tmp_path / "runs" / "one")
    assert call("report", run).stdout.startswith("# one\n")
    assert "What is b" not in call("report", run, "--figures-only").stdout
    found = json.loads(call("report", run, "--json").stdout)
    assert (found["n"], found["right"]) == (2, 0.5)
    page = tmp_path / "page.html"
    done = call("report", run, "--html", page, "--beside", store(folder([record("a")]), tmp_path / "runs" / "two"))
    assert "answered rightly" in done.stdout
    assert "two" in Page(page.read_text(encoding="utf-8")).text


def test_the_judge_is_held_against_given_verdicts(tmp_path: Path) -> None:
    run = store(
        folder([record("a", judge=JudgeVerdict.CORRECT), record("b", judge=JudgeVerdict.CORRECT)]), tmp_path / "run"
    )
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text('{"id": "a", "correct": true}\n{"id": "b", "correct": false}\n', encoding="utf-8")
    found = json.loads(call("report", run, "--agreement", verdicts, "--json").stdout)["agreement"]
    assert (found["n"], found["raw"], found["only_judge"]) == (2, 0.5, 1)
    assert "equal verdicts" in call("report", run, "--agreement", verdicts, "--figures-only").stdout


def test_a_page_without_questions_is_refused(tmp_path: Path) -> None:
    done = call("report", tmp_path, "--html", tmp_path / "page.html", "--figures-only")
    assert "--figures-only" in done.exception.hint
