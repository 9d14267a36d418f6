"""How many unsupported claims the rule catches and how many supported ones it rejects.

    python -m scripts.bench.groundedness --answers 600 --show 10

A scripted LLM answers questions about invented worlds from quoted facts, through the answering role; in 30 % of its
answers it adds a claim that no fact supports. The rule was tuned on one half of the templates; the other was written
before and left alone.
"""

from __future__ import annotations

import collections
import random

from fakes.groundedness_cases import case, drafted, judged, scenes
from iterative_rag.verification.groundedness import check
from scripts.bench import harness


def groundedness(half: str = "both", answers: int = 1200, seed: int = 1, show: int = 0) -> None:
    """Both halves of the templates, or "tuning" or "held"; `answers` of each, and `show` failures in full."""
    for name in ("tuning", "held") if half == "both" else (half,):
        measure(name, answers, random.Random(seed), show)


def measure(half: str, answers: int, rng: random.Random, show: int) -> None:
    templates = scenes(half)
    caught: dict[str, list[bool]] = collections.defaultdict(list)
    supported = rejected = 0
    for n in range(answers):
        made = case(templates[n % len(templates)], rng)
        draft = drafted(made)
        found = tuple(checked.claim for checked in check(made.inquiry, draft))
        seen, wrong = judged(made, found)
        if seen is not None:
            caught[made.kind].append(seen)
        supported += len(found) - (seen is not None)
        rejected += len(wrong)
        if show and (seen is False or wrong):
            show -= 1
            print(f"{'MISSED ' + made.kind if seen is False else 'REJECTED'}: {draft.text}")
            for claim in found:
                print(f"    {'+' if claim.grounded else '-'} {claim.text!r} {claim.facts} {claim.reason}")
    every = [one for seen in caught.values() for one in seen]
    print(f"\n{half}: {answers} answers; supported claims rejected: {rejected} of {supported}\n")
    kinds = {**dict(sorted(caught.items())), "all": every}
    harness.show({"unsupported": kind, "caught": harness.share(seen)} for kind, seen in kinds.items())


if __name__ == "__main__":
    harness.run(groundedness)
