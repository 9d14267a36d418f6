"""`iterative-rag evaluate frames`: questions, pages, index, run and report of FRAMES in one command that resumes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.evaluate.run import (
    Concurrency,
    JudgeSpec,
    Limit,
    ModeName,
    PricePerMillion,
    Redirects,
    RetryErrors,
    RunOut,
    SelfJudge,
    known_mode,
    parsed_price,
    run_with_progress,
    show,
)
from iterative_rag.cli.options import (
    AllowPrivateHosts,
    AsJson,
    Contact,
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
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.datasets.download import FetchPlan
    from iterative_rag.settings import Settings

Subset = Annotated[
    str, typer.Option(metavar="60|all|FILE", help="60: a list that ships with the package; FILE: ids, one a line.")
]
Pages = Annotated[
    Path | None, typer.Option(metavar="PATH", help="A file or folder of pages, as for `index`; else they are fetched.")
]
QuestionsFrom = Annotated[
    str, typer.Option("--questions", metavar="URL_OR_FILE", help="The benchmark's file, if not the published.")
]
DataDir = Annotated[Path, typer.Option(metavar="DIR", help="Where questions and pages are fetched to.")]
FramesCorpus = Annotated[
    str, typer.Option("--corpus", metavar="NAME", help="The corpus that the pages are indexed into.")
]
WikiApi = Annotated[
    str, typer.Option("--api", metavar="URL", help="Another wiki's api.php; {language} stands for that of the link.")
]


def frames(
    llm: LLMSpec = None,
    fast_llm: FastLLMSpec = None,
    subset: Subset = "60",
    limit: Limit = None,
    pages: Pages = None,
    questions: QuestionsFrom = "",
    data: DataDir = Path("frames"),
    corpus: FramesCorpus = "frames",
    out: RunOut = None,
    mode: ModeName = "auto",
    judge: JudgeSpec = "",
    allow_self_judge: SelfJudge = False,
    concurrency: Concurrency = 4,
    price: PricePerMillion = "",
    redirects: Redirects = None,
    contact: Contact = "",
    api: WikiApi = "",
    allow_private_hosts: AllowPrivateHosts = False,
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
    """Run FRAMES from nothing to a report: get the questions and their Wikipedia pages, index them, ask, compare.

    Interrupted or killed, the same command goes on where it was: no page is fetched, no passage embedded and no
    question asked twice. The report stands in the folder of the run, beside the published figures.

    Wikipedia asks robots for a contact: name it once, with --contact; with --pages none is needed.
    """
    from iterative_rag.cli.evaluate.report import write_reports
    from iterative_rag.cli.fetch_progress import index_into
    from iterative_rag.evaluation.datasets.download import FetchPlan
    from iterative_rag.evaluation.datasets.frames_subsets import Benchmark
    from iterative_rag.evaluation.running.preparation import judging_model
    from iterative_rag.evaluation.running.run_evaluation import RunConfig
    from iterative_rag.evaluation.running.run_folder import need_inspect

    need_inspect()  # what cannot work is told before pages are fetched for hours
    asked_by, cost = known_mode(mode), parsed_price(price)
    models = {"llm": llm, "fast_llm": fast_llm, "embedder": embedder}
    limits = {"preset": preset, "max_hops": max_hops, "max_calls": max_calls}
    settings = settings_from(**models, **limits, guess=guess, cache=cache)
    judging_model(judge, settings)
    plan = FetchPlan("frames", data, questions, limit, contact, api, subset, allow_private_hosts)
    dataset, articles = _data(plan, pages, quiet=quiet)
    index_into([articles], corpus, embedder, quiet=quiet)
    config = RunConfig(
        dataset=dataset,
        corpus=corpus,
        mode=asked_by,
        settings=settings,
        judge=judge,
        allow_self_judge=allow_self_judge,
        limit=limit,
        concurrency=concurrency,
        price=cost,
        redirects=redirects,
        benchmark=Benchmark("frames", subset),
    )
    run = run_with_progress(config, out or _run_folder(subset, settings), retry_errors=retry_errors, quiet=quiet)
    write_reports(run, quiet=quiet)
    show(run, as_json=as_json)


def _data(plan: FetchPlan, pages: Path | None, *, quiet: bool) -> tuple[Path, Path]:
    """The file of questions and the folder or file of pages: fetched, unless they are given."""
    from iterative_rag.cli.console import clean, err
    from iterative_rag.cli.fetch_progress import fetching_progress, naming_private_hosts
    from iterative_rag.errors import FetchError
    from iterative_rag.evaluation.datasets import download

    with naming_private_hosts(plan.private_hosts), fetching_progress(quiet=quiet) as (advance, on_pause):
        if pages is not None:
            return download.fetch_questions(plan, on_pause=on_pause), pages
        report = download.fetch_dataset(plan, progress=advance, on_pause=on_pause)
    if report.failed:
        raise FetchError(
            f"{counted(report.failed, 'page')} could not be fetched this time.",
            hint=f"The same command tries again; to do without them: --pages {report.folder}",
        )
    if not quiet:
        err().line(f"{counted(report.pages, 'page')} in {clean(str(report.folder))}, {report.fetched:,} fetched now")
    if report.missing and not quiet:
        lacking = counted(len(report.missing), "link has", "links have")
        err().line((clean(f"{lacking} no page: {plan.out / download.MISSING}"), "yellow"))
    return report.dataset, report.folder


def _run_folder(subset: str, settings: Settings) -> Path:
    """runs/frames-60-ollama-llama3.1-8b"""
    name = f"frames-{Path(subset).stem}-{settings.llm}"
    return Path("runs") / re.sub(r"[^\w.-]+", "-", name)
