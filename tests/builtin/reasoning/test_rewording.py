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
    assert rewording == Rewording(("wife Ann Lee uncle Bo Dahl",), "Ann Lee Bo Dahl")
    assert reword("Who wrote the Lord of the Tides?").broader == "Lord Tides"
    assert reword("Where was Ann Lee born?", "born Ann Lee").phrasings == ("Ann Lee born",)


def test_what_was_searched_for_is_not_again() -> None:
    assert reword("Where was Ann Lee born?", "Ann Lee born", "Ann Lee") == Rewording()
