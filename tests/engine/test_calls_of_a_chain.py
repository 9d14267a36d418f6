"""What a chained question costs in calls of a model, in any language, and that calls begin like the one before."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fakes.in_memory import MemoryCorpus
from fakes.llm_loop import calls_by_role, outcome, run_loop
from fakes.script_mind import ScriptMind
from fakes.script_view import Link, Quoted, Script
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.types import AnalysisStep, Answer, Need, Needs, RephrasingStep, Status, Step

TEXTS = {
    "Velm Tower": "Velm Tower was designed by Oda Brenk.",
    "Oda Brenk": "Oda Brenk was taught by Tomas Vey.",
    "Tomas Vey": "Tomas Vey was born in Karsa.",
}
CORPUS = MemoryCorpus(TEXTS)
CHAIN = Script(
    "Where was the teacher of the architect of Velm Tower born?",
    "en",
    (
        Link("Who designed Velm Tower?", (Quoted("Velm Tower was designed by Oda Brenk.", "Oda Brenk"),)),
        Link("By whom was {0} taught?", (Quoted("Oda Brenk was taught by Tomas Vey.", "Tomas Vey"),)),
        Link("Where was {1} born?", (Quoted("Tomas Vey was born in Karsa.", "Karsa"),)),
    ),
    answer="{2}",
)


def ask(llm: ScriptedLLM, **settings: Any) -> list[Step]:
    return run_loop(CORPUS, llm, CHAIN.question, **settings)


def chain_model() -> ScriptMind:
    model = ScriptMind()
    model.scripts = (CHAIN,)
    return model


def honest(model: ScriptMind) -> dict[str, Callable[[ChatRequest], ChatReply]]:
    """The model's own reply to every role of the loop."""
    return dict.fromkeys(("analyse", "extract", "rephrase", "rephrase_and_analyse", "answer"), model.llm.complete)


def test_three_hops_cost_one_analysis_two_joint_calls_and_an_answer() -> None:
    model = chain_model()
    steps = ask(model.llm)
    answer = outcome(steps)
    assert (answer.status, answer.short_answer, len(answer.hops)) == (Status.ANSWERED, "Karsa", 3)
    assert calls_by_role(model.llm) == {"analyse": 1, "extract": 3, "rephrase_and_analyse": 2, "answer": 1}
    assert answer.usage.llm_calls == 7
    assert sum(isinstance(step, RephrasingStep) for step in steps) == 2
    assert [step.hop for step in steps if isinstance(step, AnalysisStep)] == [1, 2, 3]
    assert answer.hops[1].question == answer.hops[0].rephrased != CHAIN.question


def test_a_chain_that_was_foreseen_costs_no_call_between_its_hops() -> None:
    model = chain_model()
    model.scripts = (replace(CHAIN, foresees=True),)
    steps = ask(model.llm)
    answer = outcome(steps)
    assert (answer.status, answer.short_answer, len(answer.hops)) == (Status.ANSWERED, "Karsa", 3)
    assert calls_by_role(model.llm) == {"analyse": 1, "extract": 3, "answer": 1}
    assert [step.analysis for step in steps if isinstance(step, AnalysisStep)][1:] == [
        Needs((Need("By whom was Oda Brenk taught?"),), last=True, then=(Need("Where was #1 born?"),)),
        Needs((Need("Where was Tomas Vey born?"),), last=True),
    ]


@pytest.mark.parametrize(
    "value", ["", "Oda Brenk and Tomas Vey", "Velm Tower was designed by Oda Brenk, who was taught by Tomas Vey."]
)
def test_without_one_short_value_a_model_looks_at_the_facts(value: str) -> None:
    model = chain_model()
    model.scripts = (replace(CHAIN, foresees=True),)

    def extracted(request: ChatRequest) -> Any:
        facts = json.loads(model.llm.complete(request).text)["facts"]
        return {"facts": [fact | ({"value": value} if "designed" in fact["statement"] else {}) for fact in facts]}

    corpus = MemoryCorpus(TEXTS | {"Velm Tower": f"{TEXTS['Velm Tower']} {value}"})
    llm = ScriptedLLM(honest(model) | {"extract": extracted})
    assert outcome(run_loop(corpus, llm, CHAIN.question)).short_answer == "Karsa"
    assert calls_by_role(llm)["rephrase_and_analyse"] == 1


