"""What every role of an LLM shares: its call, with prompt, form of reply, model, budget and cache."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from iterative_rag.errors import ReplyUnreadable
from iterative_rag.llm.prompts import prompt
from iterative_rag.llm.replies.forms import R, schema, schema_version
from iterative_rag.llm.replies.json_parsing import answer_so_far
from iterative_rag.llm.replies.structured_call import ATTEMPTS, ask
from iterative_rag.llm.roles.prompt_languages import PromptLanguages
from iterative_rag.llm.roles.shown_facts import fact_lines, numbered_places, tried_needs
from iterative_rag.protocols import Cache, CallBudget, ChatModel, ChatRequest, FunctionSpec
from iterative_rag.storage.cache import cache_key
from iterative_rag.text.citation_markers import with_numbers, with_whole_markers
from iterative_rag.types import Fact, Inquiry

# This many letters and digits of the instructions in a row are no coincidence; field names and examples are shorter.
REPEATED_CHARS = 60
REPEATED = "it repeats these instructions; give the reply alone"


@dataclass(frozen=True, slots=True)
class RoleCall(Generic[R]):
    """The calls of one role. `cache` is None where replies are cached elsewhere (extraction). `functions` may be called
    by a reply of this form. `fact_chars`: how many characters of facts or documents a prompt may hold. `written` is
    told the text of an answer while the model writes it, with the markers that its draft will have."""

    role: str
    reply_type: type[R]
    model: ChatModel
    budget: CallBudget
    cache: Cache | None
    reply_tokens: int
    fact_chars: int = 8000
    languages: PromptLanguages = field(default_factory=PromptLanguages)
    written: Callable[[str], None] | None = None
    functions: tuple[FunctionSpec, ...] = ()

    def about(
        self,
        inquiry: Inquiry,
        check: Callable[[R], str] | None = None,
        /,
        written: Callable[[str], None] | None = None,
        **variables: str,
    ) -> R:
        """As `ask`, with the variables of the prompt that an inquiry has. A fact is meant by its place there."""
        known: dict[str, Callable[[], str]] = {
            "original": lambda: inquiry.original,
            "question": lambda: inquiry.question,
            "facts": lambda: fact_lines(inquiry.facts, self.fact_chars),
            "tried": lambda: tried_needs(inquiry),
            "languages": lambda: self.languages.for_needs(inquiry),
        }
        wanted = prompt(self.role).variables - variables.keys()
        shown = {name: show() for name, show in known.items() if name in wanted}
        return with_places(self.ask(check, written=written, **shown, **variables), inquiry.facts)

    def teller(self, count: int, so_far: Callable[[str], str] = answer_so_far) -> Callable[[str], None] | None:
        """Tells what the reply so far holds of an answer that cites facts 1 to `count`; None where nobody listens."""
        written = self.written
        return written and (lambda reply: written(with_whole_markers(so_far(reply), count)))

    def ask(
        self, check: Callable[[R], str] | None = None, /, written: Callable[[str], None] | None = None, **variables: str
    ) -> R:
        """The role's reply to its prompt with `variables`, or the cached one. `written` is told the reply while it is
        being written. Raises LLMError, CapReached."""
        system, user = prompt(self.role).render(**variables)
        key = cache_key("llm", self.fingerprint, system, user)

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

        reply = ask(self.model, self.budget, request, self.reply_type, wrong, ATTEMPTS + 1)
        if repeats(reply.model_dump(), system):
            told = f"The model {self.model.name} repeated its instructions ({self.role}) instead of following them."
            raise ReplyUnreadable(told, reply="", hint="A document may have told it to; try another model.")
        if self.cache is not None:
            self.cache.put(key, reply.model_dump(mode="json"))
        return reply

    @property
    def fingerprint(self) -> str:
        """Names everything that a reply depends on besides the messages."""
        versions = (prompt(self.role).version, schema_version(self.reply_type))
        return "/".join([self.role, *versions, self.model.name, str(self.reply_tokens)])


class LLMRole(Generic[R]):
    """A role that an LLM plays by the calls of one prompt."""

    def __init__(self, call: RoleCall[R]) -> None:
        self.call = call


def with_places(reply: R, facts: Sequence[Fact]) -> R:
    """The reply with the places of facts, from 1, where it has the numbers by which they were shown."""
    numbers = {n: tuple(index + 1 for index in places) for n, places in enumerate(numbered_places(facts), start=1)}
    return renumbered(reply, numbers)


def renumbered(reply: R, numbers: Mapping[int, Sequence[int]]) -> R:
    """The reply with other numbers of facts, in markers and in lists; none drops one."""
    if all((n,) == tuple(others) for n, others in numbers.items()):
        return reply
    return type(reply).model_validate(_renumbered(reply.model_dump(), numbers))


def _renumbered(value: Any, numbers: Mapping[int, Sequence[int]], name: str = "") -> Any:
    if isinstance(value, str):  # the brackets of an expression are its own
        return value if name == "expression" else with_numbers(value, numbers)
    if isinstance(value, dict):
        return {key: _renumbered(part, numbers, key) for key, part in value.items()}
    if isinstance(value, list | tuple):
        if name == "facts":
            return [other for n in value for other in numbers.get(n, ())]
        return [_renumbered(part, numbers) for part in value]
    return value


def repeats(reply: object, instructions: str) -> bool:
    """Whether any text of a reply (strings, lists, mappings) repeats a part of the model's instructions."""
    letters = _letters(instructions)
    return any(
        text[at : at + REPEATED_CHARS] in letters
        for text in map(_letters, _texts(reply))
        for at in range(len(text) - REPEATED_CHARS + 1)
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        yield from _texts(part)


def _letters(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())
