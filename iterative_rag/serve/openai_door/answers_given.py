"""The facts that the last answers of this door cite, found again by the text of the answer that a client sends back."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from iterative_rag.app.conversations.values import cited_facts
from iterative_rag.types import Answer, Fact

# Answers that are remembered, in memory alone.
_MOST = 200


class AnswersGiven:
    """Safe for several threads and clients: only who sends an answer back word for word, to the corpus that it was
    given over, is understood with its facts. Their quotes are looked up in the corpus again before they count."""

    def __init__(self) -> None:
        self._facts: OrderedDict[bytes, tuple[Fact, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, corpus: str, text: str, answer: Answer) -> None:
        """`text` is the message as it was sent."""
        facts = cited_facts(answer)
        if not facts:
            return
        key = _key(corpus, text)
        with self._lock:
            self._facts[key] = facts
            self._facts.move_to_end(key)
            while len(self._facts) > _MOST:
                self._facts.popitem(last=False)

    def facts(self, corpus: str, text: str) -> tuple[Fact, ...]:
        """Those that the answer of this text cites; () for a text that is none, or one too old."""
        with self._lock:
            return self._facts.get(_key(corpus, text), ())


def _key(corpus: str, text: str) -> bytes:
    """Clients may trim a message, or break its lines in other places."""
    return hashlib.sha256(f"{corpus}\0{' '.join(text.split())}".encode()).digest()
