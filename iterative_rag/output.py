"""An `Answer` as the JSON object that `--json` prints; its schema is `answer.schema.json` beside this file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from iterative_rag.types import Answer, Citation, Claim, Computation, Conflict, Fact, HopRecord, Usage


def answer_to_json(answer: Answer, *, version: str) -> dict[str, Any]:
    """The answer in plain JSON types, keys in reading order."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "short_answer": answer.short_answer,
        "status": str(answer.status),
        "reason": answer.reason,
        "reason_code": answer.reason_code and str(answer.reason_code),
        "confidence": answer.confidence,
        "confidence_word": answer.confidence_word and str(answer.confidence_word),
        "citations": [_citation(citation) for citation in answer.citations],
        "computations": [_computation(computation) for computation in answer.computations],
        "conflicts": [_conflict(conflict) for conflict in answer.conflicts],
        "also": list(answer.also),
        "caveats": list(answer.caveats),
        "last_attempt": answer.last_attempt,
        "claims": [_claim(claim) for claim in answer.claims],
        "corpus_notice": answer.corpus_notice,
        "nearest": [_citation(passage) for passage in answer.nearest],
        "unread": [asdict(document) for document in answer.unread],
        "hops": [_hop(hop) for hop in answer.hops],
        "usage": _usage(answer.usage),
        "settings": dict(answer.settings),
        "version": version,
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return asdict(citation) | {"copies": list(citation.copies)}


def _computation(one: Computation) -> dict[str, Any]:
    return {"expression": one.expression, "result": one.result, "citations": list(one.facts)}


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
    }


def _usage(usage: Usage) -> dict[str, Any]:
    models = [asdict(model) for model in usage.models]
    return asdict(usage) | {"seconds": round(usage.seconds, 3), "models": models}
