"""What a question costs in LLM calls: over a dataset with a mechanical mind, and beside other packages.

python -m scripts.bench.calls questions MUSIQUE.jsonl [--first 60] [--at-once 1] [--weak 0.3]
python -m scripts.bench.calls peers [--latency 0.5] [--peers FOLDER] [--only NAME]
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fakes import readme_question, starter_mind
from fakes.decomposition_mind import DecompositionMind, chains
from fakes.model_server import FakeServer
from fakes.weak_model import WeakModel
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.search_scope import pool
from iterative_rag.settings import Settings, load_settings
from iterative_rag.types import FinalStep, ReadingStep
from scripts.bench import harness


def questions(file: Path, first: int = 60, at_once: int = 1, weak: float = 0.0, each: bool = False) -> None:
    """Calls against a mechanical mind that knows the answers from a dataset.

    FILE has a decomposition in every row (MuSiQue). Its paragraphs are pooled into one corpus in ITERATIVE_RAG_HOME.
    The mind finds what stands in the text it is shown, so the figures are those of the loop around it: calls,
    extractions for each need, those that found nothing, and tokens of the prompts (four characters each). `--weak` is
    the share of its replies that break a rule.
    """
    rows = harness.rows_of(file)
    known = chains(rows)[:first]
    name = pool(load(file), load_settings({"llm": "builtin"}), BuiltinEncoder())
    mind, needs, right, statuses = DecompositionMind(known), 0, list[bool](), Counter[str]()
    llm = WeakModel(mind, share=weak) if weak else mind
    rag = IterativeRAG.from_settings(llm=llm, corpus=name, cache=False, calls_in_flight=at_once)
    for chain in known:
        before, asked = mind.calls.total(), needs
        for step in rag.steps(chain.question):
            if isinstance(step, ReadingStep):
                needs += 1
            elif isinstance(step, FinalStep):
                right.append(step.answer.short_answer == chain.links[-1].answer)
                statuses[str(step.answer.status)] += 1
                if each:
                    print(mind.calls.total() - before, needs - asked, step.answer.status, chain.question)
    print(f"{len(known)} of {len(rows)} questions whose answers stand word for word in their paragraphs")
    print(f"right          {harness.share(right)} ({', '.join(f'{n} {status}' for status, n in statuses.items())})")
    print(f"calls          {mind.calls.total() / len(known):.1f} a question: {dict(mind.calls)}")
    print(f"extractions    {mind.calls['extract'] / needs:.2f} a need, {mind.empty} found nothing")
    print(f"prompt tokens  {mind.prompt_tokens / len(known):.0f} a question")


# --- beside other packages -----------------------------------------------------------------------

ARTICLES = harness.ROOT / "input_wikipedia"
MODEL, EMBEDDING = "mind", "mind-embed"
OURS = ("iterative", "full", "agent")
# Steps that the engine may take: the question has four links, and the last step finds that none is left.
STEPS = 5
CHAT = "/v1/chat/completions"
T = TypeVar("T")
Ask = Callable[[], str]


@dataclass
class Desk:
    """A server with the scripted model, and when its calls were open."""

    server: FakeServer
    spans: list[tuple[float, float]] = field(default_factory=list)

    def asked(self, ask: Ask) -> tuple[int, int, float, str]:
        """Calls, tokens, seconds in which at least one call was open, and the answer."""
        before, self.spans = len(self.server.calls(CHAT)), []
        answer = ask()
        bodies = [seen.body for seen in self.server.calls(CHAT)[before:]]
        tokens = sum(len(str(body["messages"])) + len(str(body.get("tools", ""))) for body in bodies) // 4
        total = until = 0.0
        for start, end in sorted(self.spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return len(bodies), tokens, total, answer


def peers(latency: float = 0.5, peers: Path | None = None, only: str = "") -> None:
    """What one question costs here and in other packages, with the same model and the same embedder.

    The README's question over `input_wikipedia/`, answered by a scripted model behind a local server that takes
    `--latency` seconds for a reply. Prints calls, prompt tokens (characters / 4), latencies on the critical path (the
    time in which at least one call was open, in latencies), the calls of the same question asked again, and whether the
    answer is right. paper-qa is not a dependency: `pip install --target FOLDER paper-qa`, and name that folder. It is
    asked as `Docs.aquery`, without its own agent: it gathers evidence once and cannot follow a chain.
    """
    if peers:
        sys.path.append(str(peers))  # last, so that this package keeps the versions that it has

    def rows() -> Iterator[Mapping[str, object]]:
        for name, make in SYSTEMS.items():
            if only not in name:
                continue
            try:
                with served(latency) as desk:
                    ask = make(f"{desk.server.url}/v1")
                    calls, tokens, seconds, answer = desk.asked(ask)
                    again, *_ = desk.asked(ask)
            except ModuleNotFoundError as error:
                print(f"{name} skipped: {error.name} is not installed", file=sys.stderr)
                continue
            right = "right" if readme_question.SHORT_ANSWER in answer else f"wrong: {answer[:60]!r}"
            cost = {"calls": calls, "tokens": tokens, "latencies": f"{seconds / latency:.1f}", "calls again": again}
            yield {"system": name, **cost, "answer": right}

    harness.show(rows())


@contextmanager
def served(latency: float) -> Iterator[Desk]:
    """The scripted model, with a home of its own for this package, so that nothing is cached."""
    encoder = BuiltinEncoder()
    with (
        harness.own_home(),
        FakeServer(models=(MODEL, EMBEDDING), vector=lambda text: encoder.embed_query(text).tolist()) as server,
    ):
        desk = Desk(server)

        def late(reply: Callable[[Mapping[str, Any]], T]) -> Callable[[Mapping[str, Any]], T]:
            def replied(body: Mapping[str, Any]) -> T:
                began = time.monotonic()
                server.closing.wait(latency)
                desk.spans.append((began, time.monotonic()))
                return reply(body)

            return replied

        server.reply, server.functions = late(starter_mind.reply), late(starter_mind.functions)
        yield desk


def ours(strategy: str) -> Callable[[str], Ask]:
    def make(url: str) -> Ask:
        settings = Settings(corpus="starter", strategy=strategy, llm=f"openai-like/{MODEL}@{url}")
        index_paths([ARTICLES], settings=settings, corpus="starter")
        rag = IterativeRAG.from_settings(settings)
        rag.corpus.search(["warm up"], 1)
        return lambda: rag.ask(readme_question.QUESTION).short_answer

    return make


def _llama_index(url: str) -> tuple[Any, Any]:
    """LlamaIndex's query engine over the articles with our embedder, and the model."""
    from llama_index.core import Document, VectorStoreIndex
    from llama_index.core import Settings as LlamaIndexSettings
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.llms.openai_like import OpenAILike

    encoder = BuiltinEncoder()

    class BuiltinEmbedding(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(part) for part in encoder.embed_query(query)]

        def _get_text_embedding(self, text: str) -> list[float]:
            return [float(part) for part in encoder.embed_documents([text])[0]]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    llm = OpenAILike(model=MODEL, api_base=url, api_key="none", is_chat_model=True, max_retries=0)
    LlamaIndexSettings.llm, LlamaIndexSettings.embed_model = llm, BuiltinEmbedding()
    documents = [Document(text=path.read_text(encoding="utf-8")) for path in sorted(ARTICLES.glob("*.md"))]
    index = VectorStoreIndex.from_documents(documents)
    return index.as_query_engine(similarity_top_k=4), llm


