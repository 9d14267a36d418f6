"""Loads the networks ahead of the first question, in parallel to other preparations."""

from __future__ import annotations

from iterative_rag.builtin.encoder import EncoderNetwork
from iterative_rag.builtin.networks import lazy
from iterative_rag.builtin.question.splitter import SplitterNetwork
from iterative_rag.builtin.reading.evidence_reader import EvidenceNetwork


def load_networks() -> None:
    """Load the packaged networks in the order in which a question needs them. Raises WeightsError."""
    for network in (SplitterNetwork, EncoderNetwork, EvidenceNetwork):
        lazy(network, None)()
