"""What changed in these answers: kept answers are checked against a refreshed corpus, and asked again where they no
longer stand. Run it once a week, after the corpus was brought up to date.

    python examples/what_changed.py answers.json "Who is the mayor of Aldermere?"     # keeps a question and its answer
    iterative-rag index articles/ --corpus mine
    python examples/what_changed.py answers.json --corpus mine                        # says what changed since

Exit codes: 0 nothing changed, 1 something did, 2 it could not be told; the file then stays as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iterative_rag import Answer, IterativeRAG, IterativeRAGError, proof_of, verify_proof


def asked(rag: IterativeRAG, question: str) -> Answer:
    answer = rag.ask(question)
    if answer.fault:  # what was found until a server failed is no change
        raise IterativeRAGError(answer.fault.message, hint=answer.fault.hint)
    return answer


def said(answer: Answer) -> str:
    return answer.short_answer or answer.text or answer.reason


def changes(rag: IterativeRAG, kept: dict[str, Any], ask_all: bool) -> Iterator[str]:
    """A line for each answer that changed, or whose quotes did; `kept` then holds the new ones."""
    for question, (before, proof) in list(kept.items()):
        try:
            check = verify_proof(proof, rag.corpus)
            if check.holds and not ask_all:
                continue  # every quote still stands in its article: no model has to be asked
            lost = (one for one in check.quotes if not one.finding.holds)
            gone = "; ".join(f"“{one.quote}” ({one.title}: {one.finding})" for one in lost)
        except IterativeRAGError as error:  # kept by another version, or edited since
            gone = str(error)
        answer = asked(rag, question)
        now, kept[question] = said(answer), (said(answer), proof_of(answer, rag.corpus))
        if now != before:
            yield f"{question}\n  was: {before}\n  now: {now}\n  because of: {gone or 'no quote before'}"
        elif gone:
            yield f"{question}\n  still: {now}, but from another quote; gone is {gone}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where answers are kept (JSON)")
    parser.add_argument("questions", nargs="*", help="questions to keep from now on")
    parser.add_argument("--llm", default="auto", help="ollama/MODEL, openai-like/MODEL@URL, builtin ...")
    parser.add_argument("--corpus", default="", help="a corpus that was indexed before")
    parser.add_argument("--ask-all", action="store_true", help="ask again in any case: new articles may differ")
    given = parser.parse_args(arguments)
    kept = json.loads(given.file.read_text(encoding="utf-8")) if given.file.exists() else {}
    try:
        with IterativeRAG.from_settings(llm=given.llm, corpus=given.corpus) as rag:
            found = list(changes(rag, kept, given.ask_all))
            for question in given.questions:
                answer = asked(rag, question)
                kept[question] = (said(answer), proof_of(answer, rag.corpus))
                print(f"kept: {question} {said(answer)}")
    except IterativeRAGError as error:
        parser.exit(2, f"{error} {error.hint}".strip() + "\n")
    written = given.file.with_name(f"{given.file.name}.new")
    written.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(written, given.file)  # an interruption leaves the old file whole
    print("\n".join(found) or f"{len(kept)} answers, nothing changed.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
