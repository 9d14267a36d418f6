"""That a chained question in another language costs no more calls of a model than one in English."""

from __future__ import annotations

import pytest

from fakes.case_following_llm import CaseFollowingLLM
from fakes.case_view import Link, Quoted, Script
from fakes.in_memory import MemoryCorpus
from fakes.llm_loop import calls_by_role, outcome, run_loop

CASES = {
    "zh": (
        {
            "云溪石塔": "云溪石塔由工匠沈若溪设计，于1627年建成。",
            "沈若溪": "沈若溪是一位工匠，她的老师是何远山。",
            "柳树镇": "柳树镇的石塔很高，每年秋天有人来看。",
        },
        Script(
            "云溪石塔的设计者的老师是谁？",
            "zh",
            (
                Link("云溪石塔是谁设计的？", (Quoted("云溪石塔由工匠沈若溪设计，于1627年建成。", "沈若溪"),)),
                Link("{0}的老师是谁？", (Quoted("沈若溪是一位工匠，她的老师是何远山。", "何远山"),)),
            ),
            answer="{1}",
        ),
    ),
    "de": (
        {
            "Wehr": "Die Wehr entspringt am Grauen Horn und mündet in die See.",
            "Graues Horn": "Das Graue Horn ist der Berg, den zuerst Oda Brenk bestieg.",
            "Karsa": "Karsa liegt an der Wehr und ist eine Stadt mit einem Hafen.",
        },
        Script(
            "Wer bestieg zuerst den Berg, an dem die Wehr entspringt?",
            "de",
            (
                Link(
                    "An welchem Berg entspringt die Wehr?",
                    (Quoted("Die Wehr entspringt am Grauen Horn und mündet in die See.", "Graues Horn"),),
                ),
                Link(
                    "Wer bestieg zuerst den Berg {0}?",
                    (Quoted("Das Graue Horn ist der Berg, den zuerst Oda Brenk bestieg.", "Oda Brenk"),),
                ),
            ),
            answer="{1}",
        ),
    ),
}


@pytest.mark.parametrize("code", CASES)
def test_a_value_that_the_quote_holds_ends_the_reading_for_its_need(code: str) -> None:
    """The value counted as not stated, so that further documents were read, and the need was asked for again."""
    texts, script = CASES[code]
    model = CaseFollowingLLM()
    model.script = script
    answer = outcome(run_loop(MemoryCorpus(texts), model.llm, script.question, shortlist=3))
    assert calls_by_role(model.llm) == {"analyse": 1, "extract": 2, "rephrase_and_analyse": 1, "answer": 1}
    assert not any("(partly" in request.user for request in model.llm.requests)
    assert len(answer.hops) == 2
