"""Tells a story from two articles that keeps to quoted facts: every sentence carries the number of its quote.

    python examples/story_from_two_articles.py "Marie Curie" "Pierre Curie" --llm ollama/llama3.1:8b

The corpus is the starter corpus, or one of your own (--corpus). Sentences that no quote proves are not told.
"""

from __future__ import annotations

import argparse
import sys

from iterative_rag import Answer, IterativeRAG, IterativeRAGError, Status

QUESTION = "Tell me about {first} and {second}: what each is, what happened to each, and where their stories meet."


def story(rag: IterativeRAG, first: str, second: str) -> Answer:
    """The story, from these two articles alone."""
    return rag.among(first, second).ask(QUESTION.format(first=first, second=second))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", help="title of an article")
    parser.add_argument("second", help="title of another one")
    parser.add_argument("--llm", default="auto", help="ollama/MODEL, openai-like/MODEL@URL ...")
    parser.add_argument("--corpus", default="", help="a corpus that was indexed before")
    given = parser.parse_args(arguments)
    try:
        with IterativeRAG.from_settings(llm=given.llm, corpus=given.corpus, length="paragraph") as rag:
            answer = story(rag, given.first, given.second)
    except IterativeRAGError as error:
        sys.exit(f"{error} {error.hint}".strip())
    if answer.status is Status.ABSTAINED:
        sys.exit(f"No story: {answer.reason}")
    print(answer.text)
    print()
    for citation in answer.citations:
        print(f"[{citation.n}] {citation.title}: “{citation.display}”")
    for caveat in filter(None, (answer.reason, *answer.caveats)):
        print(f"Note: {caveat}")
    return 0 if answer.status is Status.ANSWERED else 1


if __name__ == "__main__":
    sys.exit(main())
