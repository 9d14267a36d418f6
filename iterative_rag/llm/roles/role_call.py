"""What every role of an LLM shares: its call (prompt, form of reply, model, budget, cache), and how facts are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar

from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.prompts import as_field, fence, lines, prompt
from iterative_rag.llm.replies.forms import Reply, schema, schema_version
from iterative_rag.llm.replies.injection_guard import repeats
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import Cache, CallBudget, ChatModel, ChatRequest, FunctionSpec
from iterative_rag.storage.cache_keys import cache_key
from iterative_rag.types import Fact, Inquiry

R = TypeVar("R", bound=Reply)
REPEATED = "it repeats these instructions; give the reply alone"
NO_FACTS = "(none yet)"
# Characters of each quote that are shown: the first of these lengths with which all facts fit.
QUOTE_LENGTHS = (600, 300, 120, 0)


@dataclass(frozen=True, slots=True)
class RoleCall(Generic[R]):
    """The calls of one role. `cache` is None where replies are cached elsewhere (extraction). `functions` may be called
    by a reply of this form."""

    role: str
    reply_type: type[R]
    model: ChatModel
    budget: CallBudget
    cache: Cache | None
    reply_tokens: int
    functions: tuple[FunctionSpec, ...] = ()

    def ask(
        self,
        check: Callable[[R], str] | None = None,
        /,
        written: Callable[[str], None] | None = None,
        **variables: str,
    ) -> R:
        """The role's reply to its prompt with `variables`, or the cached one. `written` is told the reply while it is
        being written. Raises LLMError, CapReached."""
        system, user = prompt(self.role).render(**variables)
        key = self._key(system, user)

        def from_cache(value: Any) -> R:
            cached = self.reply_type.model_validate(value)
            if repeats(cached.model_dump(), system):
                raise ValueError(REPEATED)
            return cached

        if self.cache is not None and (cached := self.cache.get(key, from_cache)) is not None:
            self.budget.cache_hit(self.role)
            return cached
        request = ChatRequest(
            role=self.role,
            system=system,
            user=user,
            schema=schema(self.reply_type),
            max_tokens=self.reply_tokens,
            functions=self.functions,
            written=written,
        )

        def wrong(reply: R) -> str:
            if repeats(reply.model_dump(), system):
                return REPEATED
            return check(reply) if check else ""

        reply = ask(self.model, self.budget, request, self.reply_type, wrong, plain=prompt(self.role).plain)
        if repeats(reply.model_dump(), system):
            raise ReplyUnreadable(
                f"The model {self.model.name} repeated its instructions ({self.role}) instead of following them.",
                reply="",
                hint="A document may have told it to; try another model.",
            )
        if self.cache is not None:
            self.cache.put(key, reply.model_dump(mode="json"))
        return reply

    @property
    def fingerprint(self) -> str:
        """Names everything that a reply depends on besides the messages."""
        versions = (prompt(self.role).version, schema_version(self.reply_type))
        return "/".join([self.role, *versions, self.model.name, str(self.reply_tokens)])

    def _key(self, system: str, user: str) -> str:
        return cache_key("llm", self.fingerprint, system, user)


def fact_numbers(facts: Sequence[Fact]) -> list[int]:
    """The number of each fact, from 1. A quote that was found for two needs is shown once, under its first number, if
    its value or its statement is the same."""
    first: dict[tuple[str, int, int, str, str], int] = {}
    numbers = []
    for n, fact in enumerate(facts, start=1):
        place = (fact.document_id, fact.start, fact.end)
        statement = " ".join(fact.statement.split())
        keys = [(*place, "value", fact.value.casefold()), (*place, "statement", statement.casefold())]
        number = min((first[key] for key in keys if key in first), default=n)
        first |= {key: first.get(key, number) for key in keys}
        numbers.append(number)
    return numbers


def nothing_found(inquiry: Inquiry) -> str:
    """What is missing where no fact was found at all: the look-ups, by name."""
    looked = "; ".join(dict.fromkeys(need.question for need in inquiry.tried))
    return f"Nothing was found about: {looked}" if looked else "No fact was found."


def fact_lines(facts: Sequence[Fact], fact_chars: int) -> str:
    """The facts as `[n] statement (title: "quote")` lines, quotes cut until all fit into `fact_chars`.

    A quote that proves several facts is shown with the first of them. The facts of one need stand in a fence of their
    own. Facts of later hops are added behind, in fences of their own, so that every prompt of a run begins like the one
    before: servers keep what they computed for such a prefix.
    """
    if not facts:
        return NO_FACTS
    shown = [(n, fact) for n, (first, fact) in enumerate(zip(fact_numbers(facts), facts, strict=True), 1) if n == first]
    quoted: dict[tuple[str, int, int], int] = {}
    for n, fact in shown:
        quoted.setdefault((fact.document_id, fact.start, fact.end), n)
    blocks: list[str] = []
    for length in QUOTE_LENGTHS:
        by_need = groupby(shown, key=lambda numbered: numbered[1].need.key)
        blocks = [lines(_line(n, fact, length, quoted) for n, fact in group) for _, group in by_need]
        if sum(map(len, blocks)) <= fact_chars:
            break
    return "\n".join(fence(block, "facts") for block in blocks)


def new_fact_marks(facts: Sequence[Fact], new: int) -> str:
    """`[3][4]`: the numbers of the last `new` facts, as `fact_lines` shows them; without those that were shown before,
    unless no others are left."""
    numbers = fact_numbers(facts)
    known, found = numbers[: len(facts) - new], dict.fromkeys(numbers[len(facts) - new :])
    return "".join(f"[{n}]" for n in [n for n in found if n not in known] or found)


def _line(n: int, fact: Fact, length: int, quoted: Mapping[tuple[str, int, int], int]) -> str:
    first, statement, title = quoted[fact.document_id, fact.start, fact.end], fact.statement, as_field(fact.title)
    if first != n:
        return f"[{n}] {statement} (the quote of [{first}])"
    quote = " ".join(fact.quote.split())
    if len(quote) > length:
        quote = quote[:length].rstrip() + " ..."
    return f'[{n}] {statement} ({title}: "{quote}")' if length else f"[{n}] {statement} ({title})"
