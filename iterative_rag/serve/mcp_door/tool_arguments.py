"""What each tool takes. The JSON schemas that clients see are made of these models, descriptions included."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from iterative_rag.computing.functions import FUNCTIONS
from iterative_rag.settings.choices import LENGTHS

LONGEST_QUERY = 1000
LONGEST_NAME = 500
LONGEST_EXPRESSION = 4000
# As for questions from elsewhere.
LONGEST_QUESTION = 8000
MOST_PASSAGES = 50
MOST_CONDITIONS = 20
# What a client may read at once; longer documents are read in parts.
MOST_CHARACTERS = 50_000

CorpusArgument = Annotated[
    str, Field(max_length=LONGEST_NAME, description="Name of the corpus (list_corpora); empty: the default one.")
]
AskedArgument = Annotated[
    str,
    Field(
        max_length=LONGEST_NAME,
        description="Name of the corpus (list_corpora), or of several to ask at once (a,b); empty: the default one.",
    ),
]
DocumentArgument = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, description="Title or document_id of a document.")
]


class Arguments(BaseModel):
    """Unknown arguments are refused, so that a misspelt one is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WithinArguments(Arguments):
    """What a passage must be of; empty: anything."""

    title: str = Field("", max_length=LONGEST_NAME, description="A part of the title, or a pattern (*, ?) of it.")
    source: str = Field("", max_length=LONGEST_NAME, description="A part of the path or URL, or a pattern of it.")
    section: str = Field("", max_length=LONGEST_NAME, description="A part of a heading above the passage.")
    language: str = Field("", max_length=20, description="Code of the document's language, such as de.")
    since: str = Field("", max_length=10, description="Documents of this date or later: 2024-05-01, 2024-05 or 2024.")
    where: tuple[Annotated[str, Field(max_length=LONGEST_NAME)], ...] = Field(
        (), max_length=MOST_CONDITIONS, description="Conditions on metadata, or on the rows of tables: KEY=VALUE."
    )


WithinArgument = Annotated[WithinArguments, Field(description="The part of the corpus; empty: all of it.")]


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="What to look for, in plain words.")
    corpus: CorpusArgument = ""
    within: WithinArgument = WithinArguments()
    limit: int = Field(10, ge=1, le=MOST_PASSAGES, description="Passages to return.")


class ReadArguments(Arguments):
    document: DocumentArgument
    corpus: CorpusArgument = ""
    section: str = Field(
        "", max_length=LONGEST_NAME, description="Heading of a section (outline); empty: from `start` on."
    )
    start: int = Field(0, ge=0, description="Offset of the first character to read.")
    max_chars: int = Field(8000, ge=1, le=MOST_CHARACTERS, description="Characters to return at most.")


class OutlineArguments(Arguments):
    document: DocumentArgument
    corpus: CorpusArgument = ""


class FindArguments(Arguments):
    document: DocumentArgument
    words: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words or a phrase to find.")
    corpus: CorpusArgument = ""


class ListCorporaArguments(Arguments):
    pass


class CalculateArguments(Arguments):
    expression: str = Field(
        min_length=1,
        max_length=LONGEST_EXPRESSION,
        description="Arithmetic with numbers, units, dates and lists: `1912 - 1825`, `5 km in miles`, "
        f"`days(1 March 1912, 4 May 1912)`. Functions: {', '.join(FUNCTIONS)}.",
    )


class AskArguments(Arguments):
    question: str = Field(
        min_length=1,
        max_length=LONGEST_QUESTION,
        description="One self-contained question in plain words; it may need several look-ups.",
    )
    corpus: AskedArgument = ""
    within: WithinArgument = WithinArguments()
    strategy: str = Field("", description="How to work on it; empty: as the server is set.")
    length: str = Field(
        "",
        description="How long the answer is: a value or a few sentences, paragraphs, or a report; empty: as the server "
        "is set.",
        json_schema_extra={"enum": ["", *LENGTHS]},
    )
