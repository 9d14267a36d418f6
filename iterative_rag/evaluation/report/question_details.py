"""The details of one question on the HTML page: hops and quotes, cut to size with a note of what was cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iterative_rag.evaluation.metrics.per_question import gave_facts, listed, read
from iterative_rag.evaluation.records import FoundFact, Hop, QuestionRecord
from iterative_rag.evaluation.report.formatting import number, percent, visible
from iterative_rag.evaluation.report.report_tables import RESULTS, result
from iterative_rag.text.plurals import counted
from iterative_rag.types.documents import web_link

_QUESTION, _SENTENCE = 1000, 1500  # characters
Shown = dict[str, Any]  # the values of a part of the page, for its template


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that is shown of a hop: facts, characters of a quote, titles of listed documents. `hops` is the most
    hops of a question; with none of them its trace is left out, as it is for right answers without `right`."""

    facts: int
    quote: int
    titles: int
    hops: int
    right: bool = True

    def hops_of(self, ended: str) -> int:
        return self.hops if self.right or ended != "right" else 0


# From generous to minimal: the first that keeps the page small enough is used.
CAPS = (
    Caps(8, 500, 16, 50),
    Caps(4, 240, 10, 12),
    Caps(2, 140, 5, 6),
    Caps(2, 140, 5, 6, right=False),
    Caps(0, 0, 0, 0),
)


def shown(number: int, record: QuestionRecord, caps: Caps) -> Shown:
    """What the template shows of a question: `number` is its place on the page, `result` a key of RESULTS."""
    ended = result(record)
    hops = caps.hops_of(ended)
    return {
        "place": number,
        "id": visible(record.id),
        "repeat": record.repeat,
        "result": ended,
        "result_label": RESULTS[ended],
        "cause": record.cause.value if record.cause is not None else "",
        "question": visible(record.question, _QUESTION),
        "given": visible(record.short_answer, _QUESTION),
        "sentence": visible(record.text, _SENTENCE) if record.text != record.short_answer else "",
        "reason": visible(_reason(record), _SENTENCE),
        "accepted": [visible(answer, _QUESTION) for answer in record.answers],
        "types": [visible(kind) for kind in record.types],
        "scores": _scores(record),
        "judge_reason": visible(record.scores.judge_reason, _SENTENCE),
        "spent": _spent(record),
        "needed": _needed(record),
        "hops": _hops(record, caps)[:hops],
        "more_hops": max(0, len(record.hops) - hops),
        # The title of each citation, whether its quote was found, and the link to its document.
        "citations": [
            (visible(citation.title), citation.verified, web_link(citation.url))
            for citation in record.citations
            if hops
        ],
    }


def _reason(record: QuestionRecord) -> str:
    """The reason of the outcome, and the documents that an answer did without."""
    unread = f"not read: {', '.join(record.unread)}" if record.unread and not record.fault else ""
    return "; ".join(dict.fromkeys(filter(None, (record.fault, record.reason, unread))))


def _scores(record: QuestionRecord) -> list[tuple[str, str]]:
    scores = record.scores
    rows = [
        ("exact match", number(scores.em)),
        ("F1", number(scores.f1)),
        ("holds it", number(scores.contains)),
        ("same value", number(scores.value)),
    ]
    if scores.judge is not None:
        rows.append(("judge", scores.judge.value))
    return [*rows, ("confidence", percent(record.confidence))]


def _spent(record: QuestionRecord) -> str:
    spent = record.spent
    parts = [counted(spent.calls, "LLM call"), f"{spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens"]
    if spent.cache_hits:
        parts.append(f"{spent.cache_hits:,} from the cache")
    return " · ".join([*parts, f"{number(spent.seconds)} s"])


def _needed(record: QuestionRecord) -> list[Shown]:
    """The needed articles and how far each got; `found` ones gave a fact."""
    cited = {citation.document_id for citation in record.citations}
    stages = (
        ("cited", cited),
        ("gave a fact, not cited", gave_facts(record)),
        ("read, gave no fact", read(record)),
        ("shortlisted, not read", listed(record)),
    )
    rows = []
    for document in record.gold:
        reached = next((name for name, documents in stages if document in documents), "never shortlisted")
        used, title = document in cited | gave_facts(record), record.documents.get(document, document)
        rows.append({"title": visible(title), "reached": reached, "found": used})
    lacking = (
        {"title": visible(title), "reached": "not in the corpus", "found": False} for title in record.missing_gold
    )
    return [*rows, *lacking]


def _hops(record: QuestionRecord, caps: Caps) -> list[Shown]:
    above = [record.question, *(hop.rephrased or hop.question for hop in record.hops)]
    return [_hop(hop, record, caps, before) for hop, before in zip(record.hops, above, strict=False)]


def _hop(hop: Hop, record: QuestionRecord, caps: Caps, above: str) -> Shown:
    """`question` is "" where it stands just above: the question itself, or the last hop's rephrasing."""
    gold, opened = set(record.gold), set(hop.read)
    # Needed articles are never cut: readers look for them.
    ordered = sorted(range(len(hop.shortlist)), key=lambda at: (hop.shortlist[at] not in gold, at))
    kept = [hop.shortlist[at] for at in sorted(ordered[: caps.titles])]
    titles = [(document, visible(record.documents.get(document, document), 80)) for document in kept]
    return {
        "n": hop.n,
        "question": visible(hop.question, _QUESTION) if hop.question != above else "",
        "needs": [visible(need, _QUESTION) for need in hop.needs],
        "titles": [{"title": title, "gold": article in gold, "read": article in opened} for article, title in titles],
        "more_titles": len(hop.shortlist) - len(titles),
        "facts": [_fact(fact, gold, caps) for fact in hop.facts[: caps.facts]],
        "more_facts": max(0, len(hop.facts) - caps.facts),
        "rephrased": visible(hop.rephrased, _QUESTION) if hop.rephrased != hop.question else "",
    }


def _fact(fact: FoundFact, gold: set[str], caps: Caps) -> Shown:
    said = fact.value or fact.statement
    return {
        "value": visible(said, caps.quote) if said != fact.quote else "",
        "quote": visible(fact.quote, caps.quote),
        "title": visible(fact.title, 80),
        "gold": fact.document_id in gold,
    }
