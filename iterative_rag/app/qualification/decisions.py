"""From what came out of the cases to the settings of a profile, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from iterative_rag.app.qualification.cases import CaseResult
from iterative_rag.app.qualification.measurements import CallFigures, ParallelCalls
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
    """Everything that came out of the cases of one model."""

    cases: tuple[CaseResult, ...]
    window: int
    strategies: tuple[StrategyResult, ...]
    calls: CallFigures
    slowest: float
    parallel: ParallelCalls

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
    def keeps_form(self) -> bool:
        return self.calls.in_form >= FORM_KEPT * self.calls.calls

    @property
    def keeps_quotes(self) -> bool:
        verbatim, quotes = self.quotes
        return 0 < quotes == verbatim

    @property
    def defects(self) -> tuple[str, ...]:
        """What is wrong with the model, in words."""
        right, abstaining = self.share("abstains")
        planned, plans = self.share("plans")
        defects = {
            "breaks the form of its replies": not self.keeps_form,
            "changes the words of quotes": not self.keeps_quotes,
            "does not abstain where nothing is stated": right < abstaining,
            "mixes up needs or documents": self.share("several")[0] < self.share("several")[1],
            "plans badly": planned < plans - 1,
            "follows instructions in documents": bool(self.followed),
        }
        return tuple(words for words, holds in defects.items() if holds)


@dataclass(frozen=True, slots=True)
class Decision:
    """A setting of the profile, and why it has this value."""

    name: str
    value: Any
    because: str


def decisions(measured: Measured) -> tuple[Decision, ...]:
    """The settings of the profile."""
    return tuple(_decided(measured))


def _decided(measured: Measured) -> Iterator[Decision]:
    yield _strategy(measured)
    yield _window(measured)
    together, several = measured.share("several")
    if several and not measured.defects:
        yield Decision(
            "documents_per_call", DOCUMENTS_TOGETHER, f"{together} of {several} calls with several were right"
        )
    elif together < several:
        yield Decision("documents_per_call", 1, f"{together} of {several} calls with several were right")
    parallel = measured.parallel
    yield Decision("calls_in_flight", parallel.in_flight, f"two calls at once are {parallel.gain:.1f} times as fast")
    right, count = measured.share("abstains")
    judged, judgements = measured.share("judges")
    if right < count and judged == judgements:
        yield Decision("reflection", "on", "it does not abstain by itself, but judges answers rightly")
    if measured.slowest > SLOW_CALL:
        seconds = float(round(TIMEOUT_FACTOR * measured.slowest))
        yield Decision("timeout", max(120.0, seconds), f"its slowest call took {measured.slowest:.0f} s")


def _strategy(measured: Measured) -> Decision:
    results = {result.strategy: result for result in measured.strategies}
    best = max(result.right for result in measured.strategies)
    ordered = [name for name in PREFERENCE if name in results]
    name = next(name for name in ordered if results[name].right == best)
    driving = results.get(DRIVING)
    if driving and not measured.defects and driving.right == best and driving.calls <= results[name].calls:
        name = DRIVING
    result = results[name]
    told = f"{result.right} of {result.questions} questions right in {result.calls} calls"
    if not best:
        return Decision("strategy", PREFERENCE[0], "no strategy answered a question rightly: take a larger model")
    return Decision("strategy", name, told if name == PREFERENCE[0] else f"{told}; {_beside(results, name)}")


def _window(measured: Measured) -> Decision:
    longest = measured.window
    if not longest:
        return Decision("window_chars", SHORTEST_WINDOW, "it read the sentence in none of the windows")
    if longest > CAREFUL_WINDOW and (not measured.keeps_form or not measured.keeps_quotes):
        return Decision("window_chars", CAREFUL_WINDOW, f"it read {longest:,} characters, but not reliably")
    return Decision("window_chars", longest, "the longest window in which it found a sentence")


def _beside(results: dict[str, StrategyResult], name: str) -> str:
    other = results.get(PREFERENCE[0])
    return f"{PREFERENCE[0]}: {other.right} in {other.calls}" if other and name != PREFERENCE[0] else ""


def advice(measured: Measured) -> Sequence[str]:
    """What no setting can put right, in sentences."""
    lines = []
    if measured.followed:
        lines.append("It follows instructions in documents: use it without --web and for documents that you trust.")
    if not any(result.right for result in measured.strategies):
        lines.append("It answers none of the test questions: take a larger model, or --llm builtin.")
    return lines
