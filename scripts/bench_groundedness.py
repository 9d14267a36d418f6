"""How many unsupported claims the rule catches and how many supported ones it rejects. Run by hand.

    python scripts/bench_groundedness.py --half both --answers 600 --show 10

A scripted LLM answers questions about invented worlds from quoted facts, through the answering role; in 30 % of its
answers it adds a claim that no fact supports. The rule was tuned on one half of the templates; the other was written
before and left alone.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.groundedness_cases import case, drafted, judged, scenes
from iterative_rag.verification.groundedness import claims


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "held", "both"), default="both")
    parser.add_argument("--answers", type=int, default=1200, help="answers of each half")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="failures to print")
    given = parser.parse_args()
    for half in ("tuning", "held") if given.half == "both" else (given.half,):
        measure(half, given.answers, random.Random(given.seed), given.show)


def measure(half: str, answers: int, rng: random.Random, show: int) -> None:
    templates = scenes(half)
    kinds: collections.Counter[tuple[str, bool]] = collections.Counter()
    supported = rejected = 0
    for n in range(answers):
        made = case(templates[n % len(templates)], rng)
        draft = drafted(made)
        found = claims(made.inquiry, draft)
        caught, wrong = judged(made, found)
        if caught is not None:
            kinds[made.kind, caught] += 1
        supported += len(found) - (caught is not None)
        rejected += len(wrong)
        if show and (caught is False or wrong):
            show -= 1
            print(f"{'MISSED ' + made.kind if caught is False else 'REJECTED'}: {draft.text}")
            for claim in found:
                print(f"    {'+' if claim.grounded else '-'} {claim.text!r} {claim.facts} {claim.reason}")
    total = sum(kinds.values())
    right = sum(count for (_, caught), count in kinds.items() if caught)
    print(
        f"{half}: {answers} answers, {total} with an unsupported claim, caught {right} = {right / total:.1%};", end=" "
    )
    print(f"{supported} supported claims, rejected {rejected} = {rejected / supported:.1%}")
    for kind in sorted({kind for kind, _ in kinds}):
        print(f"    {kind:18} {kinds[kind, True]}/{kinds[kind, True] + kinds[kind, False]}")


if __name__ == "__main__":
    main()
