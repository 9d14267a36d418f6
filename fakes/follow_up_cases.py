"""Forty follow-ups in twelve conversations over the starter corpus, with the questions that they stand for.

They were written before the rules that rewrite them. The answers before a follow-up are given, so that a rewriting is
judged apart from reading; "" stands for a follow-up that has to be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Case:
    """A follow-up. `meant` are the wordings that count as right, the first the one that the conversation goes on with;
    empty where it cannot be understood. `answer` and `quote` are what that question brings."""

    asked: str
    kind: str
    meant: tuple[str, ...]
    answer: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class FollowUpCases:
    """A conversation: its first question with the answer and a quote, and the follow-ups in their order."""

    question: str
    answer: str
    quote: str = ""
    cases: tuple[Case, ...] = field(default=())


CONVERSATIONS = (
    FollowUpCases(
        "Who was the 15th president of the United States?",
        "James Buchanan",
        cases=(
            Case("when did he die?", "pronoun", ("When did James Buchanan die?",), "June 1, 1868"),
            Case("and where was he born?", "pronoun", ("Where was James Buchanan born?",), "Cove Gap, Pennsylvania"),
            Case(
                "who was his niece?",
                "possessive",
                ("Who was James Buchanan's niece?", "Who was the niece of James Buchanan?"),
                "Harriet Lane",
            ),
            Case(
                "and her mother?",
                "ellipsis",
                ("Who was Harriet Lane's mother?", "Who was the mother of Harriet Lane?"),
                "Jane Ann Elliott Buchanan Lane",
            ),
        ),
    ),
    FollowUpCases(
        "Which river flows through Prague?",
        "Vltava",
        cases=(
            Case("how long is it?", "pronoun", ("How long is the Vltava?",), "430 km"),
            Case("and in miles?", "unit", ("How long is the Vltava in miles?",), "267 miles"),
            Case("which river does it flow into?", "pronoun", ("Which river does the Vltava flow into?",), "Elbe"),
        ),
    ),
    FollowUpCases(
        "Which river flows through Prague?",
        "Vltava",
        cases=(
            Case("what about Porto?", "ellipsis", ("Which river flows through Porto?",), "Douro"),
            Case("how long is it?", "pronoun", ("How long is the Douro?",), "897 km"),
            Case(
                "Who designed the Maria Pia Bridge?",
                "topic",
                ("Who designed the Maria Pia Bridge?",),
                "Théophile Seyrig",
            ),
            Case(
                "in which year was it opened?", "pronoun", ("In which year was the Maria Pia Bridge opened?",), "1877"
            ),
        ),
    ),
    FollowUpCases(
        "Who designed the Eiffel Tower?",
        "Maurice Koechlin",
        cases=(
            Case(
                "who else?",
                "else",
                (
                    "Who else designed the Eiffel Tower besides Maurice Koechlin?",
                    "Who besides Maurice Koechlin designed the Eiffel Tower?",
                    "Who else besides Maurice Koechlin designed the Eiffel Tower?",
                ),
                "Émile Nouguier",
            ),
            Case("how tall is it?", "pronoun", ("How tall is the Eiffel Tower?",), "330 m"),
            Case("and in feet?", "unit", ("How tall is the Eiffel Tower in feet?",), "1,083 ft"),
            Case(
                "and the Empire State Building?",
                "ellipsis",
                ("How tall is the Empire State Building?", "How tall is the Empire State Building in feet?"),
                "443 m",
            ),
        ),
    ),
    FollowUpCases(
        "Who directed Oppenheimer?",
        "Christopher Nolan",
        cases=(
            Case("and Inception?", "ellipsis", ("Who directed Inception?",), "Christopher Nolan"),
            Case(
                "who composed its music?",
                "possessive",
                ("Who composed Inception's music?", "Who composed the music of Inception?"),
                "Hans Zimmer",
            ),
            Case("when was he born?", "pronoun", ("When was Hans Zimmer born?",), "12 September 1957"),
            Case(
                "no, I meant the director",
                "correction",
                (
                    "When was Christopher Nolan born?",
                    "When was the director of Inception born?",
                    "When was the director born?",
                ),
                "30 July 1970",
            ),
        ),
    ),
    FollowUpCases(
        "Which physicist won the Nobel Prize in Physics in 1922?",
        "Niels Bohr",
        cases=(
            Case(
                "who was his brother?",
                "possessive",
                ("Who was Niels Bohr's brother?", "Who was the brother of Niels Bohr?"),
                "Harald Bohr",
            ),
            Case("what sport did he play?", "pronoun", ("What sport did Harald Bohr play?",), "football"),
            Case("no, I meant Niels", "correction", ("What sport did Niels Bohr play?",), "football"),
        ),
    ),
    FollowUpCases(
        "Who assassinated James A. Garfield?",
        "Charles J. Guiteau",
        cases=(
            Case("why?", "why", ("Why did Charles J. Guiteau assassinate James A. Garfield?",), "a delusion"),
            Case(
                "and who assassinated William McKinley?",
                "topic",
                ("Who assassinated William McKinley?",),
                "Leon Czolgosz",
            ),
            Case("when did she marry him?", "unclear", ()),
        ),
    ),
    FollowUpCases(
        "Who discovered polonium?",
        "Marie Curie",
        cases=(
            Case("where was she born?", "pronoun", ("Where was Marie Curie born?",), "Warsaw"),
            Case(
                "and her husband?",
                "ellipsis",
                ("Where was Marie Curie's husband born?", "Where was the husband of Marie Curie born?"),
                "Paris",
            ),
            Case(
                "and when did he die?",
                "pronoun",
                (
                    "When did Marie Curie's husband die?",
                    "When did the husband of Marie Curie die?",
                    "When did Pierre Curie die?",
                ),
                "19 April 1906",
            ),
        ),
    ),
    FollowUpCases(
        "Who wrote Nineteen Eighty-Four?",
        "George Orwell",
        cases=(
            Case(
                "what was his real name?",
                "possessive",
                ("What was George Orwell's real name?", "What was the real name of George Orwell?"),
                "Eric Arthur Blair",
            ),
            Case(
                "in which year was the novel published?",
                "pronoun",
                (
                    "In which year was the novel Nineteen Eighty-Four published?",
                    "In which year was Nineteen Eighty-Four published?",
                ),
                "1949",
            ),
            Case(
                "how old was he then?",
                "pronoun",
                (
                    "How old was George Orwell in 1949?",
                    "How old was George Orwell when Nineteen Eighty-Four was published?",
                ),
                "46",
            ),
        ),
    ),
    FollowUpCases(
        "Which city hosted the 1936 Summer Olympics?",
        "Berlin",
        cases=(
            Case("and in 1956?", "ellipsis", ("Which city hosted the 1956 Summer Olympics?",), "Melbourne"),
            Case("and the 1912 ones?", "ellipsis", ("Which city hosted the 1912 Summer Olympics?",), "Stockholm"),
        ),
    ),
    FollowUpCases(
        "What is the highest mountain of North America?",
        "Denali",
        cases=(
            Case("how high is it?", "pronoun", ("How high is Denali?",), "6,190 m"),
            Case("who first climbed it?", "pronoun", ("Who first climbed Denali?",), "Walter Harper"),
            Case("thanks!", "unclear", ()),
            Case(
                "is Mount Rainier higher?",
                "ellipsis",
                ("Is Mount Rainier higher than Denali?",),
                "no",
            ),
        ),
    ),
    FollowUpCases(
        "When did Steffi Graf marry Andre Agassi?",
        "2001",
        cases=(
            Case(
                "how many children do they have?",
                "pronoun",
                ("How many children do Steffi Graf and Andre Agassi have?",),
                "two",
            ),
            Case("where was she born?", "pronoun", ("Where was Steffi Graf born?",), "Mannheim"),
            Case("and he?", "ellipsis", ("Where was Andre Agassi born?",), "Las Vegas"),
        ),
    ),
)
