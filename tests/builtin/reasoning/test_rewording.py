"""Rewording a need without an LLM."""

from __future__ import annotations

from iterative_rag.builtin.reasoning.rewording import BuiltinRewriter
from iterative_rag.protocols import Rewriter
from iterative_rag.types import Need, Rewording

REWRITER: Rewriter = BuiltinRewriter()


def reword(question: str, *tried: str) -> Rewording:
    return REWRITER.reword(Need(question), tried)


def test_key_words_and_the_subject() -> None:
    rewording = reword("Who is the wife of Ann Lee's uncle Bo Dahl?")
    assert "wife Ann Lee uncle Bo Dahl" in rewording.phrasings
    assert len(rewording.phrasings) <= 3
    assert reword("Where was Ann Lee born?").broader == "Ann Lee"
    assert reword("Who wrote the Lord of the Tides?").broader == "Lord of the Tides"
    assert reword("When was the Tower of Karsa finished?").broader == "Tower of Karsa"
