"""An `Answer` for whoever shows it: the lines of its chain, and the JSON object that `--json` prints, whose schema is
`answer.schema.json` beside this file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
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
from iterative_rag.types import (
    Answer,
    AnswerForm,
    ChainLink,
    Citation,
    Claim,
    Computation,
    ConfidenceWord,
    Conflict,
    Fact,
    HopRecord,
    Status,
    Usage,
    Within,
)

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
    links = () if answer.form.is_text or _is_the_answer(answer) or answer.status is Status.ABSTAINED else answer.chain
    quotes = {plain(citation.quote) for citation in answer.citations}
    links = tuple(link for link in links if link.found not in quotes)
    if answer.status is Status.INCOMPLETE:
        links = tuple(link for link in links if not _is_side(link, answer))
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
    asked, into the first."""
    corpus = str(answer.settings.get("corpus", "")).split(",")[0]
    into = f" --corpus {shlex.quote(corpus)}" if corpus not in ("", "default", "starter") else ""
    return [(title, f"iterative-rag corpus fetch {shlex.quote(title)}{into}") for title in answer.missing]


def _is_the_answer(answer: Answer) -> bool:
    return len(answer.chain) == 1 and folded(answer.chain[0].found) == folded(plain(answer.short_answer))


def _is_side(link: ChainLink, answer: Answer) -> bool:
    """Whether a link is one of several values that contradict each other."""
    return any(
        link.asked == conflict.need and any(side.value == link.found for side in conflict.sides)
        for conflict in answer.conflicts
    )


def quote_of(citation: Citation) -> str:
    """The quote for reading. An answer that an earlier version has stored holds none."""
    return citation.display or plain(citation.quote)


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


def answer_to_json(answer: Answer, *, version: str) -> dict[str, Any]:
    """The answer in plain JSON types, keys in reading order."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "short_answer": answer.short_answer,
        "form": str(answer.form),
        "status": str(answer.status),
        "reason": answer.reason,
        "reason_code": answer.reason_code and str(answer.reason_code),
        "confidence": answer.confidence,
        "confidence_word": answer.confidence_word and str(answer.confidence_word),
        "chain": [_link(link) for link in answer.chain],
        "citations": [_citation(citation) for citation in answer.citations],
        "computations": [_computation(computation) for computation in answer.computations],
        "conflicts": [_conflict(conflict) for conflict in answer.conflicts],
        "also": list(answer.also),
        "caveats": list(answer.caveats),
        "last_attempt": answer.last_attempt,
        "taken_as": [asdict(name) for name in answer.taken_as],
        "claims": [_claim(claim) for claim in answer.claims],
        "corpus_notice": answer.corpus_notice,
        "nearest": [_citation(passage) for passage in answer.nearest],
        "unread": [asdict(document) for document in answer.unread],
        "missing_articles": [{"title": title, "command": command} for title, command in fetch_commands(answer)],
        "hops": [_hop(hop) for hop in answer.hops],
        "usage": _usage(answer.usage),
        "settings": dict(answer.settings),
        "version": version,
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return asdict(citation) | {"copies": list(citation.copies), "display": quote_of(citation)}


def _link(link: ChainLink) -> dict[str, Any]:
    return asdict(link) | {"citations": list(link.citations), "builds_on": list(link.builds_on)}


def _computation(computation: Computation) -> dict[str, Any]:
    return {"expression": computation.expression, "result": computation.result, "citations": list(computation.facts)}


def _conflict(conflict: Conflict) -> dict[str, Any]:
    sides = [{"value": side.value, "citations": list(side.facts)} for side in conflict.sides]
    return {"need": conflict.need, "sides": sides}


def _claim(claim: Claim) -> dict[str, Any]:
    return {"text": claim.text, "grounded": claim.grounded, "citations": list(claim.facts), "reason": claim.reason}


def _hop(hop: HopRecord) -> dict[str, Any]:
    return {
        "n": hop.n,
        "question": hop.question,
        "needs": list(hop.needs),
        "shortlist": list(hop.shortlist),
        "facts": [_fact(fact) for fact in hop.facts],
        "rephrased": hop.rephrased,
        "pinned": list(hop.pinned),
        "calls": hop.calls,
        "seconds": round(hop.seconds, 3),
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "statement": fact.statement,
        "value": fact.value,
        "quote": fact.quote,
        "title": fact.title,
        "source": fact.source,
        "start": fact.start,
        "end": fact.end,
        "page": fact.page,
        "need": fact.need.question,
        "score": fact.score,
        "retrieved": fact.retrieved,
        "url": fact.url,
        "copies": list(fact.copies),
        "support": fact.support,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    models = [asdict(model) for model in usage.models]
    return asdict(usage) | {"seconds": round(usage.seconds, 3), "models": models}


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
        raise UsageError(
            "It cannot be read to which part of the corpus this answer was kept.", hint="Ask the question again."
        ) from error