def multi_step(url: str) -> Ask:
    from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
    from llama_index.core.query_engine import MultiStepQueryEngine

    engine, llm = _llama_index(url)
    decompose = StepDecomposeQueryTransform(llm=llm)
    steps = MultiStepQueryEngine(engine, decompose, num_steps=STEPS, index_summary="articles")
    return lambda: str(steps.query(readme_question.QUESTION))


def sub_question(url: str) -> Ask:
    from llama_index.core.query_engine import SubQuestionQueryEngine
    from llama_index.core.question_gen import LLMQuestionGenerator
    from llama_index.core.tools import QueryEngineTool

    engine, llm = _llama_index(url)
    tool = QueryEngineTool.from_defaults(engine, name="corpus", description="Articles of an encyclopedia.")
    generator = LLMQuestionGenerator.from_defaults(llm=llm)
    parts = SubQuestionQueryEngine.from_defaults([tool], question_gen=generator, verbose=False)
    return lambda: str(parts.query(readme_question.QUESTION))


def paper_qa(url: str) -> Ask:
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    logging.disable(logging.WARNING)  # it looks for the prices of the model
    paperqa: Any = importlib.import_module("paperqa")
    types: Any = importlib.import_module("paperqa.types")

    def configured(model: str) -> dict[str, Any]:
        parameters = {"model": f"openai/{model}", "api_base": url, "api_key": "none"}
        return {"model_list": [{"model_name": f"openai/{model}", "litellm_params": parameters}]}

    llm = f"openai/{MODEL}"
    settings = paperqa.Settings(
        llm=llm,
        llm_config=configured(MODEL),
        summary_llm=llm,
        summary_llm_config=configured(MODEL),
        embedding=f"openai/{EMBEDDING}",
        embedding_config={"kwargs": {"api_base": url, "api_key": "none", "encoding_format": "float"}},
    )
    docs = paperqa.Docs()

    async def add() -> None:
        for path in sorted(ARTICLES.glob("*.md")):
            doc = types.Doc(docname=path.stem, dockey=path.stem, citation=path.stem)
            text = path.read_text(encoding="utf-8")
            pieces = [text[at : at + 3000] for at in range(0, len(text), 2900)]
            texts = [types.Text(text=one, name=f"{path.stem} {n}", doc=doc) for n, one in enumerate(pieces)]
            await docs.aadd_texts(texts, doc, settings=settings, embedding_model=settings.get_embedding_model())

    async def query() -> str:
        return str((await docs.aquery(readme_question.QUESTION, settings=settings)).answer)

    asyncio.run(add())
    return lambda: asyncio.run(query())


SYSTEMS: Mapping[str, Callable[[str], Ask]] = {
    "LlamaIndex MultiStepQueryEngine": multi_step,
    "LlamaIndex SubQuestionQueryEngine": sub_question,
    "paper-qa Docs.aquery": paper_qa,
    **{f"iterative_rag {strategy}": ours(strategy) for strategy in OURS},
}


if __name__ == "__main__":
    harness.run(questions, peers)
