"""Two corpora, and a question that needs one article of each."""

from __future__ import annotations

from pathlib import Path

from iterative_rag.app.factory import index_paths
from iterative_rag.settings import Settings

BOTH = "towns,people"
QUESTION = "Who was the mother of the mayor of Aldermere?"
SHORT_ANSWER = "Edda Holm"
CITED = {("Aldermere", "towns"), ("Osric Vane", "people")}
_TEXTS = {
    "towns": ("Aldermere", "The mayor of Aldermere is Osric Vane."),
    "people": ("Osric Vane", "The mother of Osric Vane was Edda Holm."),
}


def index_two_corpora(folder: Path) -> None:
    for corpus, (title, text) in _TEXTS.items():
        (folder / corpus).mkdir(parents=True)
        (folder / corpus / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        index_paths([folder / corpus], settings=Settings(llm="builtin"), corpus=corpus)
