"""Threads that outlive a call: reused, counted while they work, made anew after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import wait

import pytest

from iterative_rag.system import threads
from iterative_rag.system.threads import LastingPool


def test_one_call_after_another_needs_one_thread() -> None:
    pool = LastingPool("reused", threads=64)
    names = {pool.submit(lambda: threading.current_thread().name).result() for _ in range(50)}
    assert len(names) <= 2  # the first may not be back yet when the second call comes


def test_work_that_nobody_waits_for_is_told() -> None:
    pool, gate = LastingPool("busy", threads=2), threading.Event()
    assert not pool.busy
    future = pool.submit(gate.wait, 20)
    assert pool.busy
    assert threads.busy()
    gate.set()
    wait([future])
    deadline = time.monotonic() + 20
    while pool.busy and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not pool.busy


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    code = (
        "import os\n"
        "from iterative_rag.system.threads import LastingPool\n"
        "pool = LastingPool('forked', threads=1)\n"
        "assert pool.submit(abs, -1).result() == 1\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(pool.submit(abs, -7).result(timeout=20))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "7"
