"""Measures the package on question sets: run, score, find the cause of each failure, compare, report.

questions, records   the vocabulary: a question, and the record of how it was answered
datasets/            files -> questions; the corpus to search; gold articles; the FRAMES download
running/             a run as a resumable inspect_ai task; grids of runs
scoring/             record -> scores, judge's verdict, cause of failure
metrics/             records -> metrics with intervals; retrieval; comparison of runs
report/              metrics -> tables -> Markdown and one HTML page

The command line and the server import from here alone. Names are imported on first use, so that no command loads
inspect_ai or scipy which does not need them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iterative_rag.evaluation.datasets.dataset_forms import load, select
    from iterative_rag.evaluation.datasets.download import (
        MISSING,
        FetchPlan,
        FetchReport,
        fetch_dataset,
        fetch_questions,
    )
    from iterative_rag.evaluation.datasets.search_scope import Scope, open_scope
    from iterative_rag.evaluation.metrics.figures import answered_rightly, scorable
    from iterative_rag.evaluation.metrics.retrieval_metrics import (
        Progress,
        Targets,
        figures,
        library,
        single,
        targets,
    )
    from iterative_rag.evaluation.metrics.run_comparison import compare
    from iterative_rag.evaluation.questions import Question, Search
    from iterative_rag.evaluation.report.comparison_report import comparison
    from iterative_rag.evaluation.report.html_report import html
    from iterative_rag.evaluation.report.markdown_report import markdown
    from iterative_rag.evaluation.report.report_tables import Report, key_tables, number
    from iterative_rag.evaluation.report.run_description import notes
    from iterative_rag.evaluation.running.answer_modes import modes
    from iterative_rag.evaluation.running.preparation import RunConfig, judging_model
    from iterative_rag.evaluation.running.run_evaluation import Tally, run
    from iterative_rag.evaluation.running.run_folder import LOGS, MANIFEST, RunFolder, need_inspect, read_run
    from iterative_rag.evaluation.running.run_matrix import Cell, read_matrix, run_matrix

_NAMES = {
    "datasets.dataset_forms": "load select",
    "datasets.download": "MISSING FetchPlan FetchReport fetch_dataset fetch_questions",
    "datasets.search_scope": "Scope open_scope",
    "metrics.figures": "answered_rightly scorable",
    "metrics.retrieval_metrics": "Progress Targets figures library single targets",
    "metrics.run_comparison": "compare",
    "questions": "Question Search",
    "report.comparison_report": "comparison",
    "report.html_report": "html",
    "report.markdown_report": "markdown",
    "report.report_tables": "Report key_tables number",
    "report.run_description": "notes",
    "running.answer_modes": "modes",
    "running.preparation": "RunConfig judging_model",
    "running.run_evaluation": "Tally run",
    "running.run_folder": "LOGS MANIFEST RunFolder need_inspect read_run",
    "running.run_matrix": "Cell read_matrix run_matrix",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
