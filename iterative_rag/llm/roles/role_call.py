"""What every role of an LLM shares: its call, with prompt, form of reply, model, budget and cache; and what the prompts
say of languages, that of the answer and those of the corpus."""

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
from iterative_rag.llm.roles.shown_facts import fact_lines, numbered_places, tried_needs
from iterative_rag.protocols import Cache, CallBudget, ChatModel, ChatRequest, FunctionSpec
from iterative_rag.settings.model import AUTO
from iterative_rag.storage.cache import cache_key
from iterative_rag.text.citation_markers import with_numbers, with_whole_markers
from iterative_rag.text.languages import language_names
from iterative_rag.text.spoken_language import ENGLISH, language_of_text
from iterative_rag.types import Fact, Inquiry

# This many letters and digits of the instructions in a row are no coincidence; field names and examples are shorter.
REPEATED_CHARS = 60
REPEATED = "it repeats these instructions; give the reply alone"
_FIELDS = '"answer", "short_answer", "also", "caveats" and "missing"'
# Names are checked against the quotes, so they must not be translated.
_RULE = "Copy names and titles from the facts as they are written there; keep the field names and the markers [n]."
# Of so many documents one has to be in a language for it to be named, and of so many languages the most frequent are.
ONE_OF, MOST = 10, 2


@dataclass(frozen=True, slots=True)
class PromptLanguages:
    """`question` and `answer` are the settings `language` and `answer_language`; `corpus` are numbers of documents by
    the code of their language."""

    question: str = AUTO
    answer: str = AUTO
    corpus: Mapping[str, int] = field(default_factory=dict)

    def for_answer(self, question: str) -> str:
        """What a prompt says about the language of the answer; "" where it is English like the prompt and question."""
        asked_in = self._language_of(question)
        wanted = asked_in if self.answer == AUTO else self.answer
        if wanted == asked_in == ENGLISH:
            return ""
        named = language_names()[wanted] if wanted else "the language of the original question"
        return f"Write {_FIELDS} in {named}. {_RULE}"

    def for_needs(self, inquiry: Inquiry) -> str:
        """What a prompt that asks for look-ups says; "" where they are best in the language of the question.

        Where a corpus holds the question's language among others, look-ups in that one come first: nothing is said
        until one of them has found nothing, since every further language makes a look-up longer and less sharp.
        """
        served = {fact.need.key for fact in inquiry.facts}
        in_vain = any(need.key not in served for need in inquiry.tried)
        twice = 'Write each look-up in {asked} and, behind " / ", once more in {others}'
        return self._told(inquiry.original, f"{twice}: articles are found by their words.", in_vain=in_vain)

    def for_searches(self, question: str) -> str:
        """What a prompt that asks for other searches says, after one that found too little; "" where the corpus is in
        the language of the question."""
        wanted = "Write the searches and the passage in {others}, whatever the rules say."
        return self._told(question, wanted, in_vain=True)

    def _told(self, question: str, wanted: str, *, in_vain: bool) -> str:
        if not self.corpus:
            return ""
        asked = self._language_of(question)
        names, least = language_names(), sum(self.corpus.values()) / ONE_OF
        frequent = sorted(self.corpus, key=lambda code: (-self.corpus[code], code))
        codes = [code for code in frequent if code not in ("", asked) and self.corpus[code] >= least][:MOST]
        if not asked or not codes or (self.corpus.get(asked, 0) >= least and not in_vain):
            return ""
        told = names.get(asked, asked), " and in ".join(names.get(code, code) for code in codes)
        beginning = "\n\nLANGUAGES: The question is in {asked}, articles are in {others}. "
        return f"{beginning}{wanted}".format(asked=told[0], others=told[1])

    def _language_of(self, question: str) -> str:
        return language_of_text(question) if self.question == AUTO else self.question


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

        def from_cache(value: Any) -> R:  # a row of the cache is input like any other
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
