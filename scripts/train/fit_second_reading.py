"""Count how often what a second reading finds is right: the figures in `builtin/reasoning/second_reading.py`. Run by
hand.

    python -m scripts.train.fit_second_reading --data FOLDER --llm ollama/MODEL --rows rows.jsonl

Needs about articles that nothing was trained on are read by the built-in reader, and its passages by a small model; a
quarter of them without the passage that answers. Every value becomes a row, and rows are kept, so that a run goes on.
Printed is how many values were right, by the trust of the built-in reader and by what the model has found.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from iterative_rag.builtin.builtin_backend import BuiltinExtractor
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.language.value_agreement import agree
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.builtin.reasoning.second_reading import is_known, sentences_of
from iterative_rag.engine.budget import RunBudget
from iterative_rag.evaluation.answer_match import score
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.extractor import REPLY_TOKENS, LLMSentenceReader
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.need_reading import fact_at, verified
from iterative_rag.settings import load_settings
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Document, Extract, Need, Support, Window
from iterative_rag.verification.fact_support import FactSupport
from scripts.train import data, relations
from scripts.train.evidence import aside

SEED, MOST, WITHOUT, OTHERS, FACTS = 34, 300, 0.25, 6, 2
BANDS = (0.0, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 1.01)


@dataclass(frozen=True, slots=True)
class Row:
    """One value of the built-in reader with its trust, and whether the model has found it, too ("agreed"), or something
    else ("other"); or one that the model alone has found and its sentence bears out ("alone")."""

    need: str
    kind: str
    right: bool
    score: float


def needs(folder: Path) -> Iterator[data.Question]:
    """Questions of one hop about articles set aside, the sources in turn."""
    parts = aside.parts(folder, Path(__file__).parents[2] / "input_wikipedia")
    sources: dict[str, list[data.Question]] = {
        "2wiki": [q for row in data.multi_hop(folder, "2wiki_train") for q in relations.triple_questions(row)],
        "musique": [q for row in data.multi_hop(folder, "musique_train") for q in relations.hop_questions(row)],
        "popqa": list(relations.popqa_questions(data.records(folder / "reading" / "popqa.jsonl"))),
        "reading": data.reading(folder)[1],
    }
    drawn = random.Random(SEED)
    for questions in sources.values():
        questions[:] = [q for q in questions if q.answers and parts.part([q.gold[0].passage.title]) == aside.ASIDE]
        drawn.shuffle(questions)
    yield from filter(None, chain.from_iterable(zip_longest(*sources.values())))


class Readers:
    """The built-in reader, and the model that reads after it."""

    def __init__(self, llm: str) -> None:
        settings = load_settings({"llm": llm, "max_calls": 100_000, "max_seconds": 1e6, "max_tokens": 10**9})
        model, _ = chat_model(llm, settings)
        assert model is not None, "--llm must name a language model"
        evidence = EvidenceReader(threads=1)
        self.check = FactSupport(ReaderRoles(evidence))
        self.extractor = BuiltinExtractor(evidence, BuiltinEncoder())
        call = RoleCall("read", SentenceReply, model, RunBudget(settings, Trace("", [])), None, REPLY_TOKENS)
        self.model = LLMSentenceReader(call)

    def rows(self, need: Need, passages: Sequence[data.Passage], answers: Sequence[str]) -> Iterator[Row]:
        documents = {str(n): Document(str(n), p.title, p.text, p.title) for n, p in enumerate(passages)}
        corpus = cast(Corpus, SimpleNamespace(document=documents.__getitem__))
        windows = [Window(d.id, d.title, d.source, ((0, len(d.text)),), d.text) for d in documents.values()]
        extracts = self.extractor.extract([need], windows, "")
        made = (verified(corpus, need, windows[extract.window], extract, self.check) for extract in extracts)
        facts = sorted(filter(None, made), key=lambda fact: -fact.score)
        shown = sentences_of(facts, corpus)
        said = self.model.read(need, shown) if shown else None
        if said is None:
            return
        sentence, value = said
        for fact in facts[:FACTS]:
            kind = "agreed" if value and agree(fact.value, value) else "other"
            yield Row(need.question, kind, bool(score(fact.value, answers, need.question).right), fact.score)
        if value and not is_known(value, facts):
            document, extract = documents[sentence.document_id], Extract(sentence.text, sentence.text, value)
            own = self.check(fact_at(document, sentence.start, sentence.end, need, extract), document.text)
            if own.support is Support.AGREES:
                yield Row(need.question, "alone", bool(score(value, answers, need.question).right), 0.0)


def read(folder: Path, llm: str, file: Path) -> list[Row]:
    """The rows of the first MOST needs; those that the file holds are not read again."""
    held = [Row(**json.loads(line)) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    done, readers, drawn = {row.need for row in held}, Readers(llm), random.Random(SEED)
    with file.open("a", 1, encoding="utf-8") as out:
        for question, _ in zip(needs(folder), range(MOST), strict=False):
            cut, need = drawn.random() < WITHOUT, Need(question.needs[0])
            passages = [*(() if cut else (gold.passage for gold in question.gold)), *question.others[:OTHERS]]
            if need.question in done or not passages:
                continue
            for row in readers.rows(need, passages, question.answers):
                out.write(json.dumps(asdict(row)) + "\n")
                held.append(row)
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with reading/ and multihop/")
    parser.add_argument("--llm", required=True, help="the small model")
    parser.add_argument("--rows", type=Path, required=True, help="where the readings are kept")
    given = parser.parse_args()
    rows = read(given.data, given.llm, given.rows)
    for kind in ("agreed", "other", "alone"):
        for low, high in pairwise(BANDS):
            rights = [row.right for row in rows if row.kind == kind and low <= row.score < high]
            if rights:
                print(f"{kind}, trust from {low}: {sum(rights)} of {len(rights)} right")


if __name__ == "__main__":
    main()
