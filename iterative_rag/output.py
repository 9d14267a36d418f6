"""An `Answer` as the JSON object that `--json` prints; its schema is `answer.schema.json` beside this file."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from iterative_rag.types import (
    Answer,
    Citation,
    Claim,
    Computation,
    Conflict,
    Fact,
    HopRecord,
    ModelUsage,
    UnreadDocument,
    Usage,
)


def answer_to_json(answer: Answer, *, version: str) -> dict[str, Any]:
    """The answer in plain JSON types, keys in the order in which people read them."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "short_answer": answer.short_answer,
        "status": str(answer.status),
        "reason": answer.reason,
        "confidence": answer.confidence,
        "citations": [_citation(citation) for citation in answer.citations],
        "computations": [_computation(computation) for computation in answer.computations],
        "conflicts": [_conflict(conflict) for conflict in answer.conflicts],
        "claims": [_claim(claim) for claim in answer.claims],
        "unread": [_unread(document) for document in answer.unread],
        "hops": [_hop(hop) for hop in answer.hops],
        "usage": _usage(answer.usage),
        "settings": dict(answer.settings),
        "version": version,
    }


def answer_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what `answer_to_json` makes."""
    text = resources.files("iterative_rag").joinpath("answer.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "n": citation.n,
        "title": citation.title,
        "source": citation.source,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "page": citation.page,
        "retrieved": citation.retrieved,
    }


def _computation(computation: Computation) -> dict[str, Any]:
    return {
        "expression": computation.expression,
        "result": computation.result,
        "citations": list(computation.facts),
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    sides = [{"value": side.value, "citations": list(side.facts)} for side in conflict.sides]
    return {"need": conflict.need, "sides": sides}


def _claim(claim: Claim) -> dict[str, Any]:
    return {"text": claim.text, "grounded": claim.grounded, "citations": list(claim.facts), "reason": claim.reason}


def _unread(document: UnreadDocument) -> dict[str, Any]:
    return {
        "title": document.title,
        "source": document.source,
        "need": document.need,
        "reason": document.reason,
    }


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
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "llm_calls": usage.llm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round(usage.seconds, 3),
        "cache_hits": usage.cache_hits,
        "models": [_model(used) for used in usage.models],
    }


def _model(used: ModelUsage) -> dict[str, Any]:
    return {
        "model": used.model,
        "llm_calls": used.llm_calls,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
    }
