"""What every target works with: folders of its own, the command line as real processes, a result with its figures."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iterative_rag import registry
from scripts.bench.reliability import places
from scripts.bench.reliability.servers import MODEL, ModelServer

ROOT = Path(__file__).resolve().parents[3]
CORPUS = "places"
LLM = f"ollama/{MODEL}"
STRATEGIES = registry.STRATEGIES.offered
TIMED_OUT = 124
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_KEYS = ("OPENAI_API_KEY", "OLLAMA_API_KEY", "QDRANT_API_KEY", "TAVILY_API_KEY", "OLLAMA_HOST")


@dataclass(frozen=True, slots=True)
class Result:
    """What a target measured. `ok` is None where it could not be run here: `figures` then says why."""

    figures: str
    ok: bool | None


@dataclass(frozen=True, slots=True)
class Target:
    """`seconds` is the most that it may take."""

    name: str
    aim: str
    run: Callable[[Bench], Result]
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Done:
    """A process that has ended: its exit code (TIMED_OUT if it was killed at its limit), output, wall-clock and
    processor seconds, and the most memory that it held."""

    code: int
    out: str
    err: str
    seconds: float
    cpu: float
    megabytes: float

    @property
    def json(self) -> dict[str, Any]:
        """What `--json` printed; empty where nothing that can be read was."""
        with contextlib.suppress(ValueError):
            value = json.loads(self.out)
            return value if isinstance(value, dict) else {"items": value}
        return {}

    @property
    def one_sentence(self) -> bool:
        """Whether stderr is what a user should see of an error: a sentence, perhaps a hint, no traceback."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("Error: ")]
        return len(errors) == 1 and "Traceback" not in self.err and "Unexpected" not in errors[0]


class Home:
    """A data folder of the package, with the environment in which commands run there."""

    def __init__(self, folder: Path, bench: Bench) -> None:
        self.folder, self._bench = folder, bench
        self.working = folder.parent / f"{folder.name}-working"
        self.working.mkdir(parents=True, exist_ok=True)
        (folder.parent / "empty").mkdir(exist_ok=True)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        hidden = {*_KEYS, *_PROXIES, *(name.lower() for name in _PROXIES)}
        kept = {k: v for k, v in os.environ.items() if k not in hidden and not k.startswith("ITERATIVE_RAG_")}
        empty = str(self.folder.parent / "empty")
        own = {"ITERATIVE_RAG_HOME": str(self.folder), "HOME": empty, "XDG_CONFIG_HOME": f"{empty}/config"}
        return {**kept, **own, "PYTHONPATH": str(ROOT), **(more or {})}

    def start(
        self,
        *arguments: str,
        server: ModelServer | None = None,
        env: Mapping[str, str] | None = None,
        module: str = "iterative_rag",
    ) -> Running:
        """A command of the package, or of another module, in a process group of its own."""
        served = {"OLLAMA_HOST": server.url} if server else {"OLLAMA_HOST": "127.0.0.1:9"}
        command = [sys.executable, "-m", module, *arguments]
        return self._bench.started(command, self.environment({**served, **(env or {})}), self.working)

    def run(
        self,
        *arguments: str,
        server: ModelServer | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = 120.0,
        module: str = "iterative_rag",
    ) -> Done:
        return self.start(*arguments, server=server, env=env, module=module).wait(seconds)

    def ask(self, question: str, *options: str, server: ModelServer, seconds: float = 120.0, **more: Any) -> Done:
        """One question of the prepared corpus, in a process of its own, as JSON."""
        asked = ("ask", question, "--corpus", CORPUS, "--llm", LLM, "--json", *options)
        return self.run(*asked, server=server, seconds=seconds, **more)


class Running:
    """A process that is watched: it is killed at its limit, with all that it started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], cwd: Path, place: Path) -> None:
        self._out, self._err = place.with_suffix(".out"), place.with_suffix(".err")
        self.began = time.monotonic()
        self._done: Done | None = None
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                command, env=dict(environment), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip

    def wait(self, seconds: float) -> Done:
        ends = time.monotonic() + seconds
        while (done := self.poll()) is None:
            if time.monotonic() > ends:
                return self.kill(TIMED_OUT)
            time.sleep(0.01)
        return done

    def poll(self, code: int | None = None) -> Done | None:
        """What became of it, None while it runs; `code` replaces the exit code."""
        if self._done is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid == 0:
                return None
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self._done = Done(
                self.process.returncode if code is None else code,
                self._out.read_text("utf-8", errors="replace"),
                self._err.read_text("utf-8", errors="replace"),
                time.monotonic() - self.began,
                used.ru_utime + used.ru_stime,
                used.ru_maxrss / 1024,
            )
        return self._done

    def kill(self, code: int | None = None) -> Done:
        """SIGKILL to the process and what it started."""
        while (done := self.poll(code)) is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            time.sleep(0.005)
        return done


@dataclass
class Bench:
    """One run of the harness. `quick` means smaller counts; `small()` chooses between the two."""

    folder: Path
    quick: bool = False
    seed: int = 1
    soak_minutes: float = 20.0
    _running: list[Running] = field(default_factory=list)
    _count: int = 0

    def small(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def started(self, command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> Running:
        self._count += 1
        (self.folder / "output").mkdir(exist_ok=True)
        running = Running(command, environment, cwd, self.folder / "output" / str(self._count))
        self._running = [one for one in self._running if one.poll() is None] + [running]
        return running

    def stop_all(self) -> None:
        for one in self._running:
            one.kill()
        self._running.clear()

    def home(self, name: str) -> Home:
        """A new, empty data folder."""
        self._count += 1
        return Home(self.folder / f"{name}-{self._count}", self)

    def library(self, name: str, count: int) -> Home:
        """A data folder of its own whose corpus holds the articles of `count` places."""
        articles, template = self.articles(count), self.folder / f"library-{count}"
        if not template.exists():
            done = Home(template, self).run("index", str(articles), "--corpus", CORPUS, "-q", seconds=300)
            if done.code:
                shutil.rmtree(template, ignore_errors=True)
                raise RuntimeError(f"the articles could not be indexed: {done.err[-300:]}")
        home = self.home(name)
        # Sparse: the files of a small index are mostly holes.
        subprocess.run(["cp", "-a", "--sparse=always", str(template), str(home.folder)], check=True)
        return home

    def articles(self, count: int) -> Path:
        folder = self.folder / f"articles-{count}"
        if not folder.exists():
            places.write_articles(folder, count)
        return folder


@contextlib.contextmanager
def stopping(bench: Bench) -> Iterator[None]:
    """Whatever happens inside, no process stays."""
    try:
        yield
    finally:
        bench.stop_all()


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / max(1, whole):.1f} %)"
