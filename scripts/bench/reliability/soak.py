"""Three processes on one data folder for as long as is wished: one indexes changed files again and again, two ask and
search, one of them from the command line and one that keeps running.

Run as a module it is the one that keeps running. What an article says changes with its version, so an answer tells
which version it was made of: it must be none that is older than what was published when the question began.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.reliability import asking, places
from scripts.bench.reliability.bench import CORPUS, LLM, Bench, Done, Home, Result
from scripts.bench.reliability.servers import ModelServer

PLACES, CHANGING = 40, 20
OK, STALE, MISFIT, REFUSED, EXCEPTION, UNANSWERED = "ok", "stale", "misfit", "refused", "exception", "unanswered"
CORPUS_EXIT = 4


@dataclass(frozen=True, slots=True)
class Shelf:
    """The articles on disk, and two files that say which versions are published and which are written at most."""

    folder: Path

    @property
    def articles(self) -> Path:
        return self.folder / "articles"

    def versions(self, name: str) -> dict[int, int]:
        found = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return {int(n): int(version) for n, version in found.items()}

    def tell(self, name: str, versions: dict[int, int]) -> None:
        places.write_file(self.folder / f"{name}.json", json.dumps(versions))

    def write(self, n: int, version: int) -> None:
        places.write_file(self.articles / f"{places.town(n)}.md", article(n, version))


def article(n: int, version: int) -> str:
    """The sentence that answers stands at another place in every version."""
    head, marker, rest = places.town_article(n, version).partition("\n\n")
    return f"{head}{marker}{'It rains. ' * (version % 7)}{rest}"


def judged(n: int, before: int, after: int, quotes: Sequence[tuple[str, int]], short: str | None) -> str:
    """What an answer (or, where `short` is None, a hit of a search) is worth; quotes come with where they begin."""
    fitting = {v for v in range(after + 1) if all(_fits(n, v, quote, start) for quote, start in quotes)}
    if short is not None:
        named = {v for v in range(after + 1) if short == places.mayor(n, v)}
        if not named or not quotes or not named & fitting:
            return MISFIT if named else UNANSWERED
        fitting &= named
    if not fitting:
        return MISFIT
    return OK if max(fitting) >= before else STALE


def _fits(n: int, version: int, quote: str, start: int) -> bool:
    return article(n, version).strip()[start:].startswith(quote.strip())


def soak(bench: Bench) -> Result:
    """Index, ask and search at the same time until the minutes are over."""
    ends = time.monotonic() + 60 * bench.soak_minutes
    home, shelf = bench.home("soak"), Shelf(bench.folder / "shelf")
    places.write_articles(shelf.articles, PLACES)
    versions = dict.fromkeys(range(PLACES), 0)
    for n in versions:
        shelf.write(n, 0)
    shelf.tell("written", versions)
    shelf.tell("published", versions)
    if (first := _index(home, shelf)).code:
        return Result(f"could not index at all: {first.err[-200:]}", False)
    verdicts, examples = Counter[str](), list[str]()
    with ModelServer(latency=0.02) as server:
        spec = (str(shelf.folder), str(ends - time.monotonic()), str(bench.seed))
        lasting = home.start(*spec, module="scripts.bench.reliability.soak", server=server)
        commands = threading.Thread(target=_ask_by_command, args=(home, shelf, server, ends, verdicts, examples))
        commands.start()
        rounds = _index_again(home, shelf, versions, ends, random.Random(bench.seed), verdicts, examples)
        commands.join()
        done = lasting.wait(60)
    rows = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    verdicts.update(row["verdict"] for row in rows)
    examples += [f"kept running: {row['verdict']} {row['told']}" for row in rows if row["verdict"] != OK]
    if done.code or not rows:
        verdicts[EXCEPTION] += 1
        examples.append(f"the process that keeps running: exit {done.code} {done.err[-150:]}")
    held = [row["megabytes"] for row in rows] or [0.0]
    bad = sum(count for verdict, count in verdicts.items() if verdict != OK)
    figures = (
        f"{bench.soak_minutes:g} min: {rounds} indexings, {verdicts.total() - len(rows)} commands, {len(rows)} in one "
        f"process ({held[len(held) // 10]:.0f} -> {held[-1]:.0f} MB): {verdicts[EXCEPTION]} exceptions, "
        f"{verdicts[REFUSED]} refusals, {verdicts[STALE]} stale, {verdicts[MISFIT]} quotes that do not fit, "
        f"{verdicts[UNANSWERED]} without an answer"
    )
    return Result(figures + (f": {'; '.join(examples[:3])}" if examples else ""), bad == 0 and rounds > 0)


def _index(home: Home, shelf: Shelf) -> Done:
    return home.run("index", str(shelf.articles), "--corpus", CORPUS, "-q", seconds=300)


def _index_again(
    home: Home,
    shelf: Shelf,
    versions: dict[int, int],
    ends: float,
    chance: random.Random,
    verdicts: Counter[str],
    examples: list[str],
) -> int:
    """Change some articles, index them, publish their versions; now and then an article comes or goes."""
    rounds, extra = 0, shelf.articles / "extra.md"
    while time.monotonic() < ends:
        for n in chance.sample(range(CHANGING), chance.randint(1, 6)):
            versions[n] = min(versions[n] + 1, places.VERSIONS - 1)
        shelf.tell("written", versions)
        for n, version in versions.items():
            shelf.write(n, version)
        if extra.exists():
            extra.unlink()
        elif chance.random() < 0.5:
            extra.write_text("# Extra\n\nAn article that comes and goes.\n", encoding="utf-8")
        done, rounds = _index(home, shelf), rounds + 1
        if done.code == 0:
            shelf.tell("published", versions)
            continue
        verdicts[REFUSED if done.code == CORPUS_EXIT else EXCEPTION] += 1
        examples.append(f"index: exit {done.code} {' '.join(done.err.split())[:100]}")
    return rounds


def _ask_by_command(
    home: Home, shelf: Shelf, server: ModelServer, ends: float, verdicts: Counter[str], examples: list[str]
) -> None:
    for number in itertools.count():
        if time.monotonic() > ends:
            return
        n = number * 7 % CHANGING if number % 4 else CHANGING + number % CHANGING
        before = shelf.versions("published")[n]
        if number % 2:
            done = home.ask(places.direct_question(n), server=server)
        else:
            done = home.run("search", f"The mayor of {places.town(n)}", "--corpus", CORPUS, "--json", "-n", "5")
        after = shelf.versions("written")[n]
        verdict = _of_command(n, before, after, done, search=not number % 2)
        verdicts[verdict] += 1
        if verdict != OK:
            examples.append(f"command: {verdict}, exit {done.code} {' '.join((done.err or done.out).split())[-100:]}")


def _of_command(n: int, before: int, after: int, done: Done, *, search: bool) -> str:
    if "Traceback" in done.err or "Unexpected" in done.err or done.code in (1, 124) or done.code < 0:
        return EXCEPTION
    if done.code == CORPUS_EXIT:
        return REFUSED
    if search:
        return _of_hits(n, before, after, [(hit["text"], hit["start"]) for hit in done.json.get("items", [])])
    if done.code:
        return UNANSWERED
    quotes = [(one["quote"], one["start"]) for one in done.json["citations"]]
    return judged(n, before, after, quotes, done.json["short_answer"])


def _of_hits(n: int, before: int, after: int, hits: Sequence[tuple[str, int]]) -> str:
    own = [(text, start) for text, start in hits if f"The mayor of {places.town(n)} is" in text]
    return judged(n, before, after, own, None) if own else UNANSWERED


# --- inside the process that keeps running ---------------------------------------------------


def main() -> None:
    from iterative_rag import IterativeRAG

    shelf, ends, chance = Shelf(Path(sys.argv[1])), time.monotonic() + float(sys.argv[2]), random.Random(sys.argv[3])
    rag = IterativeRAG.from_settings(llm=LLM, corpus=CORPUS)
    while time.monotonic() < ends:
        n = chance.randrange(PLACES)
        before = shelf.versions("published")[n]
        told, verdict = "", EXCEPTION
        try:
            verdict, told = _once(rag, shelf, n, before, search=chance.random() < 0.5)
        except Exception as error:  # noqa: BLE001 - every one is counted and shown
            from iterative_rag.errors import CorpusError

            verdict, told = REFUSED if isinstance(error, CorpusError) else EXCEPTION, f"{type(error).__name__}: {error}"
        print(json.dumps({"verdict": verdict, "told": told[:200], "megabytes": asking.resident()}), flush=True)
        time.sleep(0.05)
    rag.close()


def _once(rag: Any, shelf: Shelf, n: int, before: int, *, search: bool) -> tuple[str, str]:
    if search:
        (hits,) = rag.corpus.search([f"The mayor of {places.town(n)}"], 5)
        texts = [(rag.corpus.document(hit.document_id).text[hit.start : hit.end], hit.start) for hit in hits]
        return _of_hits(n, before, shelf.versions("written")[n], texts), f"search for {places.town(n)}"
    answer = rag.ask(places.direct_question(n))
    after = shelf.versions("written")[n]
    quotes = [(one.quote, one.start) for one in answer.citations]
    verdict = judged(n, before, after, quotes, answer.short_answer)
    return verdict, f"{answer.status} {answer.short_answer!r} {answer.reason}"


if __name__ == "__main__":
    main()
