"""A system that refuses a call, or all from a moment on, while a corpus is written, removed, pushed or sealed.

Run as a module it is the process that runs each command in a fork of itself, so that none has to import anything.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fakes.in_memory_qdrant import InMemoryQdrant
from fakes.qdrant_http import qdrant_server
from fakes.system_faults import REFUSALS, CannotBuild, built
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.errors import CorpusNotFound, IterativeRAGError
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.sources import open_source
from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, ROOT, Bench, Done, Home, Result

PLACES = 4
_SECONDS = 120  # that a command may take
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Work:
    """What is done to the corpus while the system refuses."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    sealed_from: int = 20_000  # points


def system_refusals(bench: Bench) -> Result:
    """Faults at random moments: the corpus answers as before or as after, and the same command goes on."""
    try:
        library = built(bench.folder)
    except CannotBuild as reason:
        return Result(str(reason), None)
    client, chance = InMemoryQdrant(), random.Random(bench.seed)
    count = bench.small(200, 20)
    shelf = bench.folder / "shelf"
    places.write_articles(shelf, PLACES)
    template = bench.home("refusals")
    indexed = template.run("index", str(shelf), "--corpus", CORPUS, "-q")
    if indexed.code:
        return Result(f"could not index at all: {indexed.err[-200:]}", False)
    _change(shelf)
    with qdrant_server(client, [], writable=True) as url:
        trial = _Trial(bench, library, template, shelf, client, url)
        with closing(trial):
            number = 0
            while trial.runs < count and number < 2 * count:
                fault = list(REFUSALS)[number % len(REFUSALS)]
                trial.one(list(trial.works)[chance.randrange(len(trial.works))], fault, chance)
                number += 1
    return trial.result()


def _change(shelf: Path) -> None:
    """One article more, one less, one with another text."""
    places.write_file(shelf / f"{places.town(0)}.md", places.town_article(0, 1))
    places.write_file(shelf / f"{places.town(PLACES)}.md", places.town_article(PLACES))
    (shelf / f"{places.bridge(1)}.md").unlink()


