"""The files that the evidence reader learns from, as they lie in the data folder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

READING = ("reading/reading_train.jsonl", "reading/reading_train_2.jsonl.gz")
BOOLQ = "reading/boolq.jsonl.gz"
TIMEQA = "reading/timeqa_train.jsonl.gz"
HOTPOT = ("multihop/hotpotqa_2.jsonl.gz", "multihop/hotpotqa_train.jsonl")
HOTPOT_SENTENCES = "multihop/hotpotqa_dev_gold_sentences.jsonl.gz"
TRIPLES = "multihop/2wiki_dev_evidences.jsonl.gz"
QUESTIONS_ON_TABLES = "tables/wikitablequestions_train.jsonl.gz"
TABLES = "tables/wikitablequestions_tables.jsonl.gz"
# Every file with questions that may be trained on.
TRAINABLE = (*READING, BOOLQ, TIMEQA, *HOTPOT, HOTPOT_SENTENCES, TRIPLES, QUESTIONS_ON_TABLES)


def rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON Lines, packed or not; none where the file is absent."""
    path = folder / name
    if not path.exists():
        return
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def table_titles(folder: Path) -> dict[str, str]:
    """Name of a table -> title of its article."""
    return {row["table"]: row["title"] for row in rows(folder, TABLES)}
