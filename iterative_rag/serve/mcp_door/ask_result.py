"""An answer as the result of the tool `ask`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from iterative_rag.index.joint_corpus import corpus_and_id
from iterative_rag.output import fetch_commands
from iterative_rag.serve.mcp_door.document_uris import document_uri
from iterative_rag.serve.mcp_door.tool_results import (
    AskResult,
    ChainResult,
    CitationResult,
    ComputationResult,
    ConflictResult,
    ConflictSide,
    MissingArticle,
)
from iterative_rag.serve.runs.public_text import public_ending
from iterative_rag.types import Answer, Citation


def ask_result(answer: Answer, corpus: str) -> AskResult:
    answer = public_ending(answer)
    facts = (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts)
    ids = {fact.source: fact.document_id for fact in facts if not fact.retrieved}
    return AskResult(
        corpus=corpus,
        question=answer.question,
        status=str(answer.status),
        answer=answer.text,
        short_answer=answer.short_answer,
        reason=answer.reason,
        reason_code=answer.reason_code and str(answer.reason_code),
        confidence=answer.confidence,
        confidence_word=answer.confidence_word and str(answer.confidence_word),
        chain=[ChainResult.model_validate(asdict(one)) for one in answer.chain],
        citations=[_citation(one, corpus, ids) for one in answer.citations],
        computations=[
            ComputationResult(expression=one.expression, result=one.result, citations=list(one.facts))
            for one in answer.computations
        ],
        conflicts=[
            ConflictResult(
                need=one.need,
                sides=[ConflictSide(value=side.value, citations=list(side.facts)) for side in one.sides],
            )
            for one in answer.conflicts
        ],
        also=list(answer.also),
        caveats=list(answer.caveats),
        nearest=[_citation(one, corpus, ids) for one in answer.nearest],
        missing_articles=[MissingArticle(title=title, command=command) for title, command in fetch_commands(answer)],
        llm_calls=answer.usage.llm_calls,
        prompt_tokens=answer.usage.prompt_tokens,
        completion_tokens=answer.usage.completion_tokens,
        seconds=round(answer.usage.seconds, 3),
        run_id=answer.run_id,
    )


def _citation(citation: Citation, corpus: str, ids: Mapping[str, str]) -> CitationResult:
    corpus, document_id = corpus_and_id(corpus, ids.get(citation.source, ""))
    return CitationResult(
        n=citation.n,
        corpus=citation.corpus,
        document_id=document_id,
        title=citation.title,
        uri=document_uri(corpus, document_id) if document_id else "",
        url=citation.link,
        start=citation.start,
        end=citation.end,
        text=citation.quote,
        page=citation.page,
        retrieved=citation.retrieved,
    )
