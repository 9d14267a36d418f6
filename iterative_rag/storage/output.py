"""An `Answer` for whoever shows it: the lines of its chain, and the JSON object that `--json` prints, whose schema is
`answer.schema.json` of the package."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from iterative_rag.computing.display import found_in, shown
from iterative_rag.errors import UsageError
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.text.mentions import whole_words
from iterative_rag.text.need_wording import label
from iterative_rag.text.plurals import counted
from iterative_rag.types import Answer, AnswerForm, Citation, ConfidenceWord, Conflict, Status, Usage, Within

EXTRACT = "Extract: the passages nearest to the question, quoted; nothing is concluded from them."
NEAREST = "What comes nearest:"
NO_ARTICLE = "The corpus has no article “{}”"


def headline(answer: Answer) -> tuple[str, str]:
    """How the first line begins, and its style in a terminal; "" for an answer that is neither guess nor extract."""
    if answer.label:
        return f"{answer.label}: ", "bold yellow"
    if answer.form is AnswerForm.EXTRACT:
        return f"{EXTRACT} ", "bold"
    if answer.confidence_word is ConfidenceWord.WEAK_GUESS:
        return "Weak guess: ", "bold yellow"
    return "", ""


def said_lines(answer: Answer) -> list[str]:
    """The lines of the answer's text, without markup and safe to show; none for an extract, whose quotes are shown as
    its citations, and for a text, which is shown by its `text_blocks`."""
    if answer.form is AnswerForm.EXTRACT or answer.form.is_text:
        return []
    lines = map(one_line, plain(answer.text or answer.short_answer).splitlines())
    return [line for line in lines if line]


def apart(answer: Answer) -> str:
    """The short answer, where the text does not hold it and it has to be shown by itself."""
    if answer.form is AnswerForm.EXTRACT:
        return ""
    short = one_line(plain(answer.short_answer))
    return "" if any(_place_of(short, line) for line in said_lines(answer)) else short


def around_value(line: str, answer: Answer) -> tuple[str, str, str]:
    """What stands before the short answer in a line of the text, the short answer, and what follows; a line without it
    is all before."""
    start, end = _place_of(one_line(plain(answer.short_answer)), line) or (len(line), len(line))
    return line[:start], line[start:end], line[end:]


def _place_of(value: str, line: str) -> tuple[int, int] | None:
    """Where a line holds a value in any case: "yes" in "Yes [1]."; but no part of a word, such as "no" in "another"."""
    places = (match.span() for match in re.finditer(re.escape(value), line, re.IGNORECASE)) if value else ()
    return next((span for span in places if whole_words(line, *span) == span), None)


def chain_lines(answer: Answer) -> list[str]:
    """The way to the answer, "15th first lady → Harriet Lane [1]" a line, the computations last; [] where it would only
    repeat the answer."""
    # The text of an abstention says by itself what was found, and where sources differ; a long text cites all it says.
    short = folded(plain(answer.short_answer))
    repeats = [folded(link.found) for link in answer.chain] == [short]
    links = () if answer.form.is_text or repeats or answer.status is Status.ABSTAINED else answer.chain
    quotes = {plain(citation.quote) for citation in answer.citations}
    links = tuple(link for link in links if link.found not in quotes)
    lines = [f"{label(plain(link.asked))} → {plain(link.found)} {marks(link.citations)}".rstrip() for link in links]
    for computation in answer.computations:
        if found_in(answer.text, computation.expression, computation.result) is None:
            lines.append(f"{shown(computation.expression, computation.result)} {marks(computation.facts)}".rstrip())
    return list(dict.fromkeys(lines))


def taken_lines(answer: Answer) -> list[str]:
    """What misspelt names of the question were taken as."""
    return [f"“{name.written}” taken as “{name.taken_as}”" for name in answer.taken_as]


def told_apart(answer: Answer) -> list[Conflict]:
    """The conflicts that the text does not tell itself."""
    return [conflict for conflict in answer.conflicts if not all(side.value in answer.text for side in conflict.sides)]


def remarks(answer: Answer) -> Iterator[str]:
    """What is told below an answer, a line each: misspelt names, other values and caveats, where sources differ, what
    could not be read, and whether the corpus is complete."""
    yield from taken_lines(answer)
    for other in answer.also:
        yield f"also: {plain(other)}"
    for caveat in answer.caveats:
        yield f"caveat: {plain(caveat)}"
    for conflict in told_apart(answer):
        sides = "; ".join(f"{side.value} {marks(side.facts)}" for side in conflict.sides)
        yield f"Sources differ ({conflict.need}): {sides}"
    for document in answer.unread:
        yield f"Not read: {document.title} (for: {document.need}): {document.reason}"
    if answer.corpus_notice:
        yield f"Note: {answer.corpus_notice}"
    for title, command in fetch_commands(answer):
        yield f"{NO_ARTICLE.format(title)}: {command}"


def fetch_commands(answer: Answer) -> list[tuple[str, str]]:
    """The titles of articles that the corpus lacks, each with the command that fetches it; where several corpora were
    asked, into the first that is no ZIM file."""
    asked = str(answer.settings.get("corpus", "")).split(",")
    corpus = next((name for name in asked if not name.endswith(".zim")), "")
    into = corpus_option(corpus)
    return [(title, f"iterative-rag corpus fetch {shlex.quote(title)}{into}") for title in answer.missing]


def corpus_option(names: object) -> str:
    """The option that a command needs to mean these corpora."""
    return f" --corpus {shlex.quote(str(names))}" if names not in ("", "default", "starter") else ""


def quote_of(citation: Citation) -> str:
    """The quote for reading. An answer that an earlier version has stored holds none."""
    return citation.display or plain(citation.quote)


def origin(citation: Citation, name: Callable[[str], str]) -> str:
    """`wiki: River.md, page 2, of 2026-01-15`: where a quote stands; `name` says how a source is shown."""
    where = f"page {citation.page}" if citation.page else f"characters {citation.start}–{citation.end}"
    dated = f", of {citation.date}" if citation.date else ""
    read_on = f", read on {citation.retrieved}" if citation.retrieved else ""
    corpus = f"{citation.corpus}: " if citation.corpus else ""
    return f"{corpus}{name(citation.source)}, {where}{dated}{read_on}"


def cost(answer: Answer) -> str:
    """One line: hops, calls, tokens, cache, seconds, and the confidence in words."""
    parts = [counted(len(answer.hops), "hop"), *spent(answer.usage)]
    if answer.confidence_word:
        parts.append(str(answer.confidence_word))
    if answer.run_id:
        parts.append(f"trace {answer.run_id}")
    return " · ".join(parts)


def spent(usage: Usage) -> list[str]:
    """Calls, tokens, models, cache and seconds, each in words."""
    parts = [counted(usage.llm_calls, "LLM call")]
    if usage.prompt_tokens or usage.completion_tokens:
        parts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    for used in usage.models:
        parts.append(f"{used.model.split('?')[0]} {used.llm_calls}")
    if usage.cache_hits:
        parts.append(f"{usage.cache_hits} from the cache")
    parts.append(f"{usage.seconds:.1f} s")
    return parts


def marks(numbers: Sequence[int]) -> str:
    """`[1][3]`"""
    return "".join(f"[{n}]" for n in numbers)


# The keys of the JSON object, in reading order.
_KEYS = """
question answer short_answer form status reason reason_code confidence confidence_word chain citations computations
conflicts also caveats last_attempt taken_as claims corpus_notice nearest unread missing_articles hops usage settings
version
"""


def answer_to_json(answer: Answer, *, version: str) -> dict[str, Any]:
    """The answer in plain JSON types, keys in reading order."""
    told = json.loads(json.dumps(asdict(answer)))
    told["answer"], told["version"] = answer.text, version
    told["missing_articles"] = [{"title": title, "command": command} for title, command in fetch_commands(answer)]
    for citation in (*told["citations"], *told["nearest"]):
        citation["display"] = citation["display"] or plain(citation["quote"])
    sides = [side for conflict in told["conflicts"] for side in conflict["sides"]]
    for entry in (*told["computations"], *told["claims"], *sides):
        entry["citations"] = entry.pop("facts")
    for fact in (fact for hop in told["hops"] for fact in hop["facts"]):
        fact["need"] = fact["need"]["question"]
        del fact["document_id"]
    for spent_on in (*told["hops"], told["usage"]):
        spent_on["seconds"] = round(spent_on["seconds"], 3)
    return {key: told[key] for key in _KEYS.split()}


def parts_as_text(parts: Sequence[Within]) -> str:
    """As the settings of an answer keep them: JSON."""
    return json.dumps([asdict(part) for part in parts], ensure_ascii=False)


def recorded_parts(settings: Mapping[str, Any]) -> tuple[Within, ...]:
    """The parts that the settings of an answer tell of; () where they tell of none. Raises UsageError where what they
    tell cannot be read: the whole corpus is not what was asked."""
    try:
        recorded = json.loads(str(settings.get("within") or "[]"))
        return tuple(Within(**part | {"where": tuple(part.get("where", []))}) for part in recorded)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        told = "It cannot be read to which part of the corpus this answer was kept."
        raise UsageError(told, hint="Ask the question again.") from error
