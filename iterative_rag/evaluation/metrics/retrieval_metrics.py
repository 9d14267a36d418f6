"""Retrieval metrics over the gold articles: recall@k, all found@k, MAP and MRR.

Articles are ranked as the loop ranks what it will read (`retrieval/shortlist.py`): for the question as it is asked
(single), or over all hops of the loop (iterative). Measures are those of ir-measures; each is a mean over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CapReached, LLMError, LLMUnreachable, MissingExtra, ModelMissing
from iterative_rag.evaluation.metrics.search_modes import Search
from iterative_rag.evaluation.metrics.statistics import mean, mean_interval
from iterative_rag.evaluation.questions import Question
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Hit, Need, ReadingStep, ShortlistStep, Step

if TYPE_CHECKING:
    from iterative_rag.protocols import Corpus

# Passages fetched per wanted article: the best ones of a query are often from one long article.
PASSAGES_PER_ARTICLE = 10
# Among the best 4 n + 120 fused hits there are all that either half ranks n-th or better: such a hit has a score of
# 1 / (60 + n) at least, and what scores that much stands among the first 60 + 2 n of one of the halves.
_FUSED_PER_RANKED, _FUSED_MORE = 4, 120
_QUERIES_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Target:
    """A question and the ids of the articles that it needs: those that the corpus holds, one at least."""

    question: Question
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Targets:
    """What is measured. `excluded` questions have no gold article in the corpus; `missing` are single titles that it
    lacks, of questions that are measured by their other articles."""

    found: tuple[Target, ...]
    excluded: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents found for a target, best first; what a loop listed and read in all (None for a single query)."""

    target: Target
    documents: tuple[str, ...]
    listed: frozenset[str] | None = None
    read: frozenset[str] | None = None
    fault: str = ""


Progress = Callable[[int, int], None]  # questions done, of how many


def targets(
    questions: Sequence[Question], resolve: Callable[[Question], tuple[tuple[str, ...], tuple[str, ...]]]
) -> Targets:
    """`resolve` gives the ids of a question's gold articles and the titles that the corpus lacks."""
    with_gold: list[Target] = []
    missing: list[str] = []
    for question in questions:
        gold, lacking = resolve(question)
        if gold:
            with_gold.append(Target(question, gold))
            missing += lacking
    return Targets(tuple(with_gold), len(questions) - len(with_gold), tuple(missing))


# --- one query -------------------------------------------------------------------------------


def single(
    wanted: Sequence[Target],
    corpus_for: Callable[[Question], Corpus],
    *,
    depth: int,
    search: Search = Search.HYBRID,
    passages: int = 0,
    progress: Progress | None = None,
) -> list[Ranking]:
    """The first `depth` documents for each question as it is asked, out of `passages` hits at least."""
    fetched = max(passages, PASSAGES_PER_ARTICLE * depth)
    rankings: list[Ranking] = []
    for corpus, part in _batches(wanted, corpus_for):
        queries = [target.question.text for target in part]
        if search is Search.HYBRID:
            lists = shortlist(corpus, [Need(query) for query in queries], documents=depth, passages=fetched)
            ranked = [tuple(entry.document_id for entry in entries) for entries in lists]
        else:
            hits = corpus.search(queries, _FUSED_PER_RANKED * fetched + _FUSED_MORE)
            ranked = [_by_one_half(of_query, search, fetched)[:depth] for of_query in hits]
        rankings += [Ranking(target, documents) for target, documents in zip(part, ranked, strict=True)]
        if progress:
            progress(len(rankings), len(wanted))
    return rankings


def _batches(
    wanted: Sequence[Target], corpus_for: Callable[[Question], Corpus]
) -> Iterator[tuple[Corpus, list[Target]]]:
    """Batches of consecutive questions over the same corpus."""
    part: list[Target] = []
    asked: Corpus | None = None
    for target in wanted:
        corpus = corpus_for(target.question)
        if asked is not None and (corpus is not asked or len(part) == _QUERIES_AT_ONCE):
            yield asked, part
            part = []
        asked = corpus
        part.append(target)
    if asked is not None:
        yield asked, part


