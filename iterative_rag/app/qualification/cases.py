"""The cases of a qualification, read from `cases.toml`, and whether a model did in one what its role asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from iterative_rag.app.qualification.measurements import ObservedModel
from iterative_rag.errors import LLMError
from iterative_rag.protocols import Extractor, Roles
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Document, Draft, Extract, Fact, Inquiry, Known, Need, Needs, Window


@dataclass(frozen=True, slots=True)
class RoleCase:
    """One call of a role. The file says what `shows`, `expect` and `planted` mean; the role gets the others."""

    id: str
    role: str
    shows: str
    expect: tuple[str, ...]
    planted: str = ""
    question: str = ""
    need: str = ""
    needs: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    facts: tuple[Fact, ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    answer: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class WindowCase:
    """A sentence in the middle of filler: how long may a window be for the model to find it?"""

    need: str
    title: str
    sentence: str
    expect: str
    sizes: tuple[int, ...]
    filler: tuple[str, ...]

    def text(self, size: int) -> str:
        """Filler of about `size` characters with the sentence in its middle."""
        lines: list[str] = []
        while sum(map(len, lines)) + len(lines) < size - len(self.sentence):
            lines.append(self.filler[len(lines) % len(self.filler)])
        lines.insert(len(lines) // 2, self.sentence)
        return " ".join(lines)


@dataclass(frozen=True, slots=True)
class WholeQuestion:
    """A question for every strategy. Without `expect` the documents do not answer it."""

    text: str
    expect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """Everything that is asked in a qualification."""

    roles: tuple[RoleCase, ...]
    window: WindowCase
    documents: tuple[Document, ...]
    questions: tuple[WholeQuestion, ...]


@cache
def cases() -> Cases:
    """The cases of the package."""
    held = tomllib.loads(resources.files(__package__).joinpath("cases.toml").read_text(encoding="utf-8"))
    window = held["window"]
    return Cases(
        roles=tuple(_role_case(row) for row in held["case"]),
        window=WindowCase(**{**window, "sizes": tuple(window["sizes"]), "filler": tuple(window["filler"])}),
        documents=tuple(
            Document(row["title"], row["title"], row["text"], f"{row['title']}.md") for row in held["document"]
        ),
        questions=tuple(WholeQuestion(row["text"], tuple(row["expect"])) for row in held["question"]),
    )


def _role_case(row: Mapping[str, Any]) -> RoleCase:
    facts = tuple(_fact(n, fact) for n, fact in enumerate(row.get("facts", ())))
    documents = tuple((document["title"], document["text"]) for document in row.get("documents", ()))
    texts = {"text": row.get("text", "").strip(), "needs": tuple(row.get("needs", ()))}
    return RoleCase(**{**row, **texts, "expect": tuple(row["expect"]), "facts": facts, "documents": documents})


def _fact(n: int, row: Mapping[str, str]) -> Fact:
    """A fact whose quote is its statement, from a document of its own."""
    statement, need = row["statement"], Need(row["need"])
    return Fact(statement, statement, row["value"], f"case-{n}", "Notes", f"case-{n}.md", 0, len(statement), need, 1.0)


# --- running them ----------------------------------------------------------------------------


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
    analysis = roles.analyst.analyse(_inquiry(case))
    status = "known" if isinstance(analysis, Known) else "needs" if isinstance(analysis, Needs) else "stuck"
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
    return any(name.casefold() in text.casefold() for name in expect)


_PLAYED: dict[str, Callable[[Roles, RoleCase], tuple[bool, str]]] = {
    "analyse": _analysed,
    "plan": _planned,
    "rephrase": _rephrased,
    "reword": _reworded,
    "web_query": _queried,
    "grade": _graded,
    "reflect": _reflected,
    "answer": _answered,
}
