"""Files of a corpus that are damaged, each in many ways: one sentence and no panic, and indexing mends it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, Bench, Done, Result
from scripts.bench.reliability.refusals import Forks

PLACES = 4


def _flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(20 if content else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


WAYS: Mapping[str, Callable[[bytes, random.Random], bytes | None]] = {
    "gone": lambda content, chance: None,
    "empty": lambda content, chance: b"",
    "half": lambda content, chance: content[: len(content) // 2],
    "zeros": lambda content, chance: bytes(len(content)),
    "noise": lambda content, chance: chance.randbytes(len(content)),
    "flips": _flipped,
    "head": lambda content, chance: chance.randbytes(min(64, len(content))) + content[64:],
}


def corpus_damage(bench: Bench) -> Result:
    """Each file of a corpus damaged in seven ways: search says one sentence or finds, index mends or says why not."""
    shelf, template = bench.folder / "damaged-shelf", bench.home("damage")
    places.write_articles(shelf, PLACES)
    index = ("index", str(shelf), "--corpus", CORPUS, "-q")
    if template.run(*index).code:
        return Result("could not index at all", False)
    files = sorted(path for path in template.folder.rglob("*") if path.is_file() and "locks" not in path.parts)
    cases = [(path.relative_to(template.folder), way) for path in files for way in WAYS]
    chance, endings = random.Random(bench.seed), Counter[str]()
    panics, untold, unmended = list[str](), list[str](), list[str]()
    search = ("search", places.direct_question(2), "--corpus", CORPUS)
    with closing(Forks(template)) as forks:
        for path, way in cases[:: bench.small(1, 9)]:
            home = bench.home("damaged")
            subprocess.run(["cp", "-a", "--sparse=always", str(template.folder), str(home.folder)], check=True)
            _damage(home.folder / path, WAYS[way], chance)
            told = f"{path.name} {way}"
            found, mended, again = (forks.run(home, line, {}) for line in (search, index, search))
            panics += [told] if any("panicked" in done.err for done in (found, mended, again)) else []
            untold += [told] if not all(map(_told, (found, mended, again))) else []
            unmended += [f"{told}: {mended.err[:100]}"] if again.code or places.gazette(2) not in again.out else []
            endings["found" if found.code == 0 else "refused"] += 1
            shutil.rmtree(home.folder)
    wrong = [f"{len(panics)} panics", f"{len(untold)} not in one sentence", f"{len(unmended)} not mended by index"]
    named = "; ".join([*panics, *untold, *unmended][:5])
    figures = f"{sum(endings.values())} damaged files, {dict(endings)}: {', '.join(wrong)}"
    return Result(figures + (f": {named}" if named else ""), not panics and not untold and not unmended)


def _told(done: Done) -> bool:
    return done.code == 0 or (done.code == 4 and done.one_sentence)


def _damage(path: Path, way: Callable[[bytes, random.Random], bytes | None], chance: random.Random) -> None:
    content = way(path.read_bytes(), chance)
    if content is None:
        os.unlink(path)
    else:
        path.write_bytes(content)
