"""The constructed suite of `evaluation/corrections` with a scripted model, and some of its cases built-in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from fakes import correction_cases
from fakes.correction_cases import CLASSES, Case, abstains, cases, chosen, failings, open_web, text_of, unproved
from fakes.script_mind import ScriptMind
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.settings import load_settings
from iterative_rag.text.languages import content_words
from iterative_rag.types import FinalStep, Status, Step
from tests.nightly import sliced

WEB_CASES = [case for case in cases() if case.kind == "web"]


# --- the file itself -------------------------------------------------------------------------


def test_the_suite_has_every_class_in_three_languages() -> None:
    counted = Counter((case.kind, case.lang) for case in cases())
    assert len(cases()) >= 120
    assert len({case.id for case in cases()}) == len(cases()) == len({case.question for case in cases()})
    for kind in CLASSES:
        assert sum(counted[kind, lang] for lang in ("en", "de", "fr", "es")) >= 14, kind
        assert min(counted[kind, lang] for lang in ("de", "fr")) >= 3, kind


@pytest.mark.parametrize("line", correction_cases.raw_cases(), ids=lambda line: line["id"])
def test_a_case_stands_on_its_documents(line: dict[str, Any]) -> None:
    facts = [fact for link in line["script"]["links"] for fact in link["facts"]]
    for fact in facts:
        text = text_of(fact["from"])
        title = text.partition("\n")[0]
        assert text.count(fact["quote"]) == 1
        assert fact["value"] in fact["quote"] or fact["value"] in title
        assert fact.get("label", "") in fact["quote"]
    expected, kind = line["expect"], line["class"]
    assert set(expected["must"]) <= correction_cases.MUSTS
    assert (
        (expected["status"] == "abstained") == (not expected["answers"]) == (kind in ("false_premise", "not_in_corpus"))
    )
    assert kind != "contradiction" or len(set(expected["sides"])) == 2 == len({fact["from"] for fact in facts})
    assert (kind == "web") == any(fact["from"].startswith("web:") for fact in facts)
    assert (kind == "computing") <= bool(line["script"].get("compute"))


@pytest.mark.parametrize("case", [case for case in cases() if case.kind == "correction"], ids=str)
def test_a_question_to_be_corrected_shares_no_content_word_with_its_document(case: Case) -> None:
    (name,) = case.gold
    assert not stems(case.question) & stems(f"{name.replace('_', ' ')} {text_of(name)}")


def stems(text: str) -> set[str]:
    return {word[:5] if len(word) > 5 else word.rstrip("s") for word in content_words(text)}


# --- with a scripted model -------------------------------------------------------------------


@pytest.fixture(scope="module")
def llm() -> ScriptMind:
    return ScriptMind()


@pytest.fixture(scope="module")
def engine(llm: ScriptMind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IterativeRAG]:
    """One index and one encoder for all cases."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ITERATIVE_RAG_HOME", str(tmp_path_factory.mktemp("home")))
        settings = load_settings({**correction_cases.SETTINGS, "llm": "builtin"})
        index_paths([correction_cases.CORPUS], settings=settings, corpus=correction_cases.NAME)
        made = IterativeRAG.from_settings(settings, llm=llm.llm)
    yield made
    made.close()


def played(engine: IterativeRAG, llm: ScriptMind, case: Case, strategy: str) -> list[Step]:
    llm.scripts = (case.script,)
    return list(engine.steps(case.question, strategy=strategy))


def lacking(case: Case, steps: list[Step], *, web: bool = False) -> list[str]:
    final = steps[-1]
    assert isinstance(final, FinalStep)
    return failings(case, final.answer, steps, web=web)


@pytest.mark.parametrize("case", sliced(cases(), 3), ids=str)
def test_full_does_what_each_case_wants(case: Case, engine: IterativeRAG, llm: ScriptMind) -> None:
    assert lacking(case, played(engine, llm, case, "full")) == []


@pytest.fixture(scope="module")
def engine_with_web(engine: IterativeRAG) -> Iterator[IterativeRAG]:
    with open_web() as allowed:
        yield engine.over(engine.corpus, **allowed)


