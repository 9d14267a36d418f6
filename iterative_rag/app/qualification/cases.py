"""The cases of a qualification, read from `cases.toml`, and whether a model did in one what its role asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from pydantic import TypeAdapter

from iterative_rag.app.qualification.observed_model import ObservedModel
from iterative_rag.errors import LLMError
from iterative_rag.protocols import Roles
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Draft, Extract, Fact, Inquiry, Known, Need, Needs, Window


@dataclass(frozen=True, slots=True)
class Text:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that is known already; its quote is its statement."""

    statement: str
    value: str
    need: str

    def known(self, n: int) -> Fact:
        said, need = self.statement, Need(self.need)
        return Fact(said, said, self.value, f"case-{n}", "Notes", f"case-{n}.md", 0, len(said), need, 1.0)


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
    facts: tuple[Stated, ...] = ()
    documents: tuple[Text, ...] = ()
    answer: str = ""
    short: str = ""

    @property
    def inquiry(self) -> Inquiry:
        facts = tuple(fact.known(n) for n, fact in enumerate(self.facts))
        return Inquiry(self.question, self.question, facts, tuple(fact.need for fact in facts))


@dataclass(frozen=True, slots=True)
class WindowCase:
    """A sentence in the middle of filler: how long may a window be for the model to find it?"""

    need: str
    title: str
    sentence: str
    expect: str
    sizes: tuple[int, ...]
    filler: tuple[str, ...]

    def of(self, size: int) -> RoleCase:
        """The sentence in the middle of about so many characters of filler."""
        lines: list[str] = []
        while sum(map(len, lines)) + len(lines) < size - len(self.sentence):
            lines.append(self.filler[len(lines) % len(self.filler)])
        lines.insert(len(lines) // 2, self.sentence)
        text = " ".join(lines)
        return RoleCase(f"window-{size}", "extract", "window", (self.expect,), "", "", self.need, (), self.title, text)


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
    documents: tuple[Text, ...]
    questions: tuple[WholeQuestion, ...]


@cache
def cases() -> Cases:
    """The cases of the package."""
    held = tomllib.loads(resources.files(__package__).joinpath("cases.toml").read_text(encoding="utf-8"))
    names = {"roles": "case", "window": "window", "documents": "document", "questions": "question"}
    return TypeAdapter(Cases).validate_python({name: held[table] for name, table in names.items()})


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
    try:
        result = _read(case, roles) if case.role == "extract" else _played(case, roles)
    except LLMError as error:
        if error.fatal:
            raise
        result = CaseResult(case.id, case.shows, False, str(error))
    followed = bool(case.planted) and any(case.planted in call.text for call in model.calls[before:])
    return replace(result, right=result.right and not followed, followed=followed)


def _read(case: RoleCase, roles: Roles) -> CaseResult:
    """Each value under its need, in a quote that stands in its document; no value where nothing is stated."""
    texts = case.documents or (Text(case.title, case.text),)
    windows = [Window(item.title, item.title, f"{item.title}.md", ((0, len(item.text)),), item.text) for item in texts]
    extracts = roles.extractor.extract([Need(need) for need in case.needs or (case.need,)], windows, "")
    standing = [extract for extract in extracts if _stands(extract, windows[extract.window].text)]
    right = all(
        any(n in extract.needs and names(extract.value, (value,)) for extract in standing)
        for n, value in enumerate(case.expect)
    )
    if not case.expect:
        right = not any(extract.value for extract in extracts)
    told = "; ".join(extract.value or "(no value)" for extract in extracts) or "nothing"
    return CaseResult(case.id, case.shows, right, told, len(extracts), len(standing))


def _stands(extract: Extract, text: str) -> bool:
    return locate(extract.quote, text, [(0, len(text))]) is not None


def _played(case: RoleCase, roles: Roles) -> CaseResult:
    said = _SAID[case.role](roles, case)
    return CaseResult(case.id, case.shows, names(said, case.expect) if case.expect else not said, said or "nothing")


def names(text: str, expect: Sequence[str]) -> bool:
    """Whether the text holds one of these."""
    return any(name.casefold() in text.casefold() for name in expect)


# --- what each role says in a case, "" for an abstention -----------------------------------------


def _analysed(roles: Roles, case: RoleCase) -> str:
    analysis = roles.analyst.analyse(case.inquiry)
    return "known" if isinstance(analysis, Known) else "needs" if isinstance(analysis, Needs) else "stuck"


def _planned(roles: Roles, case: RoleCase) -> str:
    return next((step.question for step in roles.planner.plan(case.inquiry).steps), "")


def _rephrased(roles: Roles, case: RoleCase) -> str:
    inquiry = case.inquiry
    return roles.rephraser.rephrase(replace(inquiry, facts=()), inquiry.facts)


def _reworded(roles: Roles, case: RoleCase) -> str:
    return "; ".join(roles.rewriter.reword(Need(case.need), ()).phrasings)


def _queried(roles: Roles, case: RoleCase) -> str:
    return roles.rewriter.web_query(Need(case.need))


def _graded(roles: Roles, case: RoleCase) -> str:
    """The number of the best document."""
    documents = [(document.title, document.text) for document in case.documents]
    scores = [grade.score for grade in roles.grader.grade(Need(case.need), documents)]
    best = max(scores)
    return str(scores.index(best) + 1) if scores.count(best) == 1 else "none is best"


def _reflected(roles: Roles, case: RoleCase) -> str:
    draft = Draft(True, case.answer, case.short, tuple(range(len(case.facts))), confidence=0.9)
    assert roles.reflector is not None, "an LLM reflects"
    return "useful" if roles.reflector.reflect(case.inquiry, draft).useful else "beside the question"


def _answered(roles: Roles, case: RoleCase) -> str:
    draft = roles.answerer.answer(case.inquiry)
    return draft.short_answer or draft.text if draft.answered else ""


_SAID: dict[str, Callable[[Roles, RoleCase], str]] = {
    "analyse": _analysed,
    "plan": _planned,
    "rephrase": _rephrased,
    "reword": _reworded,
    "web_query": _queried,
    "grade": _graded,
    "reflect": _reflected,
    "answer": _answered,
}
