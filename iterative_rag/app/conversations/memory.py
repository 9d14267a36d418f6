"""What a conversation tells its next run: the latest exchanges, and the cited facts of all of them within a set size.

Nothing that was cited is ever left out of the conversation itself; what is bounded is what a prompt has to hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.app.conversations.values import Conversation
from iterative_rag.types import Earlier, Exchange, Fact

# Exchanges that a follow-up may speak of; older ones count by their cited facts alone.
EXCHANGES = 6
# Characters of one answer's text among them, and of all facts without their quotes. A prompt adds as much of the quotes
# as it has room for, so that a fact whose quote does not fit is told by its statement and keeps its citation.
TEXT_CHARS = 300
FACT_CHARS = 6000
_FACT_OVERHEAD = 20  # its number and its marks
_WORD = re.compile(r"\w{3,}")


def earlier_of(conversation: Conversation, follow_up: str) -> Earlier:
    """The latest exchanges, and the facts that fit, oldest first: those of the latest exchanges and those that share
    words with the follow-up before others."""
    exchanges = tuple(_shortened(turn.exchange) for turn in conversation.turns[-EXCHANGES:])
    by_turn = [turn.facts for turn in conversation.turns]
    return Earlier(exchanges, fitting_facts(by_turn, follow_up))


def _shortened(exchange: Exchange) -> Exchange:
    text = exchange.text
    shown = text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS].rstrip()} …"
    return Exchange(exchange.question, exchange.short_answer, shown)


def fitting_facts(by_turn: Sequence[Sequence[Fact]], follow_up: str) -> tuple[Fact, ...]:
    """The facts of the turns that a prompt has room for, oldest first, without repeats."""
    ordered = list(dict.fromkeys(fact for facts in by_turn for fact in facts))
    recent = {fact for facts in by_turn[-2:] for fact in facts}
    words = set(_WORD.findall(follow_up.casefold()))

    def rank(place: int) -> tuple[bool, int, int]:
        fact = ordered[place]
        shared = len(words & set(_WORD.findall(f"{fact.title} {fact.statement} {fact.value}".casefold())))
        return fact in recent, shared, place

    room, chosen = FACT_CHARS, set()
    for place in sorted(range(len(ordered)), key=rank, reverse=True):
        cost = len(ordered[place].statement) + len(ordered[place].title) + _FACT_OVERHEAD
        if cost <= room:
            room -= cost
            chosen.add(place)
    return tuple(fact for place, fact in enumerate(ordered) if place in chosen)
