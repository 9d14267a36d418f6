"""Questions of one hop about articles set aside from training, with the passages of all of them as the corpus."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from scripts.train.evidence.asked import NO, YES

FILES = ("measure.jsonl", "measure_short.jsonl")
# Questions taken of each source; those of the last have no answer in their article.
TAKEN = {
    "squad1_train": 70,
    "boolq": 60,
    "squad1_dev": 40,
    "squad2": 40,
    "popqa": 40,
    "squadshifts_wiki": 30,
    "nq_qed": 30,
    "2wiki": 30,
    "nq": 20,
    "timeqa": 20,
    "squad2_dev_unanswerable": 40,
}
NO_ANSWER = "(no answer)"


def write_one_hop(folder: Path, file: Path) -> None:
    """Write a file of questions in the multi-hop form, from the rows that `evidence.make_rows` left for measuring."""
    rows = [json.loads(line) for name in FILES for line in (folder / name).read_text("utf-8").splitlines()]
    prose = [row for row in rows if "infobox" not in row["source"] and "table" not in row["source"]]
    chosen = _chosen(prose)
    passages = list(dict.fromkeys((_title(row), row["shown"]["text"]) for row in prose))
    with file.open("w", encoding="utf-8") as out:
        for place, row in enumerate(chosen):
            answers = _answers(row)
            own = (_title(row), row["shown"]["text"])
            others = [one for one in passages[place :: len(chosen)] if one != own]
            paragraphs = [
                {"title": title, "text": text, "supporting": (title, text) == own} for title, text in (own, *others)
            ]
            about = {"id": f"{row['source']}-{place}", "question": row["question"], "paragraphs": paragraphs}
            out.write(json.dumps(about | {"answer": answers[0], "aliases": answers[1:]}) + "\n")


def _chosen(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """TAKEN of each source, by the hash of the question."""
    ordered = sorted(rows, key=lambda row: hashlib.sha256(f"{row['question']}{row['source']}".encode()).hexdigest())
    found: dict[str, list[dict[str, Any]]] = {source: [] for source in TAKEN}
    for row in ordered:
        if (of := found.get(row["source"])) is not None and len(of) < TAKEN[row["source"]] and _answers(row):
            of.append(row)
    return [row for of in found.values() for row in of]


def _title(row: dict[str, Any]) -> str:
    shown = row["shown"]
    return str(shown["title"] or shown["text"][:40])


def _answers(row: dict[str, Any]) -> list[str]:
    """The accepted answers; none for a row that neither answers its question nor was made to be unanswerable."""
    if row["source"] == "squad2_dev_unanswerable":
        return [NO_ANSWER]
    if row["source"] == "boolq":
        return {YES: ["yes"], NO: ["no"]}.get(row["polar"], [])
    return [row["shown"]["text"][start:end] for start, end in row["shown"].get("spans", ())]
