"""What becomes of questions that ask why, how, for a summary, a comparison or a report; run by hand.

    python -m scripts.bench_long_answers --llm SPEC [--length paragraph] [--only l03,l17] [-c 4] [--each] [--json FILE]

Asks evaluation/long_questions.jsonl of the starter corpus and counts: sentences (and cells), how many cite a quote, how
many the rules prove word for word (the others name nothing that their quotes do not, and leave the relation to the
model), what the check took out, bare values, answers that quote a gold article, calls and tokens. Quotes are compared
with their documents once more. With `--llm builtin` the answers are extracts: their sentences are quotes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag import Answer, AnswerForm, IterativeRAG, IterativeRAGError, Status
from iterative_rag.text.citation_markers import MARKER, cited_numbers
from iterative_rag.text.sentences import sentences
from iterative_rag.text.text_blocks import TextHeading, TextTable, text_blocks
from iterative_rag.verification.text_check import EMPTY_CELL

QUESTIONS = Path(__file__).resolve().parent.parent / "evaluation" / "long_questions.jsonl"
# An answer of fewer words is a bare value.
BARE = 5


@dataclass(frozen=True)
class Counts:
    """Of one answer, or of all."""

    answered: int = 0
    sentences: int = 0
    cited: int = 0
    proved: int = 0
    left_out: int = 0
    bare: int = 0
    on_gold: int = 0
    quotes: int = 0
    verbatim: int = 0
    calls: int = 0
    tokens: int = 0
    faults: int = 0

    def __add__(self, other: Counts) -> Counts:
        names = (field.name for field in dataclasses.fields(self))
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})


def units(answer: Answer) -> list[str]:
    """The sentences of the answer, and the cells of its tables that say something."""
    found: list[str] = []
    for block in text_blocks(answer.text):
        if isinstance(block, TextTable):
            found += [cell for row in block.rows[1:] for cell in row[1:] if cell not in ("", EMPTY_CELL)]
        elif not isinstance(block, TextHeading):
            found += sentences(block.text)
    return found


def counted(answer: Answer, rag: IterativeRAG, gold: list[str]) -> Counts:
    said = units(answer) if answer.status is not Status.ABSTAINED else []
    if answer.form is AnswerForm.EXTRACT and answer.status is Status.ANSWERED:
        said = [f"{citation.quote} [{citation.n}]" for citation in answer.citations]
    text = MARKER.sub("", answer.text if answer.text else answer.short_answer)
    left_out = re.search(r"proves it: (\d+)", " ".join(answer.caveats))
    documents = {fact.source: fact.document_id for hop in answer.hops for fact in hop.facts}
    return Counts(
        answered=answer.status is Status.ANSWERED,
        sentences=len(said),
        cited=sum(bool(cited_numbers(one)) for one in said),
        proved=len(said) if answer.form is AnswerForm.EXTRACT else sum(not one.reason for one in answer.claims),
        left_out=int(left_out[1]) if left_out else 0,
        bare=answer.status is Status.ANSWERED and len(text.split()) < BARE,
        on_gold=bool({citation.title for citation in answer.citations} & set(gold)),
        quotes=len(answer.citations),
        verbatim=sum(
            rag.corpus.document(documents[one.source]).text[one.start : one.end] == one.quote
            for one in answer.citations
            if one.source in documents
        ),
        calls=answer.usage.llm_calls,
        tokens=answer.usage.prompt_tokens + answer.usage.completion_tokens,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm", default="builtin")
    parser.add_argument("--length", default="short", choices=["short", "paragraph", "report"])
    parser.add_argument("-c", "--concurrency", type=int, default=1, help="questions at once")
    parser.add_argument("--only", default="", metavar="IDS", help="ids of questions, with commas between")
    parser.add_argument("--each", action="store_true", help="print every answer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers and their counts, a line each")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    wanted = set(filter(None, given.only.split(",")))
    rows = [row for row in rows if not wanted or row["id"] in wanted]
    total, forms, kept = Counts(), Counter[str](), []
    with (
        IterativeRAG.from_settings(llm=given.llm, corpus="starter", length=given.length) as rag,
        ThreadPoolExecutor(given.concurrency) as threads,
    ):
        asked = [threads.submit(rag.ask, row["question"]) for row in rows]
        for row, pending in zip(rows, asked, strict=True):
            try:
                answer = pending.result()
            except IterativeRAGError as error:
                print(f"{row['id']} {error}", file=sys.stderr)
                total += Counts(faults=1)
                continue
            counts = counted(answer, rag, row["gold_titles"])
            total += counts
            forms[str(answer.form) if answer.status is Status.ANSWERED else str(answer.status)] += 1
            kept.append({**row, "form": answer.form, "status": answer.status, "answer": answer.text, **vars_of(counts)})
            if given.each:
                print(
                    f"\n{row['id']} {row['question']}  [{answer.status}, {answer.form}]\n{answer.text or answer.reason}"
                )
                print(*(f"  caveat: {caveat}" for caveat in answer.caveats), sep="\n")
    if given.json:
        given.json.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in kept), encoding="utf-8")
    report(total, forms, len(rows))


def vars_of(counts: Counts) -> dict[str, int]:
    return {name: int(value) for name, value in dataclasses.asdict(counts).items()}


def report(total: Counts, forms: Counter[str], count: int) -> None:
    print(f"\n{count} questions: {', '.join(f'{n} {form}' for form, n in forms.most_common())}, {total.faults} faults")
    print(f"answered       {total.answered}, {total.bare} by a bare value, {total.on_gold} quote a gold article")
    print(f"sentences      {total.sentences}, {total.cited} cited, {total.proved} proved by the rules")
    print(f"left out       {total.left_out}")
    print(f"quotes         {total.quotes}, {total.verbatim} verbatim in their documents")
    print(f"calls, tokens  {total.calls / count:.1f} and {total.tokens / count:.0f} a question")


if __name__ == "__main__":
    main()
