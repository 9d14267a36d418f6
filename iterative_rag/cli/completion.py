"""What the shell offers after the Tab key: corpora, titles and runs. Options complete their own choices.

It runs at each press, so no model and no index is loaded; where nothing can be read, nothing is offered.
"""

from __future__ import annotations

import typer

_MOST = 200


def corpus_names() -> list[str]:
    """All corpora."""
    from iterative_rag.app.factory import corpora
    from iterative_rag.errors import IterativeRAGError

    try:
        return corpora().names()
    except IterativeRAGError:
        return []


def titles(context: typer.Context, incomplete: str) -> list[str]:
    """Titles of the chosen corpus that begin with what was typed."""
    from iterative_rag.app.factory import corpora, corpus_name
    from iterative_rag.errors import IterativeRAGError
    from iterative_rag.settings import load_settings

    before = " ".join(context.params.get("title") or [])
    begun = f"{before} {incomplete}".lstrip()
    try:
        name = corpus_name(load_settings({"corpus": context.params.get("corpus")}))
        # In the case that was typed: the shell keeps no other, and `show` does not mind.
        return [incomplete + title[len(begun) :] for title in corpora().titles(name, begun, _MOST)]
    except IterativeRAGError:
        return []


def run_names(incomplete: str) -> list[str]:
    """Ids of runs, the newest first."""
    from iterative_rag.errors import IterativeRAGError
    from iterative_rag.storage.past_runs import LAST, run_ids

    try:
        return [name for name in (LAST, *run_ids()) if name.startswith(incomplete)][:_MOST]
    except IterativeRAGError:
        return []


def conversation_names(incomplete: str) -> list[str]:
    """Names of conversations, the newest first."""
    from iterative_rag.app.conversations import LAST, ConversationStore
    from iterative_rag.errors import IterativeRAGError

    try:
        names = [one.name for one in ConversationStore().listing()]
    except IterativeRAGError:
        return []
    return [name for name in (LAST, *names) if name.startswith(incomplete)][:_MOST]