class Forks:
    """Runs commands in processes that are forked from one that has imported everything."""

    def __init__(self, home: Home, more: Mapping[str, str] | None = None) -> None:
        environment = {**home.environment({"OLLAMA_HOST": "127.0.0.1:9"}), **(more or {}), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", __name__]
        self._process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, home: Home, arguments: Sequence[str], environment: Mapping[str, str], sealed_from: int = 20_000
    ) -> Done:
        began, out, err = time.monotonic(), home.working / "out", home.working / "err"
        order = {
            "arguments": arguments,
            "environment": {"ITERATIVE_RAG_HOME": str(home.folder), **environment},
            "sealed_from": sealed_from,
            "places": [str(home.working), str(out), str(err)],
        }
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(order), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        printed, said = (path.read_text("utf-8", errors="replace") for path in (out, err))
        return Done(code, printed, said, time.monotonic() - began, 0.0, 0.0)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class _Trial:
    def __init__(
        self, bench: Bench, library: Path, template: Home, shelf: Path, client: InMemoryQdrant, url: str
    ) -> None:
        self._bench, self._library, self._template, self._shelf, self._client = bench, library, template, shelf, client
        self._encoder = BuiltinEncoder()
        self._forks = Forks(template, {"LD_PRELOAD": str(library)})
        index = ("index", str(shelf), "--corpus", CORPUS, "-q")
        self.works = {
            "index": Work(index, {}),
            "anew": Work(index, {"ITERATIVE_RAG_CHUNK_CHARS": "300"}),
            "remove": Work(("corpus", "remove", CORPUS, "--yes"), {}),
            "push": Work(("corpus", "push", CORPUS, f"{url}/pushed", "-q"), {}),
            "seal": Work(index, {}, sealed_from=1),
        }
        self._calls: dict[tuple[str, str], int] = {}
        self._before = self._state(template)
        self._articles_before = self._articles(template)
        self._after: dict[str, str] = {}
        self._articles_after: dict[str, Mapping[str, str]] = {}
        self.runs = 0
        self._endings = Counter[str]()
        self.lost: list[str] = []
        self.untold: list[str] = []
        self.stuck: list[str] = []

    def one(self, name: str, fault: str, chance: random.Random) -> None:
        """One fault at a random moment of a command."""
        work, refusal = self.works[name], REFUSALS[fault]
        calls = self._calls_of(name, refusal.kinds)
        if not calls:
            return
        at = chance.randint(1, calls)
        told = f"{name}, {fault} at {at} of {calls}"
        with self._home() as home:
            done = self._run(home, work, refusal.environment(self._library, home.folder, at))
            state = self._state(home)
            self.runs += 1
            after = self._after[name]
            ending = {self._before: "as before", after: "as after"}.get(state, "between")
            if ending == "between" and not self._each_old_or_new(home, self._articles_after[name]):
                ending = "lost"
                self.lost.append(f"{told}: exit {done.code}, {state[:160]}")
            self._endings[ending] += 1
            if done.code == 0 and state != after:
                self.untold.append(f"{told}: exit 0, but nothing was done")
            elif done.code and not (done.one_sentence and "panicked" not in done.err):
                self.untold.append(f"{told}: exit {done.code} {' '.join(done.err.split())[-160:]}")
            again = self._again(home, name, state)
            if again:
                self.stuck.append(f"{told}: {again}")

    def result(self) -> Result:
        wrong = [f"lost: {one}" for one in self.lost] + [f"untold: {one}" for one in self.untold]
        wrong += [f"stuck: {one}" for one in self.stuck]
        figures = (
            f"{self.runs} faults: {len(self.lost)} corpora lost, {len(self.untold)} not told in a sentence, "
            f"{len(self.stuck)} not gone on with; {dict(self._endings)}"
        )
        return Result(figures + (f": {'; '.join(wrong[:6])}" if wrong else ""), not wrong and self.runs > 0)

    def _calls_of(self, name: str, kinds: str) -> int:
        """How many calls of these kinds the command makes where nothing fails."""
        if (name, kinds) not in self._calls:
            with self._home() as home:
                counted = home.working / "count"
                counting = {"FAULTS_UNDER": f"{home.folder}/", "FAULTS_KINDS": kinds, "FAULTS_COUNT": str(counted)}
                done = self._run(home, self.works[name], counting)
                if done.code:
                    raise RuntimeError(f"{name} fails by itself: {done.err[-300:]}")
                self._calls[name, kinds] = int(counted.read_text()) if counted.exists() else 0
                self._after[name] = self._state(home)
                self._articles_after[name] = self._articles(home)
        return self._calls[name, kinds]

    def close(self) -> None:
        self._forks.close()

    def _run(self, home: Home, work: Work, faults: Mapping[str, str]) -> Done:
        return self._forks.run(home, work.arguments, {**work.environment, **faults}, work.sealed_from)

    def _again(self, home: Home, name: str, state: str) -> str:
        """What stands in the way of the same command without a fault; "" for nothing."""
        work = self.works[name]
        if state == GONE:
            return ""
        try:
            if name == "remove":
                _corpora(home).remove(CORPUS)
            elif name != "push":
                size = int(work.environment.get("ITERATIVE_RAG_CHUNK_CHARS", "500"))
                ingest([open_source(self._shelf)], _corpora(home), CORPUS, self._encoder, chunk_chars=size)
        except IterativeRAGError as error:
            return f"{type(error).__name__}: {error}"
        now = self._state(home)
        return "" if now == self._after[name] else now[:160]

    def _state(self, home: Home) -> str:
        """What the corpus answers: its articles and what three searches find."""
        try:
            with closing(_corpora(home).open(CORPUS, self._encoder)) as corpus:
                asked = [places.direct_question(n) for n in (0, 2, PLACES)]
                hits = [[hit.title for hit in found] for found in corpus.search(asked, 3)]
                return f"{corpus.digest()} {hits}"
        except CorpusNotFound:
            return GONE
        except IterativeRAGError as error:
            return f"{type(error).__name__}: {error}"

    def _articles(self, home: Home) -> Mapping[str, str]:
        """The text of each article that its own title finds; none where the corpus cannot be opened."""
        try:
            with closing(_corpora(home).open(CORPUS, self._encoder)) as corpus:
                titles = corpus.titles()
                hits = dict(zip(titles, corpus.search(titles, 20), strict=True))
                found = [title for title in titles if title in [hit.title for hit in hits[title]]]
                return {title: corpus.find(title)[0].text for title in found}
        except IterativeRAGError:
            return {}

    def _each_old_or_new(self, home: Home, after: Mapping[str, str]) -> bool:
        """Whether an update came half way: each article is as it was or as it is to be, and none is missing."""
        now, before = self._articles(home), self._articles_before
        stays = before.keys() & after.keys()
        return stays <= now.keys() and all(text in (before.get(one), after.get(one)) for one, text in now.items())

    @contextmanager
    def _home(self) -> Iterator[Home]:
        """A copy of the corpus as it was, for one trial."""
        home = self._bench.home("refused")
        subprocess.run(["cp", "-a", "--sparse=always", str(self._template.folder), str(home.folder)], check=True)
        try:
            yield home
        finally:
            shutil.rmtree(home.folder)
            for collection in self._client.get_collections().collections:
                self._client.delete_collection(collection.name)


def _corpora(home: Home) -> Corpora:
    return Corpora(home.folder / "corpora")


def _serve() -> None:
    """Run what each line of standard input orders in a process of its own; answer with its exit code."""
    import qdrant_edge  # noqa: F401

    from iterative_rag.cli import app  # noqa: F401
    from iterative_rag.index import edge_place

    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            working, out, err = order["places"]
            for path, stream in ((out, 1), (err, 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
            os.chdir(working)
            os.environ.update(order["environment"])
            edge_place.SEALED_POINTS = order["sealed_from"]
            signal.alarm(_SECONDS)
            _as_a_command(order["arguments"])
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _as_a_command(arguments: Sequence[str]) -> None:
    """Run it with the faults of the environment, and end this process."""
    from iterative_rag.cli import main

    preloaded, code = ctypes.CDLL(None), 1
    with suppress(AttributeError):  # where nothing is preloaded, nothing fails
        preloaded.faults_arm()
    try:
        main(arguments)
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with suppress(AttributeError):
            preloaded.faults_count()
        os._exit(code)


if __name__ == "__main__":
    _serve()
