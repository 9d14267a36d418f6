"""Count the LLM calls of questions against a mechanical mind that knows the answers from a dataset; run by hand.

    python scripts/bench_llm_calls.py MUSIQUE.jsonl [--questions 60] [--at-once 1] [--weak 0.3]

MUSIQUE.jsonl has a decomposition in every row. Its paragraphs are pooled into one corpus in ITERATIVE_RAG_HOME and
indexed once. The mind finds what stands in the text it is shown, so the figures are those of the loop around it: calls,
extractions for each need, those that found nothing, and tokens of the prompts (four characters each).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.decomposition_mind import DecompositionMind, chains
from fakes.weak_model import WeakModel
from iterative_rag import IterativeRAG
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.paragraph_pools import pool
from iterative_rag.settings import load_settings
from iterative_rag.types import FinalStep, ReadingStep


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=1, help="calls in flight")
    parser.add_argument("--weak", type=float, default=0.0, metavar="SHARE", help="share of replies that break a rule")
    parser.add_argument("--each", action="store_true", help="print every question")
    arguments = parser.parse_args()
    if not arguments.file.is_file():
        sys.exit(f"Skipped: {arguments.file} is not here.")
    rows = [json.loads(line) for line in arguments.file.read_text(encoding="utf-8").splitlines()]
    known = chains(rows)[: arguments.questions]
    name = pool(load(arguments.file), load_settings({"llm": "builtin"}), BuiltinEncoder())

    mind, needs, right, read, statuses = DecompositionMind(known), 0, 0, 0, Counter[str]()
    llm = WeakModel(mind, share=arguments.weak) if arguments.weak else mind
    rag = IterativeRAG.from_settings(llm=llm, corpus=name, cache=False, calls_in_flight=arguments.at_once)
    for chain in known:
        before, asked = mind.calls.total(), needs
        for step in rag.steps(chain.question):
            if isinstance(step, ReadingStep):
                needs, read = needs + 1, read + step.read
            elif isinstance(step, FinalStep):
                right += step.answer.short_answer == chain.links[-1].answer
                statuses[str(step.answer.status)] += 1
                if arguments.each:
                    print(mind.calls.total() - before, needs - asked, step.answer.status, chain.question)
    count, extractions = len(known), mind.calls["extract"]
    print(f"{count} of {len(rows)} questions whose answers stand word for word in their paragraphs")
    print(f"right          {right} ({', '.join(f'{n} {status}' for status, n in statuses.items())})")
    print(f"calls          {mind.calls.total() / count:.1f} a question: {dict(mind.calls)}")
    print(f"extractions    {extractions / needs:.2f} a need ({extractions} for {needs}), {mind.empty} found nothing")
    print(f"prompt tokens  {mind.prompt_tokens / count:.0f} a question")


if __name__ == "__main__":
    main()
