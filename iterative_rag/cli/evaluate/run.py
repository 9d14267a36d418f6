"""`iterative-rag evaluate run`: a question set, resumable, with a running score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import (
    AsJson,
    EmbedderSpec,
    FastLLMSpec,
    Guess,
    LLMSpec,
    MaxCalls,
    MaxHops,
    PresetName,
    Quiet,
    UseCache,
    settings_from,
)
from iterative_rag.registry import STRATEGIES
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.run_evaluation import RunConfig, Tally
    from iterative_rag.evaluation.running.run_folder import RunFolder
    from iterative_rag.index.indexing_progress import Progress as IndexProgress

DatasetFile = Annotated[
    Path, typer.Option("--dataset", metavar="FILE", help="FRAMES, multi-hop, SQuAD or plain question/answer file.")
]
RunCorpus = Annotated[
    str,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="An indexed corpus; own: each question's paragraphs; pooled: the paragraphs of all.",
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="The first N questions.")]
Sample = Annotated[int | None, typer.Option(metavar="N", min=1, help="N questions drawn with --seed.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of --sample.")]
Types = Annotated[str, typer.Option(metavar="A,B", help="Only questions of these reasoning types.")]
Redirects = Annotated[
    Path | None, typer.Option(metavar="FILE", help='JSON of {"old title": "new title"} for renamed articles.')
]
RunOut = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of the run; the same command resumes it. Default: runs/NAME.")
]
ModeName = Annotated[
    str,
    typer.Option(
        metavar="MODE",
        help=f"{', '.join(STRATEGIES.names)}, oracle (the gold articles alone) or auto (as ask does, by the settings "
        "and the model's profile).",
    ),
]
JudgeSpec = Annotated[str, typer.Option(metavar="SPEC", help="An LLM that judges the answers; none by default.")]
SelfJudge = Annotated[bool, typer.Option(help="Let the judge be the model that answers.")]
Repeat = Annotated[int, typer.Option(metavar="N", min=1, help="Ask each question N times, with other seeds.")]
Concurrency = Annotated[int, typer.Option("--concurrency", "-c", metavar="N", min=1, max=256)]
PricePerMillion = Annotated[
    str, typer.Option(metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
]
RetryErrors = Annotated[bool, typer.Option("--retry-errors", help="Ask again what ended in a fault.")]
PROGRESS_EVERY = 30.0  # seconds between two lines of progress where there is no terminal


def run(
    dataset: DatasetFile,
    corpus: RunCorpus,
    out: RunOut = None,
    mode: ModeName = "iterative",
    llm: LLMSpec = None,
    fast_llm: FastLLMSpec = None,
    judge: JudgeSpec = "",
    allow_self_judge: SelfJudge = False,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    types: Types = "",
    repeat: Repeat = 1,
    concurrency: Concurrency = 4,
    price: PricePerMillion = "",
    redirects: Redirects = None,
    embedder: EmbedderSpec = None,
    preset: PresetName = None,
    max_hops: MaxHops = None,
    max_calls: MaxCalls = None,
    guess: Guess = None,
    cache: UseCache = None,
    retry_errors: RetryErrors = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a question set; interrupted or killed, the same command resumes it."""
    from iterative_rag.evaluation.running.run_evaluation import RunConfig

    models = {"llm": llm, "fast_llm": fast_llm, "embedder": embedder}
    limits = {"preset": preset, "max_hops": max_hops, "max_calls": max_calls}
    config = RunConfig(
        dataset=dataset,
        corpus=corpus,
        mode=known_mode(mode),
        settings=settings_from(**models, **limits, guess=guess, cache=cache),
        judge=judge,
        allow_self_judge=allow_self_judge,
        limit=limit,
        sample=sample,
        seed=seed,
        types=listed(types),
        repeat=repeat,
        concurrency=concurrency,
        price=parsed_price(price),
        redirects=redirects,
    )
    folder = out or Path("runs") / f"{dataset.name.split('.')[0]}-{corpus}-{mode}"
    finished = run_with_progress(config, folder, retry_errors=retry_errors, quiet=quiet)
    show(finished, as_json=as_json)


def known_mode(name: str) -> str:
    from iterative_rag.errors import UsageError
    from iterative_rag.evaluation.running.answer_modes import modes

    if name not in modes():
        raise UsageError(f"There is no mode {name!r}.", hint=f"Use one of: {', '.join(modes())}.")
    return name


def run_with_progress(config: RunConfig, out: Path, *, retry_errors: bool = False, quiet: bool = False) -> RunFolder:
    """Run with progress on stderr."""
    from iterative_rag.evaluation.running.run_evaluation import run as run_it
    from iterative_rag.system.memory import limit_arenas

    limit_arenas()
    with _progress(quiet=quiet) as (on_index, on_tally):
        return run_it(config, out, retry_errors=retry_errors, progress=on_tally, indexing=on_index)


def show(run: RunFolder, *, as_json: bool) -> None:
    """The figures of a run: a table, or the object that `report --json` gives."""
    from iterative_rag.cli.evaluate.report import show_summary

    show_summary(run, as_json=as_json)


def listed(text: str) -> tuple[str, ...]:
    """ "A, B" -> ("A", "B")"""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parsed_price(text: str) -> tuple[float, float] | None:
    from iterative_rag.errors import UsageError

    if not text:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{text!r} is not a price.", hint="Two numbers: --price 0.15,0.60") from error
    return first, second


@contextmanager
def _progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[IndexProgress], None] | None, Callable[[Tally], None] | None]]:
    """Callbacks for indexing and answering: a bar in a terminal, a line every 30 seconds elsewhere."""
    from iterative_rag.cli import progress
    from iterative_rag.cli.console import err
    from iterative_rag.cli.live_lines import clock

    if quiet:
        yield None, None
        return
    shown = [time.monotonic()]

    def occasionally(tally: Tally) -> None:
        if time.monotonic() - shown[0] >= PROGRESS_EVERY:
            shown[0] = time.monotonic()
            err().line(", ".join(where(tally)))

    with progress.bar() as show:
        if show is None:
            yield None, occasionally
        else:
            yield (
                lambda at: progress.show_indexing(show, at),
                lambda tally: show(tally.done, tally.total, lambda: [*where(tally), clock(tally.seconds)]),
            )


def where(tally: Tally) -> list[str]:
    """`24 of 128`, `4 under way`, `41 % right`, `1 fault`, `12.0/min`, `8:40 left`, `312 calls`, `41,310 tokens`"""
    from iterative_rag.cli.progress import time_left

    parts = [f"{tally.done} of {tally.total}"]
    if tally.under_way:
        parts.append(f"{len(tally.under_way)} under way")
    if tally.judged:
        parts.append(f"{100 * tally.right / tally.judged:.0f} % right")
    if tally.faults:
        parts.append(counted(tally.faults, "fault"))
    if tally.fresh:
        parts.append(f"{tally.per_minute:.1f}/min")
    if tally.seconds_left is not None:
        parts.append(time_left(tally.seconds_left))
    calls, tokens = tally.used
    if calls:
        parts += [counted(calls, "call"), counted(tokens, "token")]
    if tally.price:
        parts.append(f"${tally.cost:.2f}")
    return parts
