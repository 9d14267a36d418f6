"""What is searched with, by an LLM: other queries for a need, a query for the web."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.llm.prompts import lines
from iterative_rag.llm.replies.forms import RewordingReply, WebQueryReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Need, Rewording

# How many other searches the model is asked for.
PHRASINGS = 3
LONGEST_PHRASING, LONGEST_PASSAGE, LONGEST_WEB_QUERY = 300, 800, 120
REPEATED = 'every one of "phrasings" was tried already; write others that differ from the question and what was tried'

_OPERATORS = lazy_pattern(r'["“”()]|\b(?:site|intitle|inurl|filetype):\S*')


class LLMRewriter:
    """Implements protocols.Rewriter. The passage is invented: it is only searched with, never shown or quoted."""

    def __init__(self, reworder: RoleCall[RewordingReply], querier: RoleCall[WebQueryReply]) -> None:
        self._reworder, self._querier = reworder, querier

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        """Returns nothing that was tried before. Raises LLMError, CapReached."""
        reply = self._reworder.ask(
            lambda reply: "" if _untried(reply.phrasings, (need.question, *tried)) else REPEATED,
            count=str(PHRASINGS),
            need=need.question,
            tried=lines(f"- {query}" for query in tried) or "(nothing yet)",
            languages=self._reworder.languages.for_searches(need.question),
        )
        phrasings = _untried(reply.phrasings, (need.question, *tried))[:PHRASINGS]
        broader = "".join(_untried([reply.broader], (need.question, *tried, *phrasings)))
        return Rewording(phrasings, broader, _line(reply.passage)[:LONGEST_PASSAGE])

    def web_query(self, need: Need) -> str:
        """A few words, on one line. Raises LLMError, CapReached."""
        reply = self._querier.ask(
            lambda reply: "" if _plain_query(reply.query) else '"query" is empty', need=need.question
        )
        return _plain_query(reply.query) or _line(need.question)


def _untried(phrasings: Sequence[str], tried: Sequence[str]) -> tuple[str, ...]:
    """The phrasings whose words differ from what was tried, and from one another; on one line each."""
    seen = {_words(query) for query in tried} | {()}
    by_words: dict[tuple[str, ...], str] = {}
    for phrasing in phrasings:
        line = _line(phrasing)[:LONGEST_PHRASING]
        by_words.setdefault(_words(line), line)
    return tuple(line for words, line in by_words.items() if words not in seen)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def _plain_query(query: str) -> str:
    return _line(_OPERATORS.sub(" ", query))[:LONGEST_WEB_QUERY].strip()


def _line(text: str) -> str:
    return " ".join(text.split())
