"""Count what one question costs here and in other packages, with the same model and the same embedder; run by hand.

    python -m scripts.bench_peers [--latency 0.5] [--peers FOLDER] [--only NAME]

The README's question over `input_wikipedia/`, answered by a scripted model behind a local server that takes `--latency`
seconds for a reply: LlamaIndex's MultiStepQueryEngine and SubQuestionQueryEngine, paper-qa, and this package's
strategies. Prints calls, prompt tokens (characters / 4), latencies on the critical path (the time in which at least one
call was open, in latencies), the calls of the same question asked again, and whether the answer is right.

paper-qa is not a dependency: `pip install --target FOLDER paper-qa`, and name that folder; it is skipped where it is
missing. It is asked as `Docs.aquery`, without its own agent: it gathers evidence once and cannot follow a chain.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fakes import starter_mind
from fakes.model_server import FakeServer
from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.settings import Settings

ARTICLES = Path(__file__).resolve().parents[1] / "input_wikipedia"
MODEL, EMBEDDING = "mind", "mind-embed"
OURS = ("iterative", "full", "agent")
# Steps that the engine may take: the question has four links, and the last step finds that none is left.
STEPS = 5
CHAT = "/v1/chat/completions"
T = TypeVar("T")
Ask = Callable[[], str]
Make = Callable[[str], Ask]


@dataclass(frozen=True, slots=True)
class Run:
    """What one question cost; `open_seconds` is the time in which at least one call was open."""

    calls: int
    tokens: int
    open_seconds: float
    answer: str

    def line(self, name: str, latency: float, again: Run) -> str:
        right = "right" if starter_mind.ANSWER in self.answer else f"wrong: {self.answer[:60]!r}"
        figures = f"{self.calls:5} {self.tokens:8,} {self.open_seconds / latency:9.1f} {again.calls:11}"
        return f"{name:34} {figures}  {right}"


@dataclass
class Desk:
    """A server with the scripted model, and when its calls were open."""

    server: FakeServer
    spans: list[tuple[float, float]] = field(default_factory=list)

    def asked(self, ask: Ask) -> Run:
        before, self.spans = len(self.server.calls(CHAT)), []
        answer = ask()
        bodies = [seen.body for seen in self.server.calls(CHAT)[before:]]
        tokens = sum(len(str(body["messages"])) + len(str(body.get("tools", ""))) for body in bodies) // 4
        return Run(len(bodies), tokens, self._open_seconds(), answer)

    def _open_seconds(self) -> float:
        total = until = 0.0
        for start, end in sorted(self.spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--peers", type=Path, help="the folder that paper-qa was installed into")
    parser.add_argument("--only", default="", help="systems whose name holds this")
    arguments = parser.parse_args()
    if arguments.peers:
        sys.path.append(str(arguments.peers))  # last, so that this package keeps the versions that it has
    print(f"{'':34} calls   tokens latencies  calls again")
    for name, make in systems().items():
        if arguments.only not in name:
            continue
        try:
            with served(arguments.latency) as desk:
                ask = make(f"{desk.server.url}/v1")
                first, again = desk.asked(ask), desk.asked(ask)
            print(first.line(name, arguments.latency, again), flush=True)
        except ModuleNotFoundError as error:
            print(f"{name:34} skipped: {error.name} is not installed")


def systems() -> dict[str, Make]:
    found: dict[str, Make] = {
        "LlamaIndex MultiStepQueryEngine": multi_step,
        "LlamaIndex SubQuestionQueryEngine": sub_question,
        "paper-qa Docs.aquery": paper_qa,
    }
    return found | {f"iterative_rag {strategy}": ours(strategy) for strategy in OURS}


@contextmanager
def served(latency: float) -> Iterator[Desk]:
    """The scripted model, with a home of its own for this package, so that nothing is cached."""
    encoder = BuiltinEncoder()
    with tempfile.TemporaryDirectory() as home:
        os.environ["ITERATIVE_RAG_HOME"] = home
        with FakeServer(
            models=(MODEL, EMBEDDING), vector=lambda text: [float(part) for part in encoder.embed_query(text)]
        ) as server:
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


# --- this package ----------------------------------------------------------------------------


def ours(strategy: str) -> Make:
    def make(url: str) -> Ask:
        settings = Settings(corpus="starter", strategy=strategy, llm=f"openai-like/{MODEL}@{url}")
        index_paths([ARTICLES], settings=settings, corpus="starter")
        rag = IterativeRAG.from_settings(settings)
        rag.corpus.search(["warm up"], 1)
        return lambda: rag.ask(starter_mind.QUESTION).short_answer

    return make


# --- LlamaIndex ------------------------------------------------------------------------------


def _engine(url: str) -> tuple[Any, Any]:
    """A query engine over the articles with our embedder, and the model."""
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

    engine, llm = _engine(url)
    steps = MultiStepQueryEngine(
        engine, StepDecomposeQueryTransform(llm=llm), num_steps=STEPS, index_summary="articles"
    )
    return lambda: str(steps.query(starter_mind.QUESTION))


def sub_question(url: str) -> Ask:
    from llama_index.core.query_engine import SubQuestionQueryEngine
    from llama_index.core.question_gen import LLMQuestionGenerator
    from llama_index.core.tools import QueryEngineTool

    engine, llm = _engine(url)
    tool = QueryEngineTool.from_defaults(engine, name="corpus", description="Articles of an encyclopedia.")
    generator = LLMQuestionGenerator.from_defaults(llm=llm)
    parts = SubQuestionQueryEngine.from_defaults([tool], question_gen=generator, verbose=False)
    return lambda: str(parts.query(starter_mind.QUESTION))


# --- paper-qa --------------------------------------------------------------------------------


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

    asyncio.run(add())

    async def query() -> str:
        return str((await docs.aquery(starter_mind.QUESTION, settings=settings)).answer)

    return lambda: asyncio.run(query())


if __name__ == "__main__":
    main()
