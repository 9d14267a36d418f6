"""The Markdown report: figures alone, in tables that no text breaks."""

from __future__ import annotations

import dataclasses
import re

from fakes.evaluation_records import record
from fakes.evaluation_reports import full, report_of
from iterative_rag.evaluation.metrics.summary import summarise
from iterative_rag.evaluation.report.markdown_report import markdown, table


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
