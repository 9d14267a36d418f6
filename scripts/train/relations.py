"""One-hop questions about relations: their wordings, and the questions that triples and sub-questions give.

The loop asks short needs ("Who was X's mother?", "When did X die?"). Few of the data files do, so the triples
of 2WikiMultihopQA and PopQA are asked in many wordings. `scripts.train.made` asks the same of any paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from scripts.train.data import Gold, MultiHop, Passage, Question, occurrences, plain

WORDINGS: dict[str, tuple[str, ...]] = {
    "director": (
        "Who directed {}?", "Who is the director of {}?", "Who was the director of the film {}?", "{} director",
        "Who is the director of film {}?", "director of {}", "Which filmmaker made {}?", "{} was directed by whom?",
    ),
    "country of citizenship": (
        "What is the nationality of {}?", "What country is {} from?", "Which country is {} from?", "{} nationality",
        "Of which country was {} a citizen?", "What nationality was {}?", "{} is from which country?",
        "What is {}'s nationality?", "What is the country of citizenship of {}?",
    ),
    "date of birth": (
        "When was {} born?", "What is the date of birth of {}?", "{} date of birth", "On what date was {} born?",
        "What is {}'s birthday?", "In which year was {} born?", "In what year was {} born?", "birth date of {}",
    ),
    "country": (
        "In which country is {}?", "What country is {} in?", "Which country is {} located in?", "{} country",
        "In what country is {} located?", "{} is in which country?",
    ),
    "date of death": (
        "When did {} die?", "What is the date of death of {}?", "{} date of death", "On what date did {} die?",
        "In which year did {} die?", "When was the death of {}?", "death date of {}",
    ),
    "place of birth": (
        "Where was {} born?", "What is the place of birth of {}?", "{} birthplace", "In what city was {} born?",
        "Which city was {} born in?", "What is {}'s birthplace?", "{} was born in which town?",
        "In which place was {} born?",
    ),
    "father": (
        "Who was {}'s father?", "Who is the father of {}?", "{} father", "{}'s father", "Who was the father of {}?",
        "Whose son or daughter was {}?", "What was the name of {}'s father?",
    ),
    "mother": (
        "Who was {}'s mother?", "Who is the mother of {}?", "{} mother", "{}'s mother", "Who was the mother of {}?",
        "What was the name of {}'s mother?", "Who gave birth to {}?",
    ),
    "publication date": (
        "When was {} released?", "When did {} come out?", "In which year was {} released?", "{} release date",
        "When was {} published?", "What is the publication date of {}?", "What year did {} come out?",
    ),
    "country of origin": (
        "Which country is {} from?", "What is the country of origin of {}?", "In which country was {} made?",
        "{} country of origin", "Where was the film {} made?", "What country produced {}?",
    ),
    "place of death": (
        "Where did {} die?", "What is the place of death of {}?", "{} place of death", "In which city did {} die?",
        "In what place did {} die?", "Where was the place of death of {}?",
    ),
    "performer": (
        "Who performed {}?", "Who is the performer of {}?", "Who sang {}?", "{} singer", "{} performer",
        "Which artist recorded {}?", "Who is the performer of song {}?", "Who released {}?", "{} is by which band?",
    ),
    "composer": (
        "Who composed {}?", "Who is the composer of {}?", "Who wrote the music of {}?", "{} composer",
        "Who is the composer of film {}?", "Who composed the music for {}?",
    ),
    "spouse": (
        "Who was {} married to?", "Who is the spouse of {}?", "Who is {}'s husband?", "Who is {}'s wife?", "{} spouse",
        "Whom did {} marry?", "Who was the wife of {}?", "Who was the husband of {}?", "Who is {}'s spouse?",
    ),
    "cause of death": (
        "How did {} die?", "What did {} die of?", "What was the cause of death of {}?", "{} cause of death",
        "Why did {} die?",
    ),
    "award received": ("What award did {} receive?", "Which award was given to {}?", "Which prize did {} win?"),
    "educated at": (
        "Where did {} study?", "Which university did {} attend?", "Where was {} educated?", "{} educated at",
        "Where did {} graduate from?", "Which school did {} go to?",
    ),
    "child": ("Who is the child of {}?", "Who was {}'s son?", "Who was {}'s daughter?", "{} child"),
    "sibling": ("Who is {}'s brother?", "Who is the sister of {}?", "Who is the sibling of {}?", "{} sibling"),
    "founded by": ("Who founded {}?", "Who is the founder of {}?", "{} founder", "By whom was {} founded?"),
    "publisher": ("Who published {}?", "Which company published {}?", "{} publisher"),
    "inception": ("When was {} founded?", "In which year was {} established?", "When was {} formed?",
                  "{} founded when"),
    "employer": ("Where did {} work?", "Who was {}'s employer?", "For whom did {} work?"),
    "occupation": (
        "What is {}'s occupation?", "What was {}'s profession?", "What did {} do for a living?", "{} occupation",
        "What was {} known as by profession?", "What job did {} have?",
    ),
    "author": ("Who wrote {}?", "Who is the author of {}?", "{} author", "Who was the writer of {}?", "{} written by"),
    "screenwriter": ("Who wrote {}?", "Who is the screenwriter of {}?", "Who wrote the screenplay of {}?"),
    "producer": ("Who produced {}?", "Who is the producer of {}?", "{} producer"),
    "starring": ("Who starred in {}?", "Which actor plays in {}?", "Who are the stars of {}?", "{} cast"),
    "based on": ("What is {} based on?", "On which book is {} based?", "{} is based on what?"),
    "located in": ("Where is {}?", "Where is {} located?", "In which place is {}?", "{} location"),
    "population": ("What is the population of {}?", "How many people live in {}?", "{} population"),
    "record label": ("Which label released {}?", "On which record label did {} come out?", "{} record label"),
    "album": ("Which album is {} from?", "On which album does {} appear?", "What album includes {}?"),
    "team": ("Which team did {} play for?", "What club does {} play for?", "{} team"),
    "named after": ("What is {} named after?", "After whom was {} named?", "Where does the name of {} come from?"),
    "position": ("What position did {} hold?", "What office did {} hold?", "{} position held"),
}  # fmt: skip
# What a paragraph that says nothing of a birthplace does not hold.
SIGN_OF_BIRTHPLACE = r"\b[Bb]orn|native|from|\([A-Z]|, [A-Z][a-z]+\s?[,)]|raised|grew"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


def wordings(relation: str, subject: str) -> tuple[str, ...]:
    """All the ways to ask for a relation of a subject."""
    forms = (*WORDINGS.get(relation, ()), f"{{}} >> {relation}", f"What is the {relation} of {{}}?")
    if not WORDINGS.get(relation):
        forms = (*forms, f"{{}} {relation}")
    return tuple(form.replace("{}", subject) for form in forms)


def bare(title: str) -> str:
    """A title without what stands in parentheses after it."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


