"""`iterative-rag evaluate`: run question sets, measure retrieval, report, compare, fetch."""

from __future__ import annotations

import typer

from iterative_rag.cli.evaluate.frames import fetch, frames
from iterative_rag.cli.evaluate.retrieval import retrieval
from iterative_rag.cli.evaluate.run import compare, matrix, report, run

evaluate_app = typer.Typer(
    help="Measure it on question sets: FRAMES, multi-hop files, your own.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="\b\nExamples:\n"
    "  iterative-rag evaluate run --dataset questions.jsonl --corpus mine --out runs/first\n"
    "  iterative-rag evaluate run --dataset hotpot.jsonl --corpus pooled --mode naive --out runs/naive\n"
    "  iterative-rag evaluate frames --subset 60 --llm ollama/llama3.1:8b\n"
    "  iterative-rag evaluate report runs/first --html first.html\n"
    "  iterative-rag evaluate compare runs/first runs/naive\n"
    "  iterative-rag evaluate retrieval --dataset questions.jsonl --corpus mine",
)
for command in (run, retrieval, report, compare, matrix, fetch, frames):
    evaluate_app.command()(command)

__all__ = ["evaluate_app"]
