"""`/evaluations`: the evaluation runs of a folder that the server was given, also while they go on."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from iterative_rag.errors import IterativeRAGError
from iterative_rag.evaluation import LOGS, MANIFEST, read_run
from iterative_rag.serve.api.responses import NotFound
from iterative_rag.serve.page.articles.article_view import ArticleView
from iterative_rag.serve.page.articles.markdown_html import markdown_html
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.runs.public_text import public_message
from iterative_rag.serve.services import services_of


async def evaluations(request: Request) -> Response:
    """The runs, the newest first."""
    folder = services_of(request).options.evaluations
    cards = await asyncio.to_thread(_cards, folder) if folder else []
    return page(request, "evaluations.html", cards=cards, given=folder is not None)


async def evaluation(request: Request) -> Response:
    """The report of a run as far as it has come; a run that goes on is loaded again."""
    folder = services_of(request).options.evaluations
    # Only a name that the folder lists is opened, so no address leads out of it.
    name = request.path_params["name"]
    path = next((path for path in await asyncio.to_thread(_folders, folder) if path.name == name), None)
    if path is None:
        raise NotFound("There is no such evaluation.")
    written, complete = await asyncio.to_thread(_report, path)
    view = ArticleView(markdown_html(written), False, 1, 1)
    return page(request, "evaluation.html", name=name, view=view, complete=complete)


def _folders(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    paths = [path for path in folder.iterdir() if (path / MANIFEST).is_file()]
    return sorted(paths, key=lambda path: (path / MANIFEST).stat().st_mtime, reverse=True)


def _cards(folder: Path) -> list[dict[str, Any]]:
    return [
        _card(path, tuple((log, log.stat().st_mtime_ns) for log in sorted((path / LOGS).glob("*.eval"))))
        for path in _folders(folder)
    ]


@lru_cache(maxsize=256)
def _card(path: Path, written: tuple[tuple[Path, int], ...]) -> dict[str, Any]:
    """The card of a run as of the times at which its logs were `written`: `questions` are those to be asked, with
    repetitions, `asked` those that were; `right` of the `scored` ones are right. `fault` says why its answers cannot be
    read."""
    from iterative_rag.evaluation import answered_rightly, scorable

    try:
        run = read_run(path)
    except IterativeRAGError as error:
        return {"name": path.name, "fault": public_message(str(error))}
    right = [judged for record in run.records if scorable(record) and (judged := answered_rightly(record)) is not None]
    return {
        "name": path.name,
        "fault": "",
        "questions": int(run.manifest["questions"]) * int(run.manifest["repeat"]),
        "mode": str(run.manifest["mode"]),
        "backend": str(run.manifest["backend"]),
        "asked": len(run.records),
        "right": sum(right),
        "scored": len(right),
    }


def _report(path: Path) -> tuple[str, bool]:
    """The report as Markdown, and whether all questions were asked."""
    from iterative_rag.evaluation import Report, markdown

    run = read_run(path)
    if not run.records:
        return "No question has been answered yet.", False
    return markdown(Report.of(run)), run.complete
