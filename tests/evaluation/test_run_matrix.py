from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fakes.evaluation_records import folder, record
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.errors import LLMUnreachable, UsageError
from iterative_rag.evaluation import run_matrix as grids
from iterative_rag.evaluation.preparation import RunConfig
from iterative_rag.evaluation.run_folder import RunFolder
from iterative_rag.evaluation.run_matrix import Cell, config_of, read_matrix, run_matrix

BASE = '[base]\ndataset = "questions.jsonl"\ncorpus = "towns"\n'


def cells(tmp_path: Path, text: str) -> tuple[Cell, ...]:
    path = tmp_path / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return read_matrix(path)


def refused(tmp_path: Path, text: str) -> str:
    """What is said about a file, with its hint."""
    with pytest.raises(UsageError) as error:
        cells(tmp_path, text)
    return f"{error.value} {error.value.hint}"


# --- the file --------------------------------------------------------------------------------


def test_the_example_of_the_documentation_makes_the_runs_that_it_says(tmp_path: Path) -> None:
    example = "\n".join(line[4:] for line in (grids.__doc__ or "").splitlines() if line.startswith("    "))
    assert [cell.name for cell in cells(tmp_path, example)] == [
        "naive-narrow",
        "naive-wide",
        "iterative-narrow",
        "iterative-wide",
    ]


def test_options_and_settings_go_where_they_belong(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, BASE + 'limit = 5\nseed = 1\nmax_hops = 3\nllm = "builtin"\n')
    config = config_of(cell)
    assert cell.name == "run"
    assert (config.dataset, config.corpus, config.mode) == (tmp_path / "questions.jsonl", "towns", "iterative")
    assert (config.limit, config.seed) == (5, 1)
    assert (config.settings.max_hops, config.settings.llm) == (3, "builtin")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[base\n", "cannot be read"),
        ("[base]\nlimt = 3\n", "unknown option or setting 'limt'"),
        ("[axes.size.small]\nshortlst = 2\n", "unknown option or setting 'shortlst'"),
        ('[base]\ncorpus = "towns"\n', "a run without dataset"),
        ("[axes]\nmode = []\n", "no choices"),
        (BASE + '[axes]\nllm = ["ollama/a", "ollama:a"]\n', "would be called ollama-a"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_runs(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


# --- running ---------------------------------------------------------------------------------


def test_a_failing_run_is_told_of_and_the_others_go_on(tmp_path: Path) -> None:
    made = cells(tmp_path, BASE + '[axes]\nmode = ["closed-book", "naive", "oracle", "iterative"]\n')

    def runner(config: RunConfig, out: Path) -> RunFolder:
        if config.mode == "naive":
            raise LLMUnreachable("No server there.", hint="ollama serve")
        if config.mode == "oracle":
            raise ZeroDivisionError("a defect")
        return folder([record("a")], out.name)

    begun: list[str] = []
    runs, failures = run_matrix(made, tmp_path / "out", runner=runner, started=lambda cell: begun.append(cell.name))
    assert begun == ["closed-book", "naive", "oracle", "iterative"]
    assert list(runs) == ["closed-book", "iterative"]
    assert failures["naive"] == {"kind": "LLMUnreachable", "message": "No server there.", "hint": "ollama serve"}
    assert (failures["oracle"]["kind"], failures["oracle"]["message"]) == ("ZeroDivisionError", "a defect")


def test_the_command_runs_the_grid_and_compares(tmp_path: Path) -> None:
    """The built-in backend over the questions' own paragraphs; one cell names a model of no kind that there is."""
    paragraphs = [
        {"title": "Arnwick", "text": "Arnwick is a town on the river Sel. Its mayor is Ada Falk.", "supporting": True},
        {"title": "Belmora", "text": "Belmora is a town on the river Tarn. Its mayor is Hugo Ito.", "supporting": True},
    ]
    rows = [
        {"id": "q1", "question": "Who is the mayor of Arnwick?", "answer": "Ada Falk", "paragraphs": paragraphs},
        {"id": "q2", "question": "On which river lies Belmora?", "answer": "Tarn", "paragraphs": paragraphs},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    grid = tmp_path / "grid.toml"
    grid.write_text(
        '[base]\ndataset = "questions.jsonl"\ncorpus = "pooled"\n'
        '[axes]\nmode = ["naive", "iterative"]\n'
        '[axes.backend.own]\nllm = "builtin"\n[axes.backend.none]\nllm = "no-such-kind/model"\n',
        encoding="utf-8",
    )
    arguments = ["matrix", str(grid), "--out", str(tmp_path / "out"), "--json", "--quiet"]
    done = CliRunner().invoke(evaluate_app, arguments)
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert [(cell["name"], cell["error"] is None) for cell in found["cells"]] == [
        ("naive-own", True),
        ("naive-none", False),
        ("iterative-own", True),
        ("iterative-none", False),
    ]
    assert "iterative-none failed" in done.stderr
    assert [run["name"] for run in found["comparison"]["runs"]] == ["naive-own", "iterative-own"]
    assert found["comparison"]["pairs"][0]["n"] == 2
