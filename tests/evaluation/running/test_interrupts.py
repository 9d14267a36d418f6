"""An interrupt of a run: it cancels the event loop of inspect_ai instead of being raised in the midst of it."""

from __future__ import annotations

import asyncio
import signal
import threading
from types import FrameType

import pytest

from iterative_rag.evaluation.running.inspect_isolation import cancelled_by_interrupts

STRUCK: list[str] = []


def ours(number: int, frame: FrameType | None) -> None:
    STRUCK.append("ours")


async def interrupted() -> None:
    signal.raise_signal(signal.SIGINT)
    STRUCK.append("went on")  # raised here, it would have missed this
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        STRUCK.append("cancelled")
        raise


def test_an_interrupt_cancels_what_is_awaited_and_the_handler_comes_back() -> None:
    STRUCK.clear()
    signal.signal(signal.SIGINT, ours)
    with pytest.raises(KeyboardInterrupt), cancelled_by_interrupts():
        asyncio.run(interrupted())
    assert STRUCK == ["went on", "cancelled"]
    signal.raise_signal(signal.SIGINT)
    assert STRUCK[-1] == "ours"


def test_interrupts_that_are_ignored_stay_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with cancelled_by_interrupts():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_thread_that_cannot_handle_signals_runs_without() -> None:
    signal.signal(signal.SIGINT, ours)
    seen = []

    def work() -> None:
        with cancelled_by_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [ours]
