"""One hop: the documents of its needs are listed and read, and its record is closed in the same call.

Both functions return the state after the hop. It is also passed on before an error ends the hop, so that what was
found by then is kept.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.run_state import ATTEMPTS, Progress, RunState
from iterative_rag.errors import IterativeRAGError, LLMError
from iterative_rag.retrieval.need_reading import NeedReading
from iterative_rag.types import Fact, Need, Usage


def search(
    state: RunState,
    finder: DataFinder,
    budget: RunBudget,
    needs: Sequence[Need],
    *,
    wider: bool = False,
    brief: bool = False,
    online: bool = False,
    since: Usage | None = None,
) -> Generator[Progress, None, tuple[RunState, tuple[Fact, ...]]]:
    """Returns the state after the hop, and the facts that are new in it.

    `wider` and `brief` as in DataFinder.find. `online` searches the web alone. `since` is what the run had used when
    the hop began, if that was before its search.
    Raises CapReached where a limit ended the reading, and the fault where a need could read nothing and no further call
    would succeed. Other windows that could not be read are noted in the state.
    """
    since = since or budget.usage()
    question = state.inquiry.original
    left = budget.seconds_left
    if online:
        found = yield from finder.find_online(state.next_hop, needs, question, seconds=left)
    else:
        found = yield from finder.find(state.next_hop, needs, question, wider=wider, brief=brief, seconds=left)
    new = _new_facts(found.readings, state)
    titles = [entry.title for entries in found.shortlists for entry in entries]
    state = state.with_hop(needs, titles, new, budget.used_since(since)).with_readings(found.readings)
    state = state.with_lost_lists(found.lost)
    yield state
    for reading in found.readings:
        if reading.cap:
            raise budget.reached(reading.cap)
        if reading.error and _is_fatal(reading.error):
            raise reading.error
    return state, new


def read_again(state: RunState, finder: DataFinder, budget: RunBudget) -> Generator[Progress, None, RunState]:
    """The second attempt at windows that could not be read, if time is left: a hop of its own if it finds new facts."""
    windows = [one for one in state.unread if one.attempts < ATTEMPTS]
    left = budget.seconds_left()
    if not windows or left <= 0:
        return state
    since = budget.usage()
    readings = yield from finder.read_again(state.next_hop, windows, state.inquiry.original, left)
    state = state.with_readings(readings, again=windows)
    new = _new_facts(readings, state)
    if not new:
        return state
    needs, titles = [reading.need for reading in readings], [one.window.title for one in windows]
    return state.with_hop(needs, titles, new, budget.used_since(since), again=True)


def _new_facts(readings: Sequence[NeedReading], state: RunState) -> tuple[Fact, ...]:
    """What was found and is not known yet for the same need; the same quote may serve two needs."""
    known = {_place(fact) for fact in state.inquiry.facts}
    found: dict[tuple[str, int, int, str], Fact] = {}
    for reading in readings:
        for fact in reading.facts:
            if not any(struck.covers(fact) for struck in state.struck):
                found.setdefault(_place(fact), fact)
    return tuple(fact for place, fact in found.items() if place not in known)


def _place(fact: Fact) -> tuple[str, int, int, str]:
    return fact.document_id, fact.start, fact.end, fact.need.key


def _is_fatal(error: IterativeRAGError) -> bool:
    """Whether further calls would fail as well."""
    return not isinstance(error, LLMError) or error.fatal
