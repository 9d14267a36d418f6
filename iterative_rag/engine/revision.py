"""Where an edited run begins: with what was found before the edit, which is neither searched nor read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from iterative_rag.engine.run_state import RunState
from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.types.conversing import EditKind, FactEdit, NeedEdit, Revision
from iterative_rag.types.loop import AnswerForm, Fact, Inquiry, Need, Needs, Place
from iterative_rag.types.outcomes import HopRecord
from iterative_rag.types.steps import AnalysisStep, ReadingStep, RephrasingStep, Step

# A need that was looked up so often is not asked for again.
_GIVEN_UP = 2


def revised_state(revision: Revision, corpus: Corpus) -> RunState:
    """The state from which the run goes on. Raises UsageError for an edit that cannot be made."""
    answer, edit = revision.answer, revision.edit
    before = [hop for hop in answer.hops if hop.n < edit.hop]
    after = [_pinned_alone(hop) for hop in answer.hops if hop.n > edit.hop and hop.pinned]
    edited = next((hop for hop in answer.hops if hop.n == edit.hop), None)
    if edited is None:
        raise UsageError(f"The run has no hop {edit.hop}.", hint=f"It has {len(answer.hops)}.")
    given_up: tuple[Need, ...] = ()
    ahead: tuple[Need, ...] = ()
    struck: tuple[Place, ...] = ()
    if isinstance(edit, FactEdit):
        changed, struck = _with_fact_edited(edited, edit, corpus)
    else:
        changed, given_up, ahead = _with_need_edited(edited, edit)
    taken_up = [*([changed] if changed.needs else []), *after]
    hops = tuple(
        replace(hop, n=n, facts=tuple(fact for fact in hop.facts if stands(fact, corpus)))
        for n, hop in enumerate((*before, *taken_up), start=1)
    )
    facts = tuple(fact for hop in hops for fact in hop.facts)
    looked_up = [Need(question) for hop in hops for question in (*hop.needs, *hop.pinned * (_GIVEN_UP - 1))]
    form = answer.form if answer.form.is_text else AnswerForm.VALUE
    inquiry = Inquiry(answer.question, edited.question, facts, (*looked_up, *given_up), form=form)
    fresh = tuple(fact for hop in hops[len(before) :] for fact in hop.facts)
    return RunState(inquiry, hops, ahead=ahead, fresh=fresh, struck=struck)


def carried_steps(state: RunState) -> Iterator[Step]:
    """The hops that a run begins with, as the steps that they were."""
    for hop in state.hops:
        needs = tuple(Need(question) for question in hop.needs)
        yield AnalysisStep(hop.n, hop.question, Needs(needs))
        for need in needs:
            facts = tuple(fact for fact in hop.facts if fact.need.key == need.key)
            documents = tuple(dict.fromkeys(fact.document_id for fact in facts))
            yield ReadingStep(hop.n, need, facts, 0, 0, 0, 0, documents=documents)
        if hop.rephrased not in ("", hop.question):
            yield RephrasingStep(hop.n, hop.question, hop.rephrased)


def described(revision: Revision) -> str:
    """The edit in one sentence: `corrected a fact of hop 2.`"""
    edit = revision.edit
    done = {EditKind.STRIKE: "struck", EditKind.PIN: "pinned", EditKind.CORRECT: "corrected"}[edit.kind]
    return f"{done} a {'fact' if isinstance(edit, FactEdit) else 'need'} of hop {edit.hop}."


def _with_fact_edited(hop: HopRecord, edit: FactEdit, corpus: Corpus) -> tuple[HopRecord, tuple[Place, ...]]:
    """The hop after the edit, and the places that are struck."""
    if not 0 <= edit.index < len(hop.facts):
        raise UsageError(f"Hop {hop.n} has no fact {edit.index + 1}.", hint=f"It has {len(hop.facts)}.")
    fact = hop.facts[edit.index]
    others = tuple(other_fact for other_fact in hop.facts if other_fact.need.key != fact.need.key)
    # What follows is worked out anew, so the question is as it was before it was rephrased.
    hop = replace(hop, rephrased=hop.question)
    match edit.kind:
        case EditKind.STRIKE:
            left = tuple(other_fact for n, other_fact in enumerate(hop.facts) if n != edit.index)
            return replace(_unpinned(hop, fact.need), facts=left), (fact.place,)
        case EditKind.PIN:
            return replace(_pinned(hop, fact.need), facts=(*others, replace(fact, score=1.0, support=None))), ()
        case EditKind.CORRECT:
            return replace(hop, facts=(*others, _corrected(fact, edit, corpus))), ()


def _corrected(fact: Fact, edit: FactEdit, corpus: Corpus) -> Fact:
    """The fact with another value, which a quote of its document has to say."""
    value = " ".join(edit.value.split())
    if not value:
        raise UsageError("A correction needs a value.")
    if edit.quote.strip():
        document = corpus.document(fact.document_id)
        span = locate(edit.quote, document.text, [(0, len(document.text))])
        if span is None:
            raise UsageError(f"{fact.title} does not hold this quote.", hint="Copy it from the article, word for word.")
        start, end = span
        quote = document.text[start:end]
        fact = replace(fact, quote=quote, start=start, end=end, page=document.page_at(start))
    if folded(value) not in folded(f"{fact.title} {plain(fact.quote)}"):
        raise UsageError(f"The quote does not say {value!r}.", hint="Give a quote of the article that does.")
    return replace(fact, value=value, statement=plain(fact.quote), score=1.0, support=None)


def _with_need_edited(hop: HopRecord, edit: NeedEdit) -> tuple[HopRecord, tuple[Need, ...], tuple[Need, ...]]:
    """The hop without the need and its facts, the need as given up, and what is looked up instead."""
    if not 0 <= edit.index < len(hop.needs):
        raise UsageError(f"Hop {hop.n} has no need {edit.index + 1}.", hint=f"It has {len(hop.needs)}.")
    need = Need(hop.needs[edit.index])
    if edit.kind is EditKind.PIN:
        return replace(_pinned(hop, need), rephrased=hop.question), (), ()
    left = tuple(question for n, question in enumerate(hop.needs) if n != edit.index)
    kept = tuple(fact for fact in hop.facts if fact.need.key != need.key)
    changed = replace(_unpinned(hop, need), needs=left, facts=kept, rephrased=hop.question)
    given_up = (need,) * _GIVEN_UP
    if edit.kind is EditKind.STRIKE:
        return changed, given_up, ()
    question = " ".join(edit.question.split())
    if not question:
        raise UsageError("A correction needs a question.")
    return changed, given_up, (Need(question),)


def _pinned(hop: HopRecord, need: Need) -> HopRecord:
    """The hop with the need pinned, in the words in which it was looked up."""
    keys = {need.key, *(Need(question).key for question in hop.pinned)}
    return replace(hop, pinned=tuple(question for question in hop.needs if Need(question).key in keys))


def _unpinned(hop: HopRecord, need: Need) -> HopRecord:
    return replace(hop, pinned=tuple(question for question in hop.pinned if Need(question).key != need.key))


def _pinned_alone(hop: HopRecord) -> HopRecord:
    """The hop with nothing but its pinned needs and their facts."""
    keys = {Need(question).key for question in hop.pinned}
    facts = tuple(fact for fact in hop.facts if fact.need.key in keys)
    return replace(hop, needs=hop.pinned, facts=facts, rephrased=hop.question)


def stands(fact: Fact, corpus: Corpus) -> bool:
    """Whether a quote stands in the corpus where it stood."""
    try:
        return corpus.document(fact.document_id).text[fact.start : fact.end] == fact.quote
    except CorpusError:  # another corpus, or a document that was removed
        return False
