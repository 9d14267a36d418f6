"""Measure search, and with an LLM answers, in German, French, Spanish, Turkish and Chinese; run by hand.

    python scripts/bench_languages.py                             recall of the articles, without an LLM
    python scripts/bench_languages.py --as-english                the same with all texts read as English, as before
    python scripts/bench_languages.py --embedder ollama/bge-m3    with another embedder
    python scripts/bench_languages.py --llm ollama/llama3.1:8b    answers too: right, in the language, quotes verbatim
    python scripts/bench_languages.py --questions evaluation/languages/cross_questions.jsonl   other questions

The texts and the questions are invented (evaluation/languages): ten articles and twelve questions a language, all in
one corpus, which is indexed in a temporary folder. The questions across languages are asked in another language than
that of their articles. `both` are the first articles of a search, `words` those of BM25.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from iterative_rag import IterativeRAG, Settings, load_settings
from iterative_rag.app.factory import index_paths, open_corpus
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.evaluation.questions import Question
from iterative_rag.evaluation.scoring.answer_match import score
from iterative_rag.text.spoken_language import language_of_text
from iterative_rag.types import Answer, Hit

DATA = Path(__file__).resolve().parents[1] / "evaluation" / "languages"
CORPUS = "languages"
DEPTHS = (1, 3, 5)
HITS = 60


def recall(hits: Sequence[Hit], question: Question, depth: int) -> float:
    """The share of the articles of a question among the first `depth` that were found."""
    first = list(dict.fromkeys(hit.title for hit in hits))[:depth]
    return mean([float(title in first) for title in question.gold_titles])


def measure_search(questions: Sequence[Question], settings: Settings) -> None:
    with closing(open_corpus(settings)) as corpus:
        found = corpus.search([question.text for question in questions], HITS)
    heads = [f"{half}@{depth}" for half in ("both", "words") for depth in DEPTHS]
    print(f"{'':10}" + "".join(f"{head:10}" for head in heads))
    for language in (*dict.fromkeys(question.types[0] for question in questions), ""):
        asked = [(one, hits) for one, hits in zip(questions, found, strict=True) if language in (one.types[0], "")]
        words = [(one, by_words(hits)) for one, hits in asked]
        shares = [mean([recall(hits, one, depth) for one, hits in half]) for half in (asked, words) for depth in DEPTHS]
        print(f"{language or 'all':10}" + "".join(f"{100 * share:<10.1f}" for share in shares))


def by_words(hits: Sequence[Hit]) -> list[Hit]:
    """The passages that BM25 found, in its order."""
    return sorted((hit for hit in hits if hit.sparse_rank), key=lambda hit: hit.sparse_rank or 0)


def measure_answers(questions: Sequence[Question], settings: Settings, concurrency: int) -> None:
    right = kept = quotes = verbatim = 0
    with (
        IterativeRAG.from_settings(settings) as rag,
        closing(open_corpus(settings)) as corpus,
        ThreadPoolExecutor(concurrency) as threads,
    ):
        answers = threads.map(rag.ask, [question.text for question in questions])
        for question, answer in zip(questions, answers, strict=True):
            told = bool(score(answer.short_answer, question.answers).right)
            right, kept = right + told, kept + in_language(answer, question.types[0])
            for cited in answer.citations:
                (document,) = corpus.find(cited.title)
                quotes += 1
                verbatim += document.text[cited.start : cited.end] == cited.quote
            ending = "right" if told else answer.status.value
            print(f"{question.id}  {ending:10} {answer.short_answer or answer.reason}")
    print(f"right {right} of {len(questions)}, language kept {kept}, quotes verbatim {verbatim} of {quotes}")


def in_language(answer: Answer, code: str) -> bool:
    """Whether an answer is in the language of its question; a bare name is in every language."""
    return language_of_text(answer.text or answer.reason) in (code, "")


@contextmanager
def home() -> Iterator[None]:
    with TemporaryDirectory(prefix="bench-languages-") as folder:
        os.environ["ITERATIVE_RAG_HOME"] = folder
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="builtin")
    parser.add_argument("--rerank", default="none")
    parser.add_argument("--llm", default="", help="answer the questions with it, too")
    parser.add_argument("-c", "--concurrency", type=int, default=1, help="questions at once")
    parser.add_argument("--questions", type=Path, default=DATA / "questions.jsonl", help="about the same articles")
    parser.add_argument("--as-english", action="store_true", help="read all texts as English")
    given = parser.parse_args()
    questions = load(given.questions).questions
    with home():
        options = {"corpus": CORPUS, "embedder": given.embedder, "rerank": given.rerank, "llm": given.llm or "builtin"}
        settings = load_settings(options)
        told = "iterative_rag.index.ingest.language_of_document"
        with patch(told, return_value="") if given.as_english else nullcontext():
            index_paths([DATA / "articles.jsonl"], settings=settings)
        measure_search(questions, settings)
        if given.llm:
            measure_answers(questions, settings, given.concurrency)


if __name__ == "__main__":
    main()
