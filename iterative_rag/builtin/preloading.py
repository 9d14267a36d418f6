"""Loads the networks ahead of the first question, in parallel to other preparations."""

from __future__ import annotations

from iterative_rag.builtin import encoder
from iterative_rag.builtin.question import splitter
from iterative_rag.builtin.reading import evidence_reader


def load_networks() -> None:
    """Load the packaged networks in the order in which a question needs them. Raises WeightsError."""
    for module in (splitter, encoder, evidence_reader):
        module.load()