OTHERS = ("nic-en-01", "nic-de-03", "pre-en-02", "con-en-01", "cmp-fr-01", "cor-en-09", "ans-en-16")


@pytest.mark.parametrize("case", [*WEB_CASES, *chosen(*OTHERS)], ids=str)
def test_full_with_the_web(case: Case, engine_with_web: IterativeRAG, llm: ScriptMind) -> None:
    assert lacking(case, played(engine_with_web, llm, case, "full"), web=True) == []


# What a strategy can do at the least, and what it cannot: the cases are made for the difference.
ABLE = {
    "naive": ("ans-en-01", "ans-de-01", "cmp-en-09", "nic-en-01", "pre-en-02", "pre-de-01"),
    "crag": ("ans-en-01", "cor-en-09", "cor-de-05", "cor-fr-03", "nic-de-01", "pre-fr-01"),
    "self-rag": ("ans-fr-01", "cor-en-09", "pre-en-04", "pre-de-01", "nic-en-02"),
    "plan": ("ans-en-03", "ans-de-02", "cmp-en-10", "pre-fr-01", "nic-en-05"),
    "iterative": ("ans-en-03", "ans-fr-04", "cmp-de-02", "pre-en-01", "nic-en-06"),
    "agent": ("pre-de-01", "pre-fr-01"),
}
UNABLE = {
    "naive": ("ans-en-16", "ans-en-20", "cor-en-09"),
    "crag": ("ans-en-16", "ans-en-20"),
    "self-rag": ("ans-en-16",),
    "plan": ("cor-de-05", "cor-fr-03"),
    "iterative": ("cor-de-05", "cor-fr-03"),
}


@pytest.mark.parametrize(("strategy", "name"), [(way, name) for way, names in ABLE.items() for name in names])
def test_the_other_strategies_do_what_they_are_made_for(
    strategy: str, name: str, engine: IterativeRAG, llm: ScriptMind
) -> None:
    (case,) = chosen(name)
    assert lacking(case, played(engine, llm, case, strategy)) == []


@pytest.mark.parametrize(("strategy", "name"), [(way, name) for way, names in UNABLE.items() for name in names])
def test_what_a_strategy_cannot_do_ends_in_an_abstention(
    strategy: str, name: str, engine: IterativeRAG, llm: ScriptMind
) -> None:
    (case,) = chosen(name)
    final = played(engine, llm, case, strategy)[-1]
    assert isinstance(final, FinalStep)
    assert final.answer.status is Status.ABSTAINED


# --- with the built-in backend ------------------------------------------------------------------

# What must not be answered (every other case: the bench asks all), and in three languages something that may.
BUILTIN = [case for case in cases() if case.kind in ("false_premise", "not_in_corpus")][::2]
BUILTIN += chosen(
    "ans-en-01", "ans-en-02", "ans-de-01", "ans-fr-05", "cmp-en-01", "cor-en-08", "con-en-04", "web-en-02"
)


@pytest.fixture(scope="module")
def builtin(engine: IterativeRAG) -> IterativeRAG:
    from iterative_rag.app.factory.backends import make_backend
    from iterative_rag.builtin.encoder import BuiltinEncoder
    from iterative_rag.storage.cache import NoCache

    settings = engine.settings.model_copy(update=correction_cases.READ_AS_ENGLISH)
    backend, _ = make_backend(settings, NoCache(), BuiltinEncoder())
    return IterativeRAG(settings, corpus=engine.corpus, backend=backend, cache=NoCache())


@pytest.mark.parametrize("case", sliced(BUILTIN, 3), ids=str)
def test_the_builtin_backend_never_answers_without_proof_nor_surely_what_nobody_can_know(
    case: Case, builtin: IterativeRAG
) -> None:
    answer = builtin.ask(case.question, strategy="full")
    assert unproved(answer) == []
    if answer.status is Status.ANSWERED:
        assert answer.citations
        assert answer.confidence < 0.9 or not abstains(case, web=False)
