"""Put an exported reader into the package: its file into the weights, the digests into the code.

    python -m scripts.train.evidence.install --network FILE

`evidence.json` is written with neutral weights where there is none; `fit_reading` fits them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import iterative_rag.builtin.reading.evidence_reader as code

WEIGHTS = Path("iterative_rag/builtin/weights")
VALUE = {"bias": 0.0, "answerable": 0.7, "share": 0.5, "kind": 0.5}
VALUE |= dict.fromkeys(("crosses", "long", "missing", "titled"), 0.0)
POLAR = {"bias": 0.0, "yes": 0.0, "decided": 1.0, "apart": 0.5, "missing": -1.0, "titled": 0.0}
# Until it is fitted, an answer is trusted as its weakest step is.
ANSWER = {"bias": 0.0, "weakest": 1.0}
ANSWER |= dict.fromkeys(("chain", "documents", "facts", "steps", "rivals", "covered"), 0.0)
ANSWER |= dict.fromkeys(("needs", "opposed", "worked out", "again"), 0.0)
FINDINGS = {"value": VALUE, "polar": POLAR, "answer": ANSWER}
NEUTRAL = {"answerable": [1.0, 0.3, 0.0], "findings": FINDINGS}


def put_settings(about: Mapping[str, object]) -> None:
    (WEIGHTS / "evidence.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def put_findings(kind: str, weights: Mapping[str, float]) -> None:
    """Put the weights of one kind of finding in place of those before."""
    about = json.loads((WEIGHTS / "evidence.json").read_text(encoding="utf-8"))
    about["findings"][kind] = dict(weights)
    put_settings(about)
    put_digests()


def put_digests() -> None:
    """The digests of the files into WEIGHTS of evidence_reader.py."""
    path = Path(code.__file__)
    text = path.read_text(encoding="utf-8")
    for name, file in (
        ("_NETWORK", "evidence.onnx"),
        ("_SETTINGS", "evidence.json"),
        ("_VOCABULARY", "evidence_vocabulary.json"),
    ):
        digest = hashlib.sha256((WEIGHTS / file).read_bytes()).hexdigest()
        text = re.sub(rf'^    {name}: "\w*",$', f'    {name}: "{digest}",', text, flags=re.MULTILINE)
        print(f"{digest}  {file}")
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", type=Path, required=True, help="file of `export`")
    arguments = parser.parse_args()
    shutil.copyfile(arguments.network, WEIGHTS / "evidence.onnx")
    if not (WEIGHTS / "evidence.json").exists():
        put_settings(NEUTRAL)
    put_digests()


if __name__ == "__main__":
    main()
