"""Search, and with an LLM answers, in German, French, Spanish, Turkish and Chinese.

    python -m scripts.bench.languages                             recall of the articles, without an LLM
    python -m scripts.bench.languages --as-english                the same with all texts read as English, as before
    python -m scripts.bench.languages --embedder ollama/bge-m3    with another embedder
    python -m scripts.bench.languages --llm ollama/llama3.1:8b    answers too: right, in the language, quotes verbatim
    python -m scripts.bench.languages --questions evaluation/languages/cross_questions.jsonl   other questions

The texts and the questions are invented (evaluation/languages): ten articles and twelve questions a language, all in
one corpus, which is indexed in a temporary folder. The questions across languages are asked in another language than
that of their articles. `both` are the first articles of a search, `words` those of BM25.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

from iterative_rag import IterativeRAG, Settings, load_settings
from iterative_rag.app.factory import index_paths, open_corpus
from iterative_rag.evaluation.answer_match import score
from iterative_rag.evaluation.dataset_forms import load
from iterative_rag.evaluation.records import Question
from iterative_rag.text.spoken_language import language_of_text
from iterative_rag.types import Hit
from scripts.bench import harness

DATA = harness.EVALUATION / "languages"
CORPUS = "languages"
DEPTHS = (1, 3, 5)
HITS = 60


def languages(
    llm: str = "",
    embedder: str = "builtin",
    rerank: str = "none",
    questions: Path = DATA / "questions.jsonl",
    as_english: bool = False,
    concurrency: int = 1,
) -> None:
    """Recall by language; answers too where an LLM is named."""
    asked = load(questions).questions
    with harness.own_home():
        settings = load_settings({"corpus": CORPUS, "embedder": embedder, "rerank": rerank, "llm": llm or "builtin"})
        told = "iterative_rag.index.ingest.language_of_document"
        with patch(told, return_value="") if as_english else nullcontext():
            index_paths([DATA / "articles.jsonl"], settings=settings)
        measure_search(asked, settings)
        if llm:
            measure_answers(asked, settings, concurrency)


def measure_search(questions: Sequence[Question], settings: Settings) -> None:
    with closing(open_corpus(settings)) as corpus:
        found = list(zip(questions, corpus.search([one.text for one in questions], HITS), strict=True))
    every = [*dict.fromkeys(one.types[0] for one in questions), "all"]
    harness.show(
        {"language": language}
        | {
            f"{half}@{depth}": f"{100 * fmean([recall(order(hits), one, depth) for one, hits in own]):.1f}"
            for half, order in (("both", list[Hit]), ("words", by_words))
            for depth in DEPTHS
        }
        for language in every
        for own in [[(one, hits) for one, hits in found if language in (one.types[0], "all")]]
    )


def recall(hits: Sequence[Hit], question: Question, depth: int) -> float:
    """The share of the articles of a question among the first `depth` that were found."""
    first = list(dict.fromkeys(hit.title for hit in hits))[:depth]
    return fmean([float(title in first) for title in question.gold_titles])


def by_words(hits: Sequence[Hit]) -> list[Hit]:
    """The passages that BM25 found, in its order."""
    return sorted((hit for hit in hits if hit.sparse_rank), key=lambda hit: hit.sparse_rank or 0)


def measure_answers(questions: Sequence[Question], settings: Settings, concurrency: int) -> None:
    right, kept, verbatim = list[bool](), list[bool](), list[bool]()
    with (
        IterativeRAG.from_settings(settings) as rag,
        closing(open_corpus(settings)) as corpus,
        ThreadPoolExecutor(concurrency) as threads,
    ):
        answers = threads.map(rag.ask, [question.text for question in questions])
        for question, answer in zip(questions, answers, strict=True):
            right.append(bool(score(answer.short_answer, question.answers).right))
            # A bare name is in every language.
            kept.append(language_of_text(answer.text or answer.reason) in (question.types[0], ""))
            for cited in answer.citations:
                (document,) = corpus.find(cited.title)
                verbatim.append(document.text[cited.start : cited.end] == cited.quote)
            ending = "right" if right[-1] else answer.status.value
            print(f"{question.id}  {ending:10} {answer.short_answer or answer.reason}")
    shares = {"right": right, "language kept": kept, "quotes verbatim": verbatim}
    harness.show([{name: harness.share(values) for name, values in shares.items()}])


if __name__ == "__main__":
    harness.run(languages)