def _by_one_half(hits: Iterable[Hit], search: Search, passages: int) -> tuple[str, ...]:
    """Documents in the order of their best passage among the first `passages` of the dense half or of BM25."""
    ranked = [(hit.dense_rank if search is Search.DENSE else hit.sparse_rank, hit.document_id) for hit in hits]
    within = sorted((rank, document) for rank, document in ranked if rank is not None and rank <= passages)
    return tuple(dict.fromkeys(document for _, document in within))


# --- the loop --------------------------------------------------------------------------------


def iterative(
    wanted: Sequence[Target],
    loop: Callable[[Question], Iterable[Step]],
    *,
    depth: int,
    progress: Progress | None = None,
) -> list[Ranking]:
    """What the loop lists over all its hops, the lists of all needs merged by rank (`merged`), cut at `depth`.

    A model that fails in the middle of a question leaves what was listed so far, marked as a fault; one that cannot be
    asked at all (no server, no such model) raises.
    """
    rankings: list[Ranking] = []
    for target in wanted:
        rankings.append(_followed(target, loop, depth))
        if progress:
            progress(len(rankings), len(wanted))
    return rankings


def _followed(target: Target, loop: Callable[[Question], Iterable[Step]], depth: int) -> Ranking:
    lists: list[tuple[str, ...]] = []
    read: set[str] = set()
    fault = ""
    try:
        for step in loop(target.question):
            if isinstance(step, ShortlistStep):
                lists.append(tuple(entry.document_id for entry in step.documents))
            elif isinstance(step, ReadingStep):
                read.update(step.documents)
    except (LLMUnreachable, ModelMissing):
        raise
    except (LLMError, CapReached) as error:
        fault = f"{type(error).__name__}: {error}"
    documents = merged(lists)
    return Ranking(target, documents[:depth], frozenset(documents), frozenset(read), fault)


def merged(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Round-robin: the first of every list, then the second of every list; a document stands where it comes first."""
    turns = (document for turn in zip_longest(*lists) for document in turn if document is not None)
    return tuple(dict.fromkeys(turns))


# --- the figures -----------------------------------------------------------------------------


def figures(rankings: Sequence[Ranking], ks: Sequence[int]) -> dict[str, Any]:
    """The means over questions, with 95 % bootstrap intervals beside them, and the same by number of gold articles.

    `{"n", "recall": {k: …}, "all_found": {k: …}, "map", "mrr", "intervals", "by_gold"}`; after a loop also
    `"listed"` and `"read"` (recall and all_found of all that was listed or read, mean number of documents) and
    `"faults"`. MAP and MRR count the documents that a ranking holds. No question gives nothing but `"n": 0`.
    """
    if not rankings:
        return {"n": 0}
    measured = _measure(rankings, ks)
    golds = [len(ranking.target.gold) for ranking in rankings]
    result = {"n": len(measured), **_shaped(measured, ks, mean)}
    result["intervals"] = _shaped(measured, ks, lambda values: list(mean_interval(values)))
    result["by_gold"] = {}
    for gold in sorted(set(golds)):
        part = [values for values, count in zip(measured, golds, strict=True) if count == gold]
        result["by_gold"][str(gold)] = {"n": len(part), **_shaped(part, ks, mean)}
    for name in ("listed", "read"):
        sets = [getattr(ranking, name) for ranking in rankings]
        if None not in sets:
            result[name] = _coverage([ranking.target for ranking in rankings], sets)
            result["faults"] = sum(bool(ranking.fault) for ranking in rankings)
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
    relevant = {str(n): dict.fromkeys(ranking.target.gold, 1) for n, ranking in enumerate(rankings)}
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


def _coverage(wanted: Sequence[Target], sets: Sequence[frozenset[str]]) -> dict[str, Any]:
    shares = [len(articles & {*target.gold}) / len(target.gold) for target, articles in zip(wanted, sets, strict=True)]
    complete = [float(share == 1.0) for share in shares]
    return {
        "recall": mean(shares),
        "all_found": mean(complete),
        "documents": mean([float(len(articles)) for articles in sets]),
        "intervals": {"recall": list(mean_interval(shares)), "all_found": list(mean_interval(complete))},
    }
