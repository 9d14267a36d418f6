"""`aask` and `asteps`: the event loop goes on meanwhile, and to cancel a call ends its run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from fakes import two_article_corpus
from fakes.llama_index_models import two_article_llm, word_embedding
from iterative_rag import IterativeRAG
from iterative_rag.errors import UsageError
from iterative_rag.protocols import ChatRequest
from iterative_rag.types import Document

PATIENCE = 20.0
ARTICLES = [Document(name, name.removesuffix(".md"), text, "") for name, text in two_article_corpus.TEXTS.items()]


class Gate:
    """Holds a call until it is opened, and tells when one has come and how many did."""

    def __init__(self) -> None:
        self.reached, self.open, self.calls = threading.Event(), threading.Event(), 0

    def wait(self) -> None:
        self.calls += 1
        self.reached.set()
        assert self.open.wait(PATIENCE)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


@pytest.fixture
def rag(gate: Gate) -> Iterator[IterativeRAG]:
    """Its first analysis waits at the gate."""

    def analyse(request: ChatRequest) -> str:
        gate.wait()
        assert request.schema is not None
        return two_article_corpus.play(request.schema, request.user)

    IterativeRAG.index(ARTICLES, corpus="mine", embed_model=word_embedding())
    llm = two_article_llm(analyse=analyse)
    with IterativeRAG.from_settings(llm=llm, corpus="mine", embed_model=word_embedding(), cache=False) as made:
        yield made


async def until(event: threading.Event) -> None:
    """Waits by turns of the event loop: it would not come to its end if the loop were blocked."""
    async with asyncio.timeout(PATIENCE):
        while not event.is_set():
            await asyncio.sleep(0.005)


def run_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "iterative-rag-run"]


async def until_ended() -> None:
    async with asyncio.timeout(PATIENCE):
        while run_threads():
            await asyncio.sleep(0.005)


def test_the_loop_goes_on_while_a_question_is_answered(rag: IterativeRAG, gate: Gate) -> None:
    async def both() -> str:
        asking = asyncio.create_task(rag.aask(two_article_corpus.QUESTION))
        await until(gate.reached)
        assert not asking.done()
        gate.open.set()
        return (await asking).short_answer

    assert asyncio.run(both()) == "Edda Holm"


def test_to_cancel_ends_the_run_before_its_next_call(rag: IterativeRAG, gate: Gate) -> None:
    async def cancelled() -> None:
        asking = asyncio.create_task(rag.aask(two_article_corpus.QUESTION))
        await until(gate.reached)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking  # at once: the call at the gate is not waited for
        assert len(run_threads()) == 1
        gate.open.set()
        await until_ended()

    asyncio.run(cancelled())
    assert gate.calls == 1


def test_an_error_reaches_the_caller(rag: IterativeRAG) -> None:
    with pytest.raises(UsageError, match="empty"):
        asyncio.run(rag.aask("  "))
