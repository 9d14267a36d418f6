"""Reads from the first sentence of a page what its subject is: "Norwegian novelist and poet"."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import content, fold, word_set
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.builtin.reading.subject_names import SURE, namesake_share
from iterative_rag.text.other_names import nations_in
from iterative_rag.text.patterns import lazy_pattern

_ASKS = lazy_pattern(r"^What (?:is|was) (?:the (?P<asked>occupation|nationality) of )?(?P<name>.{2,120}?)\?*$")
_COPULA = lazy_pattern(r"(?<!\w)(?:is|was|are|were) an? ", re.I)
_CLAUSE = lazy_pattern(
    r"\s*[.;(\[]|,? (?:who|whom|whose|which|that|known|best|from|in|at|of|for|born|on|to|by|during|based|located|where"
    r"|most|established|formed|founded|recorded|released|directed|written|produced|featuring|starring|created|published"
    r"|developed|set)\b|, (?:and|with|as)\b(?= (?:the|is|was|has|had|a)\b)"
)
_NATION = lazy_pattern(r"[A-ZÀ-Þ][\w-]+(?: [A-Z][\w-]+)?")
_NO_TRADE = word_set("former retired professional noted famous renowned leading late current american-born one")


def lead_description(query: Query, page: UnitPage) -> Finding | None:
    """The answer to "What is X?" ("American writer"), "What is the occupation of X?" ("writer, poet") and "What is the
    nationality of X?" on X's page; None for other needs and pages."""
    match = _ASKS.match(query.text)
    lead = next((unit.text for unit in page.units if not unit.cells), "")
    title = page.bare_title
    if match is None or not _is_about(match["name"].removeprefix("the "), title, lead):
        return None
    copula = _COPULA.search(lead, max(0, lead.find(title) + len(title))) or _COPULA.search(lead)
    if copula is None:
        return None
    told = lead[copula.end() :]
    end = _CLAUSE.search(told)
    told = told[: end.start()].strip(" ,") if end else told.strip(" .")
    if match["asked"] == "nationality":
        told = next((one for one in _NATION.findall(told) if nations_in(one)), "")
    elif match["asked"] == "occupation":
        told = " ".join(word for word in told.split() if not nations_in(word) and fold(word) not in _NO_TRADE)
    return Finding(told, lead, SURE * namesake_share(query, page), lead) if told else None


def _is_about(name: str, title: str, lead: str) -> bool:
    """Whether a page has this title, but for a middle name, or begins with the name; "Orm Tower" is not "Orm"."""
    said, own = content(name), content(title)
    if said and said == own[: len(said)]:
        return said == own
    ends = len(said) > 1 and len(own) > 1 and (said[0], said[-1]) == (own[0], own[-1])
    return (ends and (set(said) < set(own) or set(own) < set(said))) or fold(lead).startswith(f"{fold(name)} ")