def noting(
    texts: dict[str, str], notes: dict[str, str], *, foresees: bool = True, need: int = 2, chain: Script = CHAIN
) -> tuple[Answer, dict[str, int]]:
    """The chain over these texts; the reader notes each of `notes`, with its value, for the whole question as well, or
    for the need alone."""
    model = chain_model()
    model.scripts = (replace(chain, foresees=foresees),)

    def extracted(request: ChatRequest) -> Any:
        facts = json.loads(model.llm.complete(request).text)["facts"]
        noted = ((quote, value) for quote, value in notes.items() if quote in request.user)
        return {"facts": [*facts, *({"quote": quote, "value": value, "need": need} for quote, value in noted)]}

    llm = ScriptedLLM(honest(model) | {"extract": extracted})
    return outcome(run_loop(MemoryCorpus(TEXTS | texts), llm, CHAIN.question)), calls_by_role(llm)


BORN = "Tomas Vey was born in Karsa."


@pytest.mark.parametrize(
    ("title", "foresees", "calls"),
    [
        ("Oda Brenk", True, {"analyse": 1, "extract": 2, "answer": 1}),
        ("Oda Brenk", False, {"analyse": 1, "extract": 2, "rephrase_and_analyse": 2}),
        ("Velm Tower", True, {"analyse": 1, "extract": 2, "rephrase_and_analyse": 1, "answer": 1}),
    ],
)
def test_an_answer_read_beside_a_link_is_not_looked_up(title: str, foresees: bool, calls: dict[str, int]) -> None:
    """The link that was foreseen was searched for and read all the same."""
    answer, made = noting({title: f"{TEXTS[title]} {BORN}"}, {BORN: "Karsa"}, foresees=foresees)
    assert (answer.status, answer.short_answer, made) == (Status.ANSWERED, "Karsa", calls)


@pytest.mark.parametrize("written", [None, {"working": "Tomas Vey [3].", "answer": "Karsa.", "short_answer": "Karsa"}])
def test_an_answer_that_is_not_written_with_the_analysis_is_asked_for(written: Any) -> None:
    """So is one without a marker, which the answerer would be asked for again."""
    model = chain_model()
    plan = {"status": "needs", "needs": [link.need for link in CHAIN.links[:1]], "last": False}

    def joint(request: ChatRequest) -> Any:
        return {**json.loads(model.llm.complete(request).text), "last": False, "answer": written}

    llm = ScriptedLLM(honest(model) | {"analyse": [plan], "rephrase_and_analyse": joint})
    assert outcome(ask(llm)).short_answer == "Karsa"
    assert calls_by_role(llm)["answer"] == 1


def test_a_link_that_a_fact_already_tells_is_neither_looked_up_nor_asked_about() -> None:
    answer, made = noting({"Oda Brenk": f"{TEXTS['Oda Brenk']} {BORN}"}, {BORN: ""}, need=1)
    assert (answer.short_answer, made) == ("Karsa", {"analyse": 1, "extract": 2, "answer": 1})


def test_a_fact_that_only_names_the_same_tells_nothing_of_what_follows() -> None:
    """It had most words of the link, but for the one that matters, and the answer was tried and refused."""
    taught = "Tomas Vey, the famous teacher, was a painter in Orra."
    born = replace(CHAIN.links[2], need="Where was {1}, the famous teacher, born?")
    chain = replace(CHAIN, links=(*CHAIN.links[:2], born))
    texts = {
        "Oda Brenk": f"{TEXTS['Oda Brenk']} {taught}",
        "Tomas Vey": f"{TEXTS['Tomas Vey']} He was the famous teacher.",
    }
    answer, made = noting(texts, {taught: ""}, need=1, chain=chain)
    assert (answer.short_answer, made) == ("Karsa", {"analyse": 1, "extract": 3, "answer": 1})


def test_where_half_of_what_was_foreseen_has_a_value_the_answer_is_tried() -> None:
    """Of nine such plans of a strong model the needs without a value were other words for one that had one, or asked of
    another thing that the description fitted: the model only said that all is known."""
    model = chain_model()
    needs = [link.need.format("Oda Brenk", "Tomas Vey") for link in CHAIN.links] + ["Who is Ada Holm?"]
    plan = {"status": "needs", "needs": needs, "then": [], "last": True}
    llm = ScriptedLLM(honest(model) | {"analyse": [plan]})
    ask(llm)
    assert calls_by_role(llm).items() >= {"analyse": 1, "answer": 1}.items()
    assert not llm.asked("rephrase_and_analyse")


def test_a_value_that_was_noted_for_the_question_and_is_none_costs_one_refusal() -> None:
    done = "She was given a medal in Orra."
    answer, made = noting({"Oda Brenk": f"{TEXTS['Oda Brenk']} {done}"}, {done: "Orra"})
    assert (answer.short_answer, made) == ("Karsa", {"analyse": 2, "extract": 3, "answer": 2})


