"""From what came out of the cases to the settings of a profile, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iterative_rag.app.qualification.cases import CaseResult
from iterative_rag.app.qualification.observed_model import ObservedCall
from iterative_rag.app.qualification.strategy_runs import StrategyResult

# The first of these that is best is taken: the default before strategies that cost more calls for the same answers.
PREFERENCE = ("iterative", "plan", "full", "self-rag", "crag", "naive")
# The strategy that lets the model drive: only for a model without a defect, and where it costs no more calls.
DRIVING = "agent"
SHORTEST_WINDOW = 2000
# The longest window for a model that breaks the form of its replies or changes quotes: longer replies would break more.
CAREFUL_WINDOW = 4000
# Documents that share a call of a model without a defect: as many as the largest case of several documents has.
DOCUMENTS_TOGETHER = 4
# The share of replies that must have the form asked for.
FORM_KEPT = 0.9
# Seconds: a model with slower calls gets a longer timeout, this many times its slowest call.
SLOW_CALL = 20.0
TIMEOUT_FACTOR = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that came out of the cases of one model. `window` is the longest that was read rightly, 0 for none."""

    cases: tuple[CaseResult, ...]
    window: int
    strategies: tuple[StrategyResult, ...]
    calls: tuple[ObservedCall, ...]

    def share(self, shows: str) -> tuple[int, int]:
        """How many of the cases that show something were right, and how many there are."""
        cases = [case for case in self.cases if case.shows == shows]
        return sum(case.right for case in cases), len(cases)

    @property
    def quotes(self) -> tuple[int, int]:
        """Quotes that stand in their document, and all quotes."""
        return sum(case.verbatim for case in self.cases), sum(case.quotes for case in self.cases)

    @property
    def followed(self) -> int:
        """How often an instruction in a document was followed."""
        return sum(case.followed for case in self.cases)

    @property
    def in_form(self) -> int:
        """How many replies had the form asked for."""
        return sum(call.in_form for call in self.calls)

    @property
    def slowest(self) -> float:
        """Seconds of the slowest call but the first, which waits for the server to load the model."""
        return max((call.seconds for call in self.calls[1:]), default=0.0)

    @property
    def careless(self) -> bool:
        """Whether it breaks the form of its replies or changes quotes."""
        verbatim, quotes = self.quotes
        return self.in_form < FORM_KEPT * len(self.calls) or not 0 < quotes == verbatim

    @property
    def defects(self) -> tuple[str, ...]:
        """What is wrong with the model, in words."""
        right, abstaining = self.share("abstains")
        planned, plans = self.share("plans")
        together, several = self.share("several")
        verbatim, quotes = self.quotes
        defects = {
            "breaks the form of its replies": self.in_form < FORM_KEPT * len(self.calls),
            "changes the words of quotes": not 0 < quotes == verbatim,
            "does not abstain where nothing is stated": right < abstaining,
            "mixes up needs or documents": together < several,
            "plans badly": planned < plans - 1,
            "follows instructions in documents: use it without --web": bool(self.followed),
        }
        return tuple(words for words, holds in defects.items() if holds)


@dataclass(frozen=True, slots=True)
class Decision:
    """A setting of the profile, and why it has this value."""

    name: str
    value: Any
    because: str


def decisions(measured: Measured) -> Iterator[Decision]:
    """The settings of the profile."""
    yield _strategy(measured)
    yield _window(measured)
    together, several = measured.share("several")
    said = f"{together} of {several} calls with several were right"
    if several and not measured.defects:
        yield Decision("documents_per_call", DOCUMENTS_TOGETHER, said)
    elif together < several:
        yield Decision("documents_per_call", 1, said)
    right, count = measured.share("abstains")
    judged, judgements = measured.share("judges")
    if right < count and judged == judgements:
        yield Decision("reflection", "on", "it does not abstain by itself, but judges answers rightly")
    if measured.slowest > SLOW_CALL:
        seconds = max(120.0, float(round(TIMEOUT_FACTOR * measured.slowest)))
        yield Decision("timeout", seconds, f"its slowest call took {measured.slowest:.0f} s")


def _strategy(measured: Measured) -> Decision:
    results = {result.strategy: result for result in measured.strategies}
    best = max(result.right for result in measured.strategies)
    if not best:
        return Decision("strategy", PREFERENCE[0], "no strategy answered a question rightly: take a larger model")
    name = next(name for name in PREFERENCE if name in results and results[name].right == best)
    driving = results.get(DRIVING)
    if driving and not measured.defects and driving.right == best and driving.calls <= results[name].calls:
        name = DRIVING
    result = results[name]
    return Decision("strategy", name, f"{result.right} of {result.questions} questions right in {result.calls} calls")


def _window(measured: Measured) -> Decision:
    longest = measured.window
    if not longest:
        return Decision("window_chars", SHORTEST_WINDOW, "it read the sentence in none of the windows")
    if longest > CAREFUL_WINDOW and measured.careless:
        return Decision("window_chars", CAREFUL_WINDOW, f"it read {longest:,} characters, but not reliably")
    return Decision("window_chars", longest, "the longest window in which it found a sentence")
