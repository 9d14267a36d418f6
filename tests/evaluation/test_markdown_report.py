"""Reports as Markdown: figures with their intervals, no text of a question, and none that becomes markup."""

from __future__ import annotations

import dataclasses
import re

from fakes.evaluation_records import full, record, report_of
from iterative_rag.evaluation.markdown_report import markdown
from iterative_rag.evaluation.summary import summarise


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
