"""The question of the README, and a corpus of those starter articles that the built-in models read for it."""

from __future__ import annotations

from fakes.script_view import Link, Quoted, Script
from iterative_rag.app.factory import index_paths, starter_corpus_path
from iterative_rag.settings import Settings

QUESTION = (
    "If my future wife has the same first name as the 15th first lady of the United States' mother and her surname is "
    "the same as the second assassinated president's mother's maiden name, what is her name?"
)
SHORT_ANSWER = "Jane Ballou"
ARTICLES = (
    "Abraham_Lincoln",
    "First_Lady_of_the_United_States",
    "Harriet_Lane",
    "James_A._Garfield",
    "James_Buchanan",
    "List_of_assassinated_presidents_of_the_United_States",
)
# How a model that knows the question takes it apart; of the chain it cites the ends alone, as real models do.
SCRIPT = Script(
    QUESTION,
    "en",
    (
        Link(
            "Who is the 15th first lady of the United States?",
            (
                Quoted(
                    "she is counted as the 15th first lady of the United States",
                    "Harriet Lane",
                    states="The 15th first lady of the United States is Harriet Lane.",
                ),
            ),
        ),
        Link(
            "Who was the second assassinated president of the United States?",
            (
                Quoted(
                    "He was the second American president to be assassinated, sixteen years after Abraham Lincoln.",
                    "James A. Garfield",
                ),
            ),
        ),
        Link(
            "Who was the mother of {0}?",
            (Quoted("| Mother | Jane Ann Elliott Buchanan Lane |", "Jane Ann Elliott Buchanan Lane"),),
        ),
        Link("What was the maiden name of {1}'s mother?", (Quoted("| Mother | Eliza Ballou |", "Eliza Ballou"),)),
    ),
    SHORT_ANSWER,
    cites=(2, 3),
    foresees=True,
)


def index_articles(corpus: str) -> None:
    """Index the articles as a corpus of the data folder in use."""
    paths = [starter_corpus_path() / f"{name}.md" for name in ARTICLES]
    index_paths(paths, settings=Settings(llm="builtin"), corpus=corpus)