def triple_questions(row: MultiHop) -> Iterator[Question]:
    """The one-hop questions of a 2WikiMultihopQA question: each triple against the paragraph on its subject."""
    supporting = [p.passage for p in row.paragraphs if p.supporting]
    for subject, relation, answer in row.triples:
        known = [p for p in supporting if plain(bare(p.title)) == plain(bare(subject))]
        known = known or [p for p in supporting if plain(subject) in plain(p.text)]
        found = [(p, spans) for p in known if (spans := spans_of(p.text, answer))]
        if not found:
            continue
        passage, spans = found[0]
        needs = list(wordings(relation, subject))
        if passage.title != subject:
            needs += wordings(relation, passage.title)
        gold = Gold(passage, spans[:1])
        others = tuple(p.passage for p in row.paragraphs if p.passage != passage)
        yield Question(tuple(needs), (gold,), "2wiki", (answer,), others, copies=2, drawn=2.2)


def spans_of(text: str, answer: str) -> tuple[tuple[int, int], ...]:
    """Where an answer stands, also a date written the other way round."""
    if found := occurrences(text, answer):
        return found
    if match := re.fullmatch(rf"({_MONTH}) (\d{{1,2}}), (\d{{4}})", answer):
        return occurrences(text, f"{match[2]} {match[1]} {match[3]}")
    if match := re.fullmatch(rf"(\d{{1,2}}) ({_MONTH}) (\d{{4}})", answer):
        return occurrences(text, f"{match[2]} {match[1]}, {match[3]}")
    return ()


def hop_questions(row: MultiHop) -> Iterator[Question]:
    """The one-hop questions of a MuSiQue question, with the earlier answers put in."""
    for asked, answer, title in row.hops:
        gold = [
            (p.passage, spans)
            for p in row.paragraphs
            if p.supporting and p.passage.title == title and (spans := occurrences(p.passage.text, answer))
        ]
        if not gold:
            continue
        passage, spans = gold[0]
        needs = [asked]
        if match := re.fullmatch(r"(.+?) >> (.+)", asked):
            needs += wordings(match[2], match[1])[:-2]
            needs += [f"What is the {match[2]} of {match[1]}?"]
        others = tuple(p.passage for p in row.paragraphs if p.passage != passage)
        yield Question(tuple(needs), (Gold(passage, spans[:1]),), "musique", (answer,), others, copies=2, drawn=3.0)


def popqa_questions(rows: Iterable[dict[str, Any]]) -> Iterator[Question]:
    """PopQA's questions against the paragraph on their subject; the paragraph on the answer does not answer."""
    for row in rows:
        first, *rest = [Passage(p["title"], p["text"]) for p in row["paragraphs"]]
        answers = tuple(row["answers"])
        subject, relation = row["subject"], row["relation"]
        needs = (row["question"], *wordings(relation, subject))
        others = tuple(passage for passage in rest if plain(subject) not in plain(passage.text))
        spans = next((spans for answer in answers if (spans := occurrences(first.text, answer))), ())
        if not spans and relation != "place of birth":
            continue  # an occupation in other words: neither answered nor unanswered
        if not spans and re.search(SIGN_OF_BIRTHPLACE, first.text):
            continue
        gold = Gold(first, spans[:1]) if spans else Gold(first, relevant=0.0, support=None, kind=None)
        known = answers if spans else ()
        yield Question(needs, (gold,), "popqa", known, others, copies=0.8, drawn=0.7, mine=bool(spans))
