"""What becomes of questions that ask why, how, for a summary, a comparison or a report.

    python -m scripts.bench.long_answers --llm SPEC [--length paragraph] [--only l03,l17] [--each] [--json FILE]

Asks evaluation/long_questions.jsonl of the starter corpus and counts: sentences (and cells), how many cite a quote, how
many the rules prove word for word (the others name nothing that their quotes do not, and leave the relation to the
model), what the check took out, bare values, answers that quote a gold article, calls and tokens. Quotes are compared
with their documents once more. With `--llm builtin` the answers are extracts: their sentences are quotes.
"""

from __future__ import annotations

import json as json_text
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from iterative_rag import Answer, AnswerForm, IterativeRAG, IterativeRAGError, Status
from iterative_rag.text.citation_markers import MARKER, cited_numbers
from iterative_rag.text.sentences import sentences
from iterative_rag.text.text_blocks import TextHeading, TextTable, text_blocks
from iterative_rag.verification.text_check import EMPTY_CELL
from scripts.bench import harness

# An answer of fewer words is a bare value.
BARE = 5


def units(answer: Answer) -> list[str]:
    """The sentences of the answer, and the cells of its tables that say something."""
    if answer.status is Status.ABSTAINED:
        return []
    if answer.form is AnswerForm.EXTRACT and answer.status is Status.ANSWERED:
        return [f"{citation.quote} [{citation.n}]" for citation in answer.citations]
    found: list[str] = []
    for block in text_blocks(answer.text):
        if isinstance(block, TextTable):
            found += [cell for row in block.rows[1:] for cell in row[1:] if cell not in ("", EMPTY_CELL)]
        elif not isinstance(block, TextHeading):
            found += sentences(block.text)
    return found


def counted(answer: Answer, rag: IterativeRAG, gold: list[str]) -> Counter[str]:
    said, extract = units(answer), answer.form is AnswerForm.EXTRACT
    text = MARKER.sub("", answer.text or answer.short_answer)
    left_out = re.search(r"proves it: (\d+)", " ".join(answer.caveats))
    documents = {fact.source: fact.document_id for hop in answer.hops for fact in hop.facts}
    answered = answer.status is Status.ANSWERED
    return Counter(
        {
            "answered": answered,
            "bare values": answered and len(text.split()) < BARE,
            "quote a gold article": bool({citation.title for citation in answer.citations} & set(gold)),
            "sentences": len(said),
            "cited": sum(bool(cited_numbers(one)) for one in said),
            "proved": len(said) if extract else sum(not one.reason for one in answer.claims),
            "left out": int(left_out[1]) if left_out else 0,
            "quotes": len(answer.citations),
            "verbatim": sum(
                rag.corpus.document(documents[one.source]).text[one.start : one.end] == one.quote
                for one in answer.citations
                if one.source in documents
            ),
            "calls": answer.usage.llm_calls,
            "tokens": answer.usage.prompt_tokens + answer.usage.completion_tokens,
        }
    )


def long_answers(
    llm: str = "builtin",
    length: str = "short",
    concurrency: int = 1,
    only: str = "",
    each: bool = False,
    json: Path | None = None,
) -> None:
    """Counts over all questions (`only`: of these ids); `each` prints the answers, `json` names a file for them."""
    rows = harness.rows_of(harness.EVALUATION / "long_questions.jsonl")
    rows = [row for row in rows if row["id"] in (only.split(",") if only else row["id"])]
    total, forms, kept = Counter[str](), Counter[str](), []
    with (
        IterativeRAG.from_settings(llm=llm, corpus="starter", length=length) as rag,
        ThreadPoolExecutor(concurrency) as threads,
    ):
        asked = [threads.submit(rag.ask, row["question"]) for row in rows]
        for row, pending in zip(rows, asked, strict=True):
            try:
                answer = pending.result()
            except IterativeRAGError as error:
                print(f"{row['id']} {error}", file=sys.stderr)
                forms["faults"] += 1
                continue
            counts = counted(answer, rag, row["gold_titles"])
            total.update(counts)
            forms[str(answer.form) if answer.status is Status.ANSWERED else str(answer.status)] += 1
            told = {"form": answer.form, "status": answer.status, "answer": answer.text}
            kept.append({**row, **told, **{name: int(count) for name, count in counts.items()}})
            if each:
                print(f"\n{row['id']} {row['question']}  [{answer.status}, {answer.form}]")
                print(answer.text or answer.reason, *(f"  caveat: {caveat}" for caveat in answer.caveats), sep="\n")
    if json:
        json.write_text("".join(json_text.dumps(one, ensure_ascii=False) + "\n" for one in kept), encoding="utf-8")
    print(f"{len(rows)} questions: {', '.join(f'{n} {form}' for form, n in forms.most_common())}\n")
    harness.show({"count": name, "all": int(count), "a question": count / len(rows)} for name, count in total.items())


if __name__ == "__main__":
    harness.run(long_answers)
