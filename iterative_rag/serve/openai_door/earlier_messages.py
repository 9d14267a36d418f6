"""The messages before a question as the conversation that a follow-up is understood from.

Nothing is kept on the server: a client sends all messages each time. What a follow-up needs stands in the answers, as
`answer_content` writes them: how the question was understood, and the short answer in bold type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from iterative_rag.serve.openai_door.answer_content import UNDERSTOOD
from iterative_rag.serve.openai_door.chat_request import Message
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markup import plain
from iterative_rag.types import Earlier, Exchange

# What is remembered of a long conversation.
_MOST_EXCHANGES = 20
_MOST_CHARS = 1000
_FOLDED = re.compile(r"<details\b.*?</details>\s*", re.DOTALL)
_UNDERSTOOD = re.compile(rf"\A\*{re.escape(UNDERSTOOD)} (?P<question>.+)\*\s*\n")
# Not the label of an ending without an answer, which ends with a colon.
_BOLD = re.compile(r"\*\*(?P<value>(?:[^*\n\\]|\\.)+?)(?<!:)\*\*")
_LABEL = re.compile(r"\A\*\*(?:[^*\n])+:\*\*")


def earlier_of_messages(messages: Sequence[Message]) -> Earlier | None:
    """The exchanges of a user with this server, the last ones; None where there are none."""
    exchanges = [
        _exchange(one.text, reply.text)
        for one, reply in pairwise(messages)
        if (one.role, reply.role) == ("user", "assistant") and one.text.strip()
    ]
    return Earlier(tuple(exchanges[-_MOST_EXCHANGES:])) if exchanges else None


def _exchange(asked: str, replied: str) -> Exchange:
    replied = _FOLDED.sub("", replied).lstrip()
    if understood := _UNDERSTOOD.match(replied):
        asked, replied = plain(understood["question"]), replied[understood.end() :].lstrip()
    said = replied.partition("\n\n")[0]
    value = None if _LABEL.match(said) else _BOLD.search(said)
    short = one_line(plain(value["value"])) if value else ""
    return Exchange(one_line(asked)[:_MOST_CHARS], short[:_MOST_CHARS], one_line(plain(said))[:_MOST_CHARS])
