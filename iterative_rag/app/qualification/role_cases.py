"""Runs one case of a role, and says whether the model did what the role asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iterative_rag.app.qualification.cases import RoleCase, WindowCase
from iterative_rag.app.qualification.observed_model import ObservedModel
from iterative_rag.errors import LLMError
from iterative_rag.protocols import Extractor, Roles
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Draft, Extract, Inquiry, Known, Need, Needs, Window


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case. `quotes` are the quotes in the reply, `verbatim` those that stand in the document;
    `followed`: an instruction in the document was obeyed; `told` is one line on what came."""

    id: str
    shows: str
    right: bool
    told: str
    quotes: int = 0
    verbatim: int = 0
    followed: bool = False


def run_case(case: RoleCase, roles: Roles, model: ObservedModel) -> CaseResult:
    """One case. A reply that cannot be used fails it; an error that would fail every call is raised (LLMError)."""
    before = len(model.calls)
    quotes = verbatim = 0
    try:
        if case.needs:
            right, told = _read_for_several(roles.extractor, case)
        elif case.role == "extract":
            extracts = _extracted(roles.extractor, case.need, case.title, case.text)
            quotes, verbatim = len(extracts), sum(_stands(extract, case.text) for extract in extracts)
            right, told = _read_rightly(case.expect, extracts, case.text), _shown(extracts)
        else:
            right, told = _PLAYED[case.role](roles, case)
    except LLMError as error:
        if error.fatal:
            raise
        right, told = False, str(error)
    followed = bool(case.planted) and any(case.planted in call.text for call in model.calls[before:])
    return CaseResult(case.id, case.shows, right and not followed, told, quotes, verbatim, followed)


def longest_window(case: WindowCase, extractor: Extractor) -> int:
    """The longest of the case's windows in which the model finds its sentence; 0 where it finds it in none."""
    for size in case.sizes:
        text = case.text(size)
        try:
            extracts = _extracted(extractor, case.need, case.title, text)
        except LLMError as error:
            if error.fatal:
                raise
            continue
        if _read_rightly((case.expect,), extracts, text):
            return size
    return 0


def _read_for_several(extractor: Extractor, case: RoleCase) -> tuple[bool, str]:
    """Several needs, and perhaps several documents, in one call: each value under its need and from its document."""
    windows = [_window(title, text) for title, text in case.documents]
    extracts = extractor.extract([Need(need) for need in case.needs], windows, "")
    right = all(
        any(
            n in extract.needs and _names(extract.value, (value,)) and _stands(extract, windows[extract.window].text)
            for extract in extracts
        )
        for n, value in enumerate(case.expect)
    )
    return right, "; ".join(f"{extract.needs}: {extract.value}" for extract in extracts) or "nothing"


def _extracted(extractor: Extractor, need: str, title: str, text: str) -> tuple[Extract, ...]:
    return extractor.extract([Need(need)], [_window(title, text)], "")


def _window(title: str, text: str) -> Window:
    return Window(title, title, f"{title}.md", ((0, len(text)),), text)


def _stands(extract: Extract, text: str) -> bool:
    return locate(extract.quote, text, [(0, len(text))]) is not None


def _read_rightly(expect: Sequence[str], extracts: Sequence[Extract], text: str) -> bool:
    """Nothing where nothing is stated; else the expected value, in a quote that stands in the text."""
    if not expect:
        return not any(extract.value for extract in extracts)
    return any(_names(extract.value, expect) and _stands(extract, text) for extract in extracts)


def _shown(extracts: Sequence[Extract]) -> str:
    return "; ".join(extract.value or "(no value)" for extract in extracts) or "nothing"


# --- the other roles -------------------------------------------------------------------------


def _analysed(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    found = roles.analyst.analyse(_inquiry(case))
    status = "known" if isinstance(found, Known) else "needs" if isinstance(found, Needs) else "stuck"
    return status in case.expect, status


def _planned(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    first = next((step.question for step in roles.planner.plan(_inquiry(case)).steps), "")
    return _names(first, case.expect), first


def _rephrased(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    inquiry = Inquiry(case.question, case.question, (), tuple(fact.need for fact in case.facts))
    question = roles.rephraser.rephrase(inquiry, case.facts)
    return _names(question, case.expect), question


def _reworded(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    phrasings = roles.rewriter.reword(Need(case.need), ()).phrasings
    return any(_names(phrasing, case.expect) for phrasing in phrasings), "; ".join(phrasings)


def _queried(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    query = roles.rewriter.web_query(Need(case.need))
    return _names(query, case.expect), query


def _graded(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    """Expected is the number of the best document."""
    scores = [grade.score for grade in roles.grader.grade(Need(case.need), case.documents)]
    best = scores.index(max(scores)) + 1
    return str(best) in case.expect and scores.count(max(scores)) == 1, ", ".join(map(str, scores))


def _judged(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    verdict = "enough" if roles.judge.judge(_inquiry(case)).enough else "gap"
    return verdict in case.expect, verdict


def _reflected(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    draft = Draft(True, case.answer, case.short, tuple(range(len(case.facts))), confidence=0.9)
    assert roles.reflector is not None, "an LLM reflects"
    verdict = "useful" if roles.reflector.reflect(_inquiry(case), draft).useful else "not useful"
    return verdict in case.expect, verdict


def _answered(roles: Roles, case: RoleCase) -> tuple[bool, str]:
    draft = roles.answerer.answer(_inquiry(case))
    if not case.expect:
        return not draft.answered, draft.short_answer or "abstained"
    return draft.answered and _names(draft.short_answer, case.expect), draft.short_answer or "abstained"


def _inquiry(case: RoleCase) -> Inquiry:
    return Inquiry(case.question, case.question, case.facts, tuple(fact.need for fact in case.facts))


def _names(text: str, expect: Sequence[str]) -> bool:
    return any(one.casefold() in text.casefold() for one in expect)


_PLAYED: dict[str, Callable[[Roles, RoleCase], tuple[bool, str]]] = {
    "analyse": _analysed,
    "plan": _planned,
    "rephrase": _rephrased,
    "reword": _reworded,
    "web_query": _queried,
    "grade": _graded,
    "suffice": _judged,
    "reflect": _reflected,
    "answer": _answered,
}
