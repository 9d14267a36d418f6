"""What the command line offers for each kind of part is what `iterative_rag.registry` lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fakes.command_line import Done
from iterative_rag.evaluation.running.answer_modes import modes
from iterative_rag.registry import STRATEGIES


def test_ask_offers_the_strategies_and_refuses_others(run: Callable[..., Done]) -> None:
    assert f"--strategy <{'|'.join(STRATEGIES.offered)}>" in run("ask", "--help").out
    refused = run("ask", "Who is it?", "--strategy", "magic")
    assert refused.code == 2
    assert "--strategy magic is not valid: it must be one of 'naive', 'crag'" in refused.err


def test_evaluate_refuses_other_modes_and_names_all(run: Callable[..., Done], tmp_path: Path) -> None:
    dataset = str(tmp_path / "none.jsonl")
    refused = run("evaluate", "run", "--dataset", dataset, "--corpus", "none", "--mode", "magic")
    assert refused.code == 2
    assert f"Use one of: {', '.join(modes())}." in " ".join(refused.err.split())