def test_values_that_were_noted_on_the_way_do_not_contradict_each_other() -> None:
    stands, drawn = "Velm Tower stands in Orra.", "She drew Velm Tower in Tarn."
    texts = {"Velm Tower": f"{TEXTS['Velm Tower']} {stands}", "Oda Brenk": f"{TEXTS['Oda Brenk']} {drawn}"}
    answer, _ = noting(texts | {"Tomas Vey": "Tomas Vey was a teacher."}, {stands: "Orra", drawn: "Tarn"})
    assert (answer.status, answer.conflicts) == (Status.ABSTAINED, ())


def test_what_an_answer_lacked_is_told_to_the_next_analysis() -> None:
    model = chain_model()
    model.scripts = (replace(CHAIN, foresees=True),)
    refused = iter([{"status": "not_in_facts", "answer": "", "missing": "Whether Karsa is a town."}])
    llm = ScriptedLLM(honest(model) | {"answer": lambda request: next(refused, None) or model.llm.complete(request)})
    ask(llm)
    first, second = (request.user for request in llm.asked("analyse"))
    assert "lacks" not in first
    assert "\n- An answer from these facts, which lacks: Whether Karsa is a town." in second


@pytest.mark.parametrize(
    ("lacking", "calls"),
    [
        ("question", {"analyse": 1, "extract": 3, "rephrase_and_analyse": 2, "rephrase": 2, "answer": 1}),
        ("status", {"analyse": 3, "extract": 3, "rephrase_and_analyse": 2, "answer": 1}),
    ],
)
def test_a_half_that_is_missing_is_asked_for_by_its_own_role(lacking: str, calls: dict[str, int]) -> None:
    model = chain_model()

    def halved(request: ChatRequest) -> Any:
        reply = model.llm.complete(request).text
        kept = {name: value for name, value in json.loads(reply).items() if name not in (lacking, "needs")}
        return kept if lacking == "status" else {**json.loads(reply), lacking: ""}

    llm = ScriptedLLM(honest(model) | {"rephrase_and_analyse": halved})
    assert outcome(ask(llm)).short_answer == "Karsa"
    assert calls_by_role(llm) == calls


def test_a_model_that_fails_at_the_joint_reply_is_asked_apart_from_then_on() -> None:
    model = chain_model()
    llm = ScriptedLLM(honest(model) | {"rephrase_and_analyse": lambda request: "I would rather not."})
    answer = outcome(ask(llm))
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, "Karsa")
    assert calls_by_role(llm) == {"analyse": 3, "extract": 3, "rephrase_and_analyse": 3, "rephrase": 2, "answer": 1}


def test_prompts_of_a_run_begin_alike_up_to_the_new_facts() -> None:
    """The fence around the facts had a code that changed with every hop: no server's prefix cache went further."""
    model = chain_model()
    ask(model.llm)
    first, second = (request.user for request in model.llm.asked("rephrase_and_analyse"))
    facts, _, rest = first.partition("\n\nNEW FACTS")
    assert rest
    assert "Velm Tower was designed by Oda Brenk." in facts
    assert second.startswith(f"{facts}\n<facts ")


# --- other languages ---------------------------------------------------------------------------


STONES = {
    "云溪石塔": "云溪石塔由工匠沈若溪设计，于1627年建成。",
    "沈若溪": "沈若溪是一位工匠，她的老师是何远山。",
    "柳树镇": "柳树镇的石塔很高，每年秋天有人来看。",
}
DESIGNED = Link("云溪石塔是谁设计的？", (Quoted("云溪石塔由工匠沈若溪设计，于1627年建成。", "沈若溪"),))
TAUGHT = Link("{0}的老师是谁？", (Quoted("沈若溪是一位工匠，她的老师是何远山。", "何远山"),))


def test_a_value_that_the_quote_holds_ends_the_reading_for_its_need() -> None:
    """The value counted as not stated, so that further documents were read, and the need was asked for again."""
    model = ScriptMind()
    script = Script("云溪石塔的设计者的老师是谁？", "zh", (DESIGNED, TAUGHT), answer="{1}")
    model.scripts = (script,)
    answer = outcome(run_loop(MemoryCorpus(STONES), model.llm, script.question, shortlist=3))
    assert calls_by_role(model.llm) == {"analyse": 1, "extract": 2, "rephrase_and_analyse": 1, "answer": 1}
    assert not any("(partly" in request.user for request in model.llm.requests)
    assert len(answer.hops) == 2
