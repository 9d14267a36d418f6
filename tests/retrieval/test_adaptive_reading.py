"""Reading where every call costs: which documents are asked, for which needs, and when it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from fakes.in_memory import DictCache, MemoryCorpus
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.errors import ReplyUnreadable
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.retrieval.need_reading import NeedReading, ReadingTask
from iterative_rag.retrieval.reading_memory import ReadingMemory
from iterative_rag.types import Extract, Hit, Need, ShortlistedDocument, Window

RANKER = ReaderRoles()
DESIGNER, HEIGHT = Need("Who designed Velm Tower?"), Need("How high is Velm Tower?")
TOWER = "Velm Tower was designed by Oda Brenk. It is 61 m high."
VALUES = {"designed": ("Velm Tower was designed by Oda Brenk.", "Oda Brenk"), "high": ("It is 61 m high.", "61 m")}


@dataclass
class Reading:
    """Extracts what `VALUES` has for a word of the need; records what it was asked. A call of more than `most`
    documents fails."""

    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    most: int = 8
    texts: list[str] = field(default_factory=list)
    values: Mapping[str, tuple[str, str]] = field(default_factory=lambda: VALUES)
    fingerprint: str = "reading/1"

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        self.calls.append(tuple(window.title for window in windows))
        for window in windows:
            self.asked.append((window.title, tuple(need.question for need in needs)))
            self.texts.append(window.text)
        if len(windows) > self.most:
            raise ReplyUnreadable("Too many documents.", reply="")
        return tuple(
            Extract(quote, quote, value, needs=(n,), window=place)
            for place, window in enumerate(windows)
            for n, need in enumerate(needs)
            for word, (quote, value) in self.values.items()
            if word in need.question and quote in window.text
        )

    @property
    def titles(self) -> list[str]:
        return [title for title, _ in self.asked]


def listed(need: Need, texts: Mapping[str, str], *titles: str) -> ReadingTask:
    """A need with the documents of these titles, each hit at its beginning."""
    entries = [
        ShortlistedDocument(
            title, title, f"{title}.md", 0.05, (Hit(title, title, 0, min(200, len(texts[title])), 0.05),)
        )
        for title in titles
    ]
    return ReadingTask(need, entries)


def reader(
    texts: Mapping[str, str],
    extractor: Reading,
    *,
    in_flight: int = 1,
    cache: DictCache | None = None,
    per_call: int = 1,
    call_chars: int = 4000,
    memory: ReadingMemory | None = None,
    window_chars: int = 400,
) -> DocumentReader:
    return DocumentReader(
        MemoryCorpus(dict(texts)),
        extractor,
        cache=cache or DictCache(),
        fact_limit=3,
        in_flight=in_flight,
        on_hit=lambda what: None,
        memory=memory or ReadingMemory(),
        window_chars=window_chars,
        documents_per_call=per_call,
        call_chars=call_chars,
        ranker=RANKER,
    )


def values(reading: NeedReading) -> list[str]:
    return [fact.value for fact in reading.facts]


PAGES = {"Velm Tower": TOWER, "Velm": "Velm is a town.", "Towers": "A tower is high.", "Oda Brenk": "Oda Brenk drew."}


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_value_of_the_document_that_the_need_names_ends_the_reading(in_flight: int) -> None:
    extractor = Reading()
    (found,) = reader(PAGES, extractor, in_flight=in_flight).read([listed(DESIGNER, PAGES, *PAGES)])
    assert extractor.titles == ["Velm Tower"]
    assert values(found) == ["Oda Brenk"]
    assert (found.record.read, found.record.skipped) == (1, 3)


KARSA = {"Velm Tower": TOWER, "Karsa": "Karsa is a town with Velm Tower.", "Tarn": "Tarn is a Tarnish town."}
NAMESAKES = {"Velm Tower (Karsa)": TOWER, "Velm Tower (Tarn)": "Velm Tower was built in Tarn.", "Velm": "A town."}
KINDS = {"Velm Tower": TOWER, "Velm Tower (album)": "Velm Tower is an album.", "Velm Tower (film)": "A film."}
HARBOUR = {"Hafen": "Der Hafen hat vier Molen.", "Werft": "Die Werft baute den Kahn.", "Kahn": "Ein Kahn."}
TALLEST = {"Velm Tower": TOWER, "Oda Brenk": "She drew Velm Tower.", "Karsa": "Velm Tower's town."}
TALLEST |= {"Velm": "Velm is a town in the north of the land.", "Tarn": "The town of Tarn is where Velm Tower is."}
TOLD_APART = Need("Who designed Velm Tower in Karsa?")
ASPECT = Need("Who designed Velm Tower, and how?", aspect=True)
# What the need asks about, the pages that are listed, and those of them that are read.
READ = {
    "of namesakes two": (DESIGNER, NAMESAKES, ["Velm Tower (Karsa)", "Velm Tower (Tarn)"]),
    "the namesake that the need tells apart": (TOLD_APART, NAMESAKES, ["Velm Tower (Karsa)"]),
    "the plain title where the need says no kind": (DESIGNER, KINDS, ["Velm Tower"]),
    "the plain title where another is listed first": (DESIGNER, dict(reversed(KINDS.items())), ["Velm Tower"]),
    "the title of a kind": (Need("Who made the film Velm Tower?"), KINDS, ["Velm Tower (film)"]),
    # A second document was read although the first value was right: the town was named beside the tower.
    "one of several that are named": (Need("Who designed Velm Tower of Karsa?"), KARSA, ["Velm Tower"]),
    "a name in the plural": (Need("Which Tarnish architect designed the Velm Towers?"), KARSA, ["Velm Tower"]),
    "two that are compared": (Need("Who designed Velm Tower and Karsa?"), KARSA, ["Velm Tower", "Karsa"]),
    "a German noun is no name": (Need("Welcher Koch bemerkte das Loch im Rumpf?"), HARBOUR, [*HARBOUR]),
    "an aspect by the article on its subject": (ASPECT, {**KARSA, "Towers": "A tower is high."}, ["Velm Tower"]),
    # "What were the" read three documents, as for a value of which there may be more.
    "an aspect that asks for several things": (
        Need("What were the reasons why Velm Tower was designed so?", aspect=True),
        PAGES,
        ["Velm Tower"],
    ),
    **{
        question: (Need(question), TALLEST, ["Velm Tower", "Oda Brenk", "Karsa"])  # there may be a greater one
        for question in (
            "Who designed the highest tower beside Velm Tower?",
            "How many people designed Velm Tower?",
            "Which of the towers was designed like Velm Tower?",
            "Who were designed to keep Velm Tower?",
        )
    },
}


@pytest.mark.parametrize(("need", "pages", "read"), READ.values(), ids=READ)
def test_as_many_documents_are_read_as_a_need_leaves_open(need: Need, pages: dict[str, str], read: list[str]) -> None:
    extractor = Reading()
    reader(pages, extractor).read([listed(need, pages, *pages)])
    assert extractor.titles == read


def test_the_rest_of_the_right_document_is_read_before_weaker_ones() -> None:
    filler = "Nothing of it stands in this part of the long article. " * 12
    pages = {"Velm Tower": f"{filler}\n\n{TOWER}", "Velm": "Velm is a town.", "Towers": "A tower is high."}
    extractor = Reading()
    (found,) = reader(pages, extractor).read([listed(DESIGNER, pages, *pages)])
    assert extractor.titles == ["Velm Tower", "Velm Tower"]
    assert values(found) == ["Oda Brenk"]
    assert not set(extractor.texts[0].split("\n[...]\n")) & set(extractor.texts[1].split("\n[...]\n"))


def test_a_document_is_asked_once_for_all_needs_of_a_hop() -> None:
    extractor = Reading()
    tasks = [listed(DESIGNER, PAGES, "Velm Tower", "Velm"), listed(HEIGHT, PAGES, "Towers", "Velm Tower")]
    designer, height = reader(PAGES, extractor, in_flight=4).read(tasks)
    assert ("Velm Tower", (DESIGNER.question, HEIGHT.question)) in extractor.asked
    assert extractor.titles.count("Velm Tower") == 1
    assert (values(designer), values(height)) == (["Oda Brenk"], ["61 m"])


HIGHEST = Need("What are the high towers?")
TOWERS = {f"Tower {n}": f"Tower {n} stands in Karsa. It is {n}1 m high." for n in range(1, 6)}
HEIGHTS = {"high": ("m high", "high")}


def test_documents_that_a_need_reads_anyway_share_a_call_and_bring_the_same_facts() -> None:
    one, several = Reading(values=HEIGHTS), Reading(values=HEIGHTS)
    (singly,) = reader(TOWERS, one).read([listed(HIGHEST, TOWERS, *TOWERS)])
    (shared,) = reader(TOWERS, several, per_call=4).read([listed(HIGHEST, TOWERS, *TOWERS)])
    assert [len(call) for call in one.calls] == [1, 1, 1]
    assert several.calls == [tuple(one.titles)]
    assert {(fact.document_id, fact.quote) for fact in shared.facts} == {
        (fact.document_id, fact.quote) for fact in singly.facts
    }
    assert (shared.record.read, shared.record.documents) == (singly.record.read, singly.record.documents)


def test_the_first_document_goes_alone_and_after_it_in_vain_several_go_together() -> None:
    pages = {
        **PAGES,
        "Velm": "Velm has Velm Tower.",
        "Towers": "The tower beside Velm Tower was designed by her pupil.",
    }
    extractor = Reading()
    need = [listed(DESIGNER, pages, "Velm", "Towers", "Oda Brenk", "Velm Tower")]
    (found,) = reader(pages, extractor, per_call=2).read(need)
    assert extractor.calls == [("Velm",), ("Velm Tower", "Towers")]
    assert values(found) == ["Oda Brenk"]


def test_documents_of_a_call_that_failed_are_unread() -> None:
    extractor = Reading(values=HEIGHTS, most=1)
    (failed,) = reader(TOWERS, extractor, per_call=3).read([listed(HIGHEST, TOWERS, *TOWERS)])
    assert tuple(unread.window.title for unread in failed.unread) == extractor.calls[0]


RIVALS = {
    "Harbour of Karsa": "The harbour of Karsa has four piers.",
    "Oda Brenk": "Oda Brenk was born in 1870.",
    "Velm": "Velm is a town in the north.",
    "Piers": "A pier stands on piles.",
}
BIRTH = Need("When was the harbour architect Oda Brenk of Karsa born?")


def test_the_likeliest_documents_are_read_and_none_that_is_unlikely_to_answer() -> None:
    """Of 62 first windows of an article 10 brought nothing. A table of another article passed for a text in another
    language, and was read without the name."""
    extractor = Reading(values={"born": ("nowhere", "")})
    pages = {**RIVALS, "Masts": "The masts of the ships were drawn by Oda Brenk for the king."}
    pages["Sons"] = "Oda Brenk had two sons, who were born in the harbour."
    pages["Prices"] = "| Pier | Price |\n|---|---|\n| Harbour | 100 |\n| Born | 3 |"
    pages["Register"] = "| Architect | Born |\n|---|---|\n| Oda Brenk | Karsa |\n| Ada Holm | Tarn |"
    pages["Brenks"] = "The architect Oda Brenk of Karsa was born in 1870."
    (found,) = reader(pages, extractor).read([listed(BIRTH, pages, "Piers", "Velm", "Masts", "Sons", "Brenks")])
    assert extractor.titles[0] == "Brenks"  # wherever it is listed
    assert not {"Piers", "Velm"} & {*extractor.titles}
    assert found.record.skipped >= 2
    for other, read in {"Prices": [], "Register": ["Register"]}.items():  # rows are not held to their chance
        extractor = Reading(values={})
        reader(pages, extractor).read([listed(BIRTH, pages, "Piers", other)])
        assert extractor.titles == read


def test_a_window_holds_the_passages_that_likeliest_answer_wherever_a_search_ranks_them() -> None:
    """Of 73 needs whose deciding sentence stood deep in an article 66 had it in their first window, now all."""
    told = "The drawings of the harbour of Velm were all made by Ada Holm of Tarn, who was an architect there."
    about = [
        f"Velm Harbour has its {n}th storey in the harbour of Velm, as the harbour of Velm has." for n in range(60)
    ]
    text = "\n\n".join([*about, told, *about])
    places = [(text.find(line), text.find(line) + len(line)) for line in (*about[::4], told)]
    hits = tuple(Hit("Velm Harbour", "Velm Harbour", start, end, 0.05) for start, end in places)
    extractor = Reading()
    entry = ShortlistedDocument("Velm Harbour", "Velm Harbour", "Velm Harbour.md", 0.05, hits)
    task = ReadingTask(Need("Who designed Velm Harbour?"), [entry])
    reader({"Velm Harbour": text}, extractor).read([task])
    assert told in extractor.texts[0]


@pytest.mark.parametrize(("see", "read"), [("", ["Capitol"]), ("List of founders of Karsa", [])])
def test_in_place_of_an_article_that_is_not_there_only_what_tells_of_the_need_is_read(
    see: str, read: list[str]
) -> None:
    pages = {"Capitol": "The hall is in Karsa, where it stands on a hill."}
    extractor = Reading()
    reader(pages, extractor).read([listed(Need("When was the guild of Karsa and Velm founded?", see), pages, *pages)])
    assert extractor.titles == read


def test_no_text_is_shown_twice_to_a_question_whatever_the_need_and_its_words() -> None:
    """35 of 175 reads showed what the question had been shown of an article: for another need, in another hop."""
    said = "Velm Tower was painted anew, designed to last, as the architect Oda Brenk drew it in her plans"
    pages = {"Velm Tower": "".join(f"In year {n} {said}. " for n in range(22))}
    extractor = Reading(values={})
    reading = reader(pages, extractor, in_flight=4, window_chars=800)
    for words in ("designed", "drew the plans of", "was the architect of"):
        (found,) = reading.read([listed(Need(f"Who {words} Velm Tower?"), pages, *pages)])
    shown = [line for text in extractor.texts for line in text.split(". ")]
    assert len(shown) == len(set(shown)) > 12
    assert (found.record.read, found.exhausted) == (0, ("Velm Tower",))


def test_all_that_a_model_notes_is_kept_for_its_text_is_not_shown_again() -> None:
    class Generous(Reading):
        def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
            told = [quote for quote in windows[0].text.split("\n") if quote]
            return (
                *(Extract(quote, quote, quote[:5], needs=(0,)) for quote in told[:-1]),
                Extract(told[-1], told[-1], needs=()),
            )

    texts = {
        "Velm Tower": "\n".join([*(f"{n}0 cm of it was designed by Oda Brenk." for n in range(6)), "It is 61 m high."])
    }
    (found,) = reader(texts, Generous()).read([listed(DESIGNER, texts, "Velm Tower")], question=HEIGHT.question)
    assert [fact.need for fact in found.facts].count(DESIGNER) == 6
    assert [fact.statement for fact in found.facts if fact.need == HEIGHT] == ["It is 61 m high."]


def test_two_statements_of_a_sentence_are_two_facts() -> None:
    class Twofold(Reading):
        def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
            quote = "Oda Brenk designed Velm Tower in 1911."
            return Extract("Oda Brenk designed it.", quote, "Oda Brenk"), Extract(
                "It was designed in 1911.", quote, "1911"
            )

    texts = {"Velm Tower": "Oda Brenk designed Velm Tower in 1911."}
    (found,) = reader(texts, Twofold()).read([listed(DESIGNER, texts, "Velm Tower")])
    assert values(found) == ["Oda Brenk", "1911"]


def test_of_an_article_that_becomes_the_subject_only_what_may_tell_is_shown_again() -> None:
    """It was read for who had founded the mint, and its row on her house was not noted."""
    mint, noted = "The mint of Karsa was founded by her.", "She drew masts, quays and a customs house."
    lead = "Oda Brenk (1874 – 1950) was an architect."
    house = "Brenk kept bees. Her house stands in Tarn Street."  # from the sentence on that names its subject
    text = f"{lead} {noted} {mint} {house}"
    for question, again in {
        "When was Oda Brenk born?": lead,
        "Where does the house of Oda Brenk stand?": house,
        "What did Oda Brenk draw?": "",  # that is known: a fact says so
        "Which prize did Oda Brenk win?": "",
    }.items():
        extractor = Reading(values={"founded": (noted, "")})
        reading = reader({"Oda Brenk of Karsa": text}, extractor)
        for need in (  # that it was expected to tell of the mint does not make it their article
            Need("Who founded the mint of Karsa?", see="Oda Brenk of Karsa"),
            Need(question),
            Need(f"{question[:-1]}, then?"),
        ):
            (found,) = reading.read([listed(need, {"Oda Brenk of Karsa": text}, "Oda Brenk of Karsa")])
        assert extractor.texts == [text, *filter(None, [again])]
        assert found.exhausted == ("Oda Brenk of Karsa",)


def test_a_further_window_is_read_only_where_it_tells_of_what_the_need_asks() -> None:
    article = "Velm Tower is high. " * 30 + "In its later years Velm Tower was painted by a guild of Karsa. " * 60
    for question, windows in {
        "Which guild painted Velm Tower?": 2,
        "Who gave Velm Tower its colours?": 2,  # in other words
        "Which bells hang in Velm Tower?": 1,
    }.items():
        extractor = Reading(values={})
        reader({"Velm Tower": article}, extractor).read([listed(Need(question), {"Velm Tower": article}, "Velm Tower")])
        assert len(extractor.titles) == windows
    german = "Der Koch der Werft sah das Meer und den Kahn am Abend. " * 60  # the reader understands English alone
    for title, windows in {"Werft": 1, "Kahn": 2}.items():
        extractor, need = Reading(values={}), Need("Wer bemerkte am Abend das Loch im Rumpf vom Kahn?")
        reader({title: german}, extractor).read([listed(need, {title: german}, title)])
        assert len(extractor.titles) == windows


SONS = "The eldest was Tomas Brenk (1901–1990), who drew quays, and the second Ada Brenk (1904–1991), a painter. " * 2
BREEDING = "Her mares won at Tarn, and a stud book of the time praises what she bred there with so little land. " * 2
SEVERAL = Need("Which sons and daughters did the architect Oda Brenk raise, with their years of birth?")
PLANS = Need("Which pupils of the harbour school did the architect Oda Brenk choose for masts?")


@pytest.mark.parametrize(
    ("need", "rest", "at_rest", "reads"),
    [
        (SEVERAL, SONS, False, 1),  # a birth that is written as a year
        (SEVERAL, BREEDING, False, 0),
        (PLANS, BREEDING, True, 1),  # the best passage of the search for the need
        (PLANS, BREEDING, False, 0),
    ],
)
def test_the_rest_of_a_named_article_is_read_for_what_may_answer(
    need: Need, rest: str, at_rest: bool, reads: int
) -> None:
    lead = "Oda Brenk drew piers for the town. " * 30
    pages = {"Oda Brenk": f"{lead}\n\n{rest}"}
    extractor, place = Reading(values={}), (len(lead) + 2, len(pages["Oda Brenk"])) if at_rest else (0, 200)
    reading = reader(pages, extractor, window_chars=len(lead))
    reading.memory.note(
        [DESIGNER], Window("Oda Brenk", "Oda Brenk", "Oda Brenk.md", ((0, len(lead)),), lead), named=True
    )
    hit = Hit("Oda Brenk", "Oda Brenk", *place, 0.05)
    reading.read([ReadingTask(need, [ShortlistedDocument("Oda Brenk", "Oda Brenk", "Oda Brenk.md", 0.05, (hit,))])])
    assert len(extractor.titles) == reads


def test_of_a_long_table_only_the_rows_are_read_that_a_need_asks_for() -> None:
    """A table is read whole up to three windows: for one row of it, that was a quarter of a question's tokens."""
    rows = [f"| Mast {n} | {n} m | It was drawn by the guild of Karsa for the yard |" for n in range(100, 160)]
    text = "\n".join(["All masts by number.", "", "| Mast | Height | Remark |", "|---|---|---|", *rows])
    for question, kept in {
        "How high is the mast called Mast 131?": [*rows[30:33], rows[-1]],
        "What is the mast before Mast 131?": rows,
        "What number of masts is like Mast 131?": rows,
        "How high is Velm Tower beside Mast 131?": rows,  # it stands in no row: under another name, perhaps
    }.items():
        extractor = Reading(values={"high": (rows[31], "131 m")})
        reading = reader({"Masts of Karsa": text}, extractor, window_chars=2000)
        (found,) = reading.read([listed(Need(question), {"Masts of Karsa": text}, "Masts of Karsa")])
        shown = extractor.texts[0].split("\n")
        assert [line for line in shown if line.startswith("| Mast 1")] == kept
        assert "| Mast | Height | Remark |" in shown
        assert shown[-1].endswith(": 56)") == (kept != rows)
        assert values(found) == (["131 m"] if "high" in question else [])


def test_windows_of_different_needs_share_a_call() -> None:
    pages = {
        "Velm Tower": "Velm Tower was designed by Oda Brenk.",
        "Karsa": "Karsa Hall is 61 m high. It is 61 m high.",
    }
    tasks = [listed(DESIGNER, pages, "Velm Tower"), listed(Need("How high is Karsa Hall?"), pages, "Karsa")]
    extractor = Reading()
    designer, height = reader(pages, extractor, per_call=4).read(tasks)
    assert extractor.calls == [("Velm Tower", "Karsa")]
    assert (values(designer), values(height)) == (["Oda Brenk"], ["61 m"])
