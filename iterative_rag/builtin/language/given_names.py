"""Common given names and nouns that tell whether "he" or "she" may speak of a person."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import word_set

FEMALE, MALE = "female", "male"

_FEMALE_NAMES = word_set(
    "abigail ada agatha agnes alexandra alice amelia amy ana andrea angela anna anne annie audrey barbara beatrice "
    "betty caroline catherine charlotte christina clara claire cleopatra diana dorothy edith edna eleanor elena "
    "elisabeth eliza elizabeth ella ellen emilia emily emma erica esther eva eve florence frances franziska gabriela "
    "georgia gertrude grace greta hannah harriet heidi helen helena hilda ida indira ingrid irène irene isabel "
    "isabella jacqueline jane janet jean jennifer jessica joan johanna josephine judith judy julia julie karen kate "
    "katharine katherine kathleen laura lena leonora lillian linda lisa lise louisa louise lucia lucretia lucy "
    "madeleine margaret maria marie marilyn martha mary mathilde matilda meryl michelle mildred miriam monica nancy "
    "natalie nicole olga olivia patricia paula pauline rachel rebecca rosa rose rosalind ruth sabine sally sandra "
    "sarah serena simone sofia sophia sophie steffi susan sylvia teresa theresa ursula valentina vera victoria "
    "virginia vivien wilhelmina zelda"
)
_MALE_NAMES = word_set(
    "aage aaron abraham adam adolf alan albert alec alexander alfred andre andrew anthony antonín antonio arthur "
    "august auguste barack ben benjamin bernard bill bob boris brian bruce carl charles chester christian christoph "
    "christopher cillian claude damien daniel david dennis diego dmitri donald douglas dwight edgar edmund eduard "
    "edward edwin enrico eric erich ernest ernst erwin eugene felix ferdinand francis francisco frank franklin franz "
    "fred frederick friedrich gabriel george gerald giacomo giovanni giuseppe gordon grover guglielmo gustav gustave "
    "hans harald harold harry heinrich henri henry herbert hermann hugo ian isaac ivan jack jacob jacques jakob james "
    "jan jason jeff jerry jesse jim joe johann johannes john jonathan josef joseph josé juan jules julius karl keith "
    "kenneth kevin kurt larry lawrence leo leon leonard leonardo leonhard lewis linus louis ludwig luigi lyndon marcel "
    "marco mark martin matthew maurice max maximilian michael michelangelo miguel mikhail miloš nelson nicholas niels "
    "nikola nikolai noah oliver orson oscar oskar otto paavo pablo patrick paul peter philip philipp pierre ralph ray "
    "rené richard robert robin rodney roger roland ronald rudolf rudolph salvador samuel sebastian sergei sigmund "
    "simon stanley stephen steve steven stuart theodore thomas tim tom tony vaclav victor vincent vladimir walter "
    "werner wilhelm william winston wolfgang zachary"
)
_FEMALE_NOUNS = word_set(
    "mother wife daughter sister aunt niece grandmother granddaughter widow stepmother half-sister mother-in-law "
    "sister-in-law daughter-in-law queen empress princess lady actress woman girl heroine"
)
_MALE_NOUNS = word_set(
    "father husband son brother uncle nephew grandfather grandson widower stepfather half-brother father-in-law "
    "brother-in-law son-in-law king emperor prince pope man boy frontman"
)


def gender_of_name(name: str) -> str:
    """FEMALE or MALE by the given name that a name begins with, "" where it tells neither."""
    first = name.split()[0].casefold() if name.split() else ""
    return FEMALE if first in _FEMALE_NAMES else MALE if first in _MALE_NAMES else ""


def gender_of_noun(noun: str) -> str:
    """FEMALE or MALE for "mother", "king" and their like, else ""."""
    low = noun.casefold()
    return FEMALE if low in _FEMALE_NOUNS else MALE if low in _MALE_NOUNS else ""
