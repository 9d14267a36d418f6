"""Retrieval metrics over the gold articles: recall@k, all found@k, MAP and MRR.

Articles are ranked for the question as it is asked, as the loop ranks what it will read (`retrieval/shortlist.py`);
what the loop lists and reads over all its hops stands in the report of a run. Measures are those of ir-measures; each
is a mean over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import MissingExtra
from iterative_rag.evaluation.records import Question
from iterative_rag.evaluation.statistics import mean_interval
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Need

if TYPE_CHECKING:
    from iterative_rag.protocols import Corpus

# Passages fetched per wanted article: the best ones of a query are often from one long article.
PASSAGES_PER_ARTICLE = 10


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ids of the articles that a question needs, those that the corpus holds, and the documents found, best
    first."""

    gold: tuple[str, ...]
    documents: tuple[str, ...]


Progress = Callable[[int, int], None]  # questions done, of how many


def single(
    wanted: Sequence[tuple[Question, tuple[str, ...]]],
    corpus_for: Callable[[Question], Corpus],
    *,
    depth: int,
    passages: int = 0,
    progress: Progress | None = None,
) -> list[Ranking]:
    """The first `depth` documents for each question, with its gold articles, as it is asked, out of `passages` hits at
    least."""
    fetched = max(passages, PASSAGES_PER_ARTICLE * depth)
    rankings: list[Ranking] = []
    for question, gold in wanted:
        (entries,) = shortlist(corpus_for(question), [Need(question.text)], documents=depth, passages=fetched)
        rankings.append(Ranking(gold, tuple(entry.document_id for entry in entries)))
        if progress:
            progress(len(rankings), len(wanted))
    return rankings


def figures(rankings: Sequence[Ranking], ks: Sequence[int]) -> dict[str, Any]:
    """The means over questions, with 95 % bootstrap intervals beside them.

    `{"n", "recall": {k: …}, "all_found": {k: …}, "map", "mrr", "intervals"}`. MAP and MRR count the documents that a
    ranking holds. No question gives nothing but `"n": 0`.
    """
    if not rankings:
        return {"n": 0}
    measured = _measure(rankings, ks)
    result = {"n": len(measured), **_shaped(measured, ks, fmean)}
    result["intervals"] = _shaped(measured, ks, lambda values: list(mean_interval(values)))
    return result


def library() -> Any:
    """ir-measures. Raises MissingExtra: call it before a long loop, not after."""
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtra("evaluate") from error
    return ir_measures


def _measure(rankings: Sequence[Ranking], ks: Sequence[int]) -> list[dict[str, float]]:
    """The values of each question, from 0 to 1, named as in the output ("recall@10", "map")."""
    ir_measures = library()
    names = {ir_measures.R @ k: f"recall@{k}" for k in ks} | {ir_measures.AP: "map", ir_measures.RR: "mrr"}
    # Questions go by number: a dataset's id may be anything. Scores fall with the rank, so that none are tied.
    relevant = {str(n): dict.fromkeys(ranking.gold, 1) for n, ranking in enumerate(rankings)}
    run = {
        str(n): {document: float(-rank) for rank, document in enumerate(ranking.documents)}
        for n, ranking in enumerate(rankings)
    }
    measured: list[dict[str, float]] = [{} for _ in rankings]
    for metric in ir_measures.iter_calc(list(names), relevant, run):
        measured[int(metric.query_id)][names[metric.measure]] = metric.value
    for values in measured:
        values |= {f"all_found@{k}": float(values[f"recall@{k}"] == 1.0) for k in ks}
    return measured


def _shaped(
    measured: Sequence[dict[str, float]], ks: Sequence[int], of: Callable[[list[float]], Any]
) -> dict[str, Any]:
    def column(name: str) -> Any:
        return of([values[name] for values in measured])

    return {
        "recall": {str(k): column(f"recall@{k}") for k in ks},
        "all_found": {str(k): column(f"all_found@{k}") for k in ks},
        "map": column("map"),
        "mrr": column("mrr"),
    }
