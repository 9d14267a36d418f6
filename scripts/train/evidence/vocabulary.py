"""Choose the word pieces that the exported reader keeps; rarer words are then spelt with shorter pieces.

    python -m scripts.train.evidence.vocabulary --data FOLDER --rows FOLDER --out FILE [--keep 16000]

A row of the large body's word table takes 768 bytes, so 30,522 of them are a third of the file. Pieces are counted in
the training rows and in the pages of the data folder. The tokenizer written keeps their numbers, so rows made with it
(`make_rows --tokenizer`) can be mixed with others, and a training can go over to it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from scripts.train.evidence import files
from scripts.train.evidence.make_rows import VOCABULARY

PAGES = "frames/pages.jsonl.gz"
PAGE_CHARACTERS = 5_000


def counted(folder: Path, rows: Path, tokenizer: Tokenizer) -> Counter[int]:
    """How often each piece is used, by its number."""
    counts: Counter[int] = Counter()
    for path in sorted(rows.glob("epoch-*.npz"))[:1]:
        with np.load(path, allow_pickle=False) as found:
            counts.update(found["ids"].tolist())
    for page in files.rows(folder, PAGES):
        # A part of each page: pages are longer than what is asked about them.
        text = f"{page['title']} {page['text'][:PAGE_CHARACTERS]}"
        counts.update(tokenizer.encode(text, add_special_tokens=False).ids)
    return counts


def pruned(vocabulary: dict[str, int], counts: Counter[int], keep: int) -> dict[str, int]:
    """The pieces to keep: special ones, single characters, of which every word can be spelt, and the most used."""

    def needed(piece: str) -> bool:
        return piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") or len(piece.removeprefix("##")) == 1

    kept = {piece: number for piece, number in vocabulary.items() if needed(piece)}
    ordered = sorted(vocabulary.items(), key=lambda item: (-counts[item[1]], item[1]))
    for piece, number in ordered:
        if len(kept) >= keep:
            break
        kept[piece] = number
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True, help="folder of `make_rows`")
    parser.add_argument("--out", type=Path, required=True, help="file of the tokenizer")
    parser.add_argument("--keep", type=int, default=16_000)
    arguments = parser.parse_args()

    about = json.loads(VOCABULARY.read_text(encoding="utf-8"))
    counts = counted(arguments.data, arguments.rows, Tokenizer.from_file(str(VOCABULARY)))
    kept = pruned(about["model"]["vocab"], counts, arguments.keep)
    about["model"]["vocab"] = dict(sorted(kept.items(), key=lambda item: item[1]))
    arguments.out.write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
    share = sum(counts[number] for number in kept.values()) / sum(counts.values())
    print(f"{len(kept)} pieces, {100 * share:.2f} % of what is written, {arguments.out}")


if __name__ == "__main__":
    main()
