"""`iterative-rag evaluate retrieval`: recall of the gold articles; needs no LLM."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.evaluate.run import DatasetFile, Limit, RunCorpus, Sample, Seed
from iterative_rag.cli.live import bar, indexing
from iterative_rag.cli.options import AsJson, Quiet, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.records import Question
    from iterative_rag.evaluation.retrieval_metrics import Progress
    from iterative_rag.settings import Settings

DEEPEST = 1000
_TITLES_SHOWN = 5

Depths = Annotated[str, typer.Option("--k", metavar="N,N", help="Cut the ranking here.")]


@takes_settings(("embedder", "rerank"))
def retrieval(
    dataset: DatasetFile,
    corpus: RunCorpus,
    settings: Settings,
    k: Depths = "2,5,10,20",
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Recall of the gold articles, all of them found, MAP and MRR, with 95 % bootstrap intervals.

    Questions without any gold article in the corpus are left out and counted.
    """
    from iterative_rag.evaluation.dataset_forms import load, select
    from iterative_rag.evaluation.retrieval_metrics import figures, library, single
    from iterative_rag.evaluation.search_scope import open_scope

    depths = _depths(k)
    library()
    questions = load(dataset)
    chosen = select(questions, limit=limit, sample=sample, seed=seed)
    with indexing(quiet=quiet) as on_index:
        scope = open_scope(corpus, questions, settings, progress=on_index)
    with closing(scope.corpus), bar(quiet=quiet) as show:
        resolved = [(question, *scope.gold(question)) for question in chosen]
        asked = [(question, gold) for question, gold, _ in resolved if gold]
        missing = [title for _, gold, lacking in resolved if gold for title in lacking]
        if not asked:
            held = f"The corpus {scope.corpus.name!r} holds no gold article of the "
            raise UsageError(f"{held}{counted(len(chosen), 'question')}.", hint=_why_nothing(chosen))
        begun, passages = time.monotonic(), settings.passages
        progress: Progress | None = show and (
            lambda done, total: show(done, total, lambda: [f"searching for question {done:,} of {total:,}"])
        )
        rankings = single(asked, scope.searched, depth=max(depths), passages=passages, progress=progress)
        seconds = time.monotonic() - begun
    result = {
        "dataset": questions.name,
        "corpus": scope.corpus.name,
        "digest": questions.digest,
        "rerank": settings.rerank,
        "k": depths,
        "excluded": len(chosen) - len(asked),
        "missing_gold": len(missing),
        **figures(rankings, depths),
        "seconds": round(seconds, 2),
    }
    if as_json:
        write_json(result)
    else:
        _show(result, missing)


def _depths(text: str) -> list[int]:
    parts = {part.strip() for part in text.split(",")}
    depths = sorted(int(part) for part in parts if part.isdecimal() and 1 <= int(part) <= DEEPEST)
    if len(depths) != len(parts):
        raise UsageError(f"{text!r} is not a list of depths.", hint=f"Whole numbers from 1 to {DEEPEST}: --k 2,5,10")
    return depths


def _why_nothing(questions: Sequence[Question]) -> str:
    titles = list(dict.fromkeys(title for question in questions for title in question.gold_titles))
    if not titles:
        return "The dataset names none: it needs gold_titles, wiki_links or supporting paragraphs."
    return f"It needs {_some(titles)}. Index them."


def _show(result: dict[str, Any], missing: Sequence[str]) -> None:
    printer = out()
    ranked = "" if result["rerank"] == "none" else f"reranked by the {result['rerank']}, "
    printer.line(
        (clean(result["dataset"]), "bold"),
        f" in {result['corpus']}: {counted(result['n'], 'question')}, {ranked}{result['seconds']:.1f} s",
    )
    spans = result["intervals"]
    printer.line(f"{'first':<8}{'recall':<24}all found")
    for k in result["recall"]:
        printer.line(f"{k:<8}", *(f"{_share(result[name][k], spans[name][k]):<24}" for name in ("recall", "all_found")))
    printer.line(f"MAP {_plain(result['map'], spans['map'])}   MRR {_plain(result['mrr'], spans['mrr'])}")
    if result["excluded"]:
        err().line(f"Left out, since the corpus has no gold article: {counted(result['excluded'], 'question')}.")
    if missing:
        err().line(f"Left out of the others: {counted(len(missing), 'gold article')} ({clean(_some(missing))}).")


def _share(value: float, interval: Sequence[float]) -> str:
    """`71.8 % [66.0, 77.1]`"""
    return f"{100 * value:5.1f} % [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _plain(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _some(titles: Sequence[str]) -> str:
    more = ", …" if len(titles) > _TITLES_SHOWN else ""
    return ", ".join(map(repr, titles[:_TITLES_SHOWN])) + more
