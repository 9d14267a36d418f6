"""The messages before a question as the conversation that a follow-up is understood from.

A client sends all messages each time. What a follow-up needs stands in the answers, as `answer_content` writes them:
how the question was understood, and the short answer in bold type. `AnswersGiven` adds the facts that they cite, as
long as this server remembers them.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import pairwise

from iterative_rag.app.conversations.session import fitting_facts
from iterative_rag.app.conversations.values import cited_facts
from iterative_rag.serve.openai_door.answer_content import UNDERSTOOD
from iterative_rag.serve.openai_door.chat_request import Message
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import plain
from iterative_rag.types import Answer, Earlier, Exchange, Fact

# Answers that are remembered, in memory alone.
_MOST_ANSWERS = 200
# What is remembered of a long conversation.
_MOST_EXCHANGES = 20
_MOST_CHARS = 1000
# Of a reply, before any pattern sees it: clients send what they like.
_MOST_READ = 20_000
_FOLDED, _UNFOLDED = "<details", "</details>"
_UNDERSTOOD = re.compile(rf"\A\*{re.escape(UNDERSTOOD)} (?P<question>.+)\*\s*\n")
# Not the label of an ending without an answer, which ends with a colon.
_BOLD = re.compile(r"\*\*(?P<value>(?:[^*\n\\]|\\.)+?)(?<!:)\*\*")
_LABEL = re.compile(r"\A\*\*(?:[^*\n])+:\*\*")


def earlier_of_messages(
    messages: Sequence[Message],
    follow_up: str = "",
    facts_of: Callable[[str], tuple[Fact, ...]] = lambda reply: (),
) -> Earlier | None:
    """The exchanges of a user with this server, the last ones; None where there are none. `facts_of` are the facts that
    a reply cites."""
    pairs = [
        (query, reply)
        for query, reply in pairwise(messages)
        if (query.role, reply.role) == ("user", "assistant") and query.text.strip()
    ]
    asked = [(query.text[:_MOST_READ], _without_reasoning(reply.text)) for query, reply in pairs[-_MOST_EXCHANGES:]]
    if not asked:
        return None
    exchanges = tuple(_exchange(question, reply[:_MOST_READ]) for question, reply in asked)
    return Earlier(exchanges, fitting_facts([facts_of(reply) for _, reply in asked], follow_up))


def _without_reasoning(replied: str) -> str:
    """The reply without the block in which some clients keep the reasoning."""
    before, folded, rest = replied.partition(_FOLDED)
    _, ended, after = rest.partition(_UNFOLDED)
    return f"{before}{after}".lstrip() if folded and ended else replied.lstrip()


def _exchange(asked: str, replied: str) -> Exchange:
    if understood := _UNDERSTOOD.match(replied):
        asked, replied = plain(understood["question"]), replied[understood.end() :].lstrip()
    said = replied.partition("\n\n")[0][:_MOST_CHARS]
    value = None if _LABEL.match(said) else _BOLD.search(said)
    short = one_line(plain(value["value"])) if value else ""
    return Exchange(one_line(asked)[:_MOST_CHARS], short[:_MOST_CHARS], one_line(plain(said))[:_MOST_CHARS])


class AnswersGiven:
    """The facts that the last answers of this door cite. Safe for several threads and clients: only who sends an answer
    back word for word, to the corpus that it was given over, is understood with its facts. Their quotes are looked up
    in the corpus again before they count."""

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
            while len(self._facts) > _MOST_ANSWERS:
                self._facts.popitem(last=False)

    def facts(self, corpus: str, text: str) -> tuple[Fact, ...]:
        """Those that the answer of this text cites; () for a text that is none, or one too old."""
        with self._lock:
            return self._facts.get(_key(corpus, text), ())


def _key(corpus: str, text: str) -> bytes:
    """Clients may trim a message, or break its lines in other places."""
    return hashlib.sha256(f"{corpus}\0{' '.join(text.split())}".encode()).digest()
