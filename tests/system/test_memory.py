"""Memory of long commands."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

ARENAS = """
import ctypes, re, threading
from iterative_rag.system.memory import limit_arenas
limit_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
meeting = threading.Barrier(8, timeout=20)
def work():
    meeting.wait()
    held = [libc.malloc(50_000) for _ in range(20)]
    meeting.wait()
    for one in held:
        libc.free(one)
started = [threading.Thread(target=work) for _ in range(8)]
[one.start() for one in started]
[one.join() for one in started]
libc.open_memstream.restype = ctypes.c_void_p
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(len(re.findall(rb"<heap nr=", text.value)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_a_long_command_uses_two_arenas_and_a_user_s_own_number_stands() -> None:
    def arenas(**environment: str) -> int:
        base = {key: value for key, value in os.environ.items() if key != "MALLOC_ARENA_MAX"}
        command = [sys.executable, "-c", ARENAS]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True, env={**base, **environment}
        )
        return int(done.stdout)

    assert arenas() <= 2
    assert arenas(MALLOC_ARENA_MAX="5") > 2
