"""The documents agree with the code: the API reference is up to date, links lead somewhere, what is named is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import iterative_rag
from iterative_rag import protocols

ROOT = Path(__file__).parent.parent
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_api_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.make_api_docs", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def protocol_classes() -> dict[str, type]:
    found = {name: value for name, value in vars(protocols).items() if getattr(value, "_is_protocol", False)}
    del found["Protocol"]
    return found


def test_the_api_reference_describes_every_public_name() -> None:
    names = {name for name in iterative_rag.__all__ if not name.startswith("_")}
    names |= protocol_classes().keys()
    described = {line.removeprefix("### ") for line in API.splitlines() if line.startswith("### ")}
    assert names <= described


def test_every_protocol_says_what_it_is_for() -> None:
    assert len(protocol_classes()) >= 20
    for name, protocol in protocol_classes().items():
        assert protocol.__doc__, name
        for member, value in vars(protocol).items():
            if not member.startswith("_"):
                assert (value.fget if isinstance(value, property) else value).__doc__, f"{name}.{member}"
