"""The cause of a wrong answer: the table that guides development.

Looked for in this order; the first that holds is the cause.

1. fault, cap: the run did not come to its own end.
2. answered what cannot be answered: the corpus holds no answer, or the premise is false, and one was given.
3. The facts that were found hold the answer: composed wrongly, or abstained though the fact was there. A fact holds it
   where its words, or the same number or date, stand in the fact's value, statement or quote. That proves nothing
   - for yes and no, and for an answer that the question itself names ("Which is older, A or B?"): those are skipped;
   - for a number below `TELLING`, which stands in many a sentence by chance: it must be the value of a fact of a
     needed article (of any article where the dataset names none).
4. A needed article brought no fact: the first such article, in the dataset's order, says how far it came - never
   shortlisted, shortlisted but not read, read but not extracted. An article that the corpus does not hold goes first:
   nothing else could have fixed that.
5. Every needed article brought a fact and the answer stands in none: it had to be counted, compared or worked out of
   them, so that it was composed wrongly, or abstained from.
6. The dataset names no articles: it cannot be told.
"""

from __future__ import annotations

from iterative_rag.evaluation.answer_match import closed, matches, read_value, stands_in
from iterative_rag.evaluation.records import Answerability, Cause, FoundFact, Outcome, QuestionRecord
from iterative_rag.evaluation.summary import gave_facts, listed, read
from iterative_rag.text.values import Quantity

# Numbers from here on rarely occur in a text by chance.
TELLING = 100


def cause(record: QuestionRecord) -> Cause | None:
    """Why `record` is not right; None where it is, and where nobody can tell (no verdict, no accepted answer)."""
    if record.right is not False:
        return None
    if record.outcome is Outcome.FAULT or record.fault:
        return Cause.FAULT
    if record.outcome is Outcome.INCOMPLETE or record.cap:
        return Cause.CAP
    if record.kind is not Answerability.ANSWERABLE:
        return Cause.ANSWERED_UNANSWERABLE
    if not record.answers:
        return None
    composing = Cause.ABSTAINED if record.outcome is Outcome.ABSTAINED else Cause.COMPOSED_WRONGLY
    facts = [fact for hop in record.hops for fact in hop.facts]
    if any(_holds(fact, answer, record) for answer in record.answers for fact in facts):
        return composing
    if not record.gold and not record.missing_gold:
        return Cause.NO_GOLD
    return _lost(record) or composing


def _holds(fact: FoundFact, answer: str, record: QuestionRecord) -> bool:
    if closed(answer) is not None or stands_in(record.question, answer):
        return False
    if any(isinstance(value, Quantity) and abs(value.value) < TELLING for value in read_value(answer)):  # "87", "15th"
        needed = not record.gold or fact.document_id in record.gold
        return needed and matches(fact.value, answer)
    return any(stands_in(text, answer) for text in (fact.value, fact.statement, fact.quote))


def _lost(record: QuestionRecord) -> Cause | None:
    """How far the first needed article came that brought no fact; None where all of them did."""
    if record.missing_gold:
        return Cause.NEVER_SHORTLISTED
    needed = next((document for document in record.gold if document not in gave_facts(record)), None)
    if needed is None:
        return None
    if needed in read(record):
        return Cause.NOT_EXTRACTED
    return Cause.NOT_READ if needed in listed(record) else Cause.NEVER_SHORTLISTED
