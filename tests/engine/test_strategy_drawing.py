"""The drawings of the strategies: every step of a run follows an edge, and the page shows what the code says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fakes.scripted_roles import Grading, Judging, Planning, Reflecting, Wording
from fakes.strategy_drawing import QUESTION, edges, mermaid
from iterative_rag.registry import STRATEGIES
from iterative_rag.types import Plan, PlannedStep, PlanTool, Sufficiency
from tests.engine.test_strategies import FAILING, GOOD, UNCLEAR, UNPROVED, USELESS, course, once, run

ROOT = Path(__file__).parents[2]
PLAN = Planning([Plan((PlannedStep("Who is Venn?"),)), Plan(())])


@pytest.mark.parametrize("strategy", ["naive", "crag", "plan", "self-rag", "iterative", "full"])
@pytest.mark.parametrize("grader", [GOOD, UNCLEAR, FAILING, Grading({"residence": 0.9})])
@pytest.mark.parametrize("web", [False, True])
def test_every_step_of_a_run_follows_an_edge(strategy: str, grader: Grading, web: bool) -> None:
    drawn = edges(strategy)
    allowed = {(edge.before, edge.after) for edge in drawn if web or not edge.web}
    others: list[dict[str, Any]] = [
        {"planner": Planning(PLAN.plans)},
        {"planner": Planning(PLAN.plans), "reflector": Reflecting([UNPROVED, USELESS]), "rewriter": Wording()},
        {"planner": Planning(PLAN.plans), "judge": Judging([Sufficiency(False, "Where is Tarn?")])},
    ]
    if strategy == "plan":
        search, web_step = PlannedStep("Who is Venn?"), PlannedStep("Where is Tarn?", tool=PlanTool.WEB)
        for expression in ("1 + 1", "one and one"):
            sums = PlannedStep(expression, tool=PlanTool.CALCULATE)
            plans = [Plan((sums, search)), Plan((search, web_step)), Plan((web_step,)), Plan((replace_sum(sums),))]
            others.append({"planner": Planning([*plans, Plan(())])})
    for roles in others:
        script = once("Who is Venn?")
        script.rephrasing = lambda inquiry, found: f"{inquiry.question} She is a painter."
        steps = [QUESTION, *course(run(strategy, grader=grader, script=script, web=web, others=roles))]
        assert set(pairwise(steps)) <= allowed


def replace_sum(step: PlannedStep) -> PlannedStep:
    return replace(step, question=f"2 * ({step.question})")


@pytest.mark.parametrize("strategy", STRATEGIES.names)
def test_every_strategy_leads_from_the_question_to_an_answer(strategy: str) -> None:
    drawn = edges(strategy)
    reached = {QUESTION}
    for _ in drawn:
        reached |= {edge.after for edge in drawn if edge.before in reached}
    assert reached == {name for edge in drawn for name in edge[:2]}
    assert "final" in reached
    assert mermaid(strategy).startswith("flowchart LR\n")


def test_the_drawings_of_the_page_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.make_strategy_drawings", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
