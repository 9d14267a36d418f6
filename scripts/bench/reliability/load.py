"""Many questions at once and one after another: cross-talk, latency, memory."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from scripts.bench.reliability import places
from scripts.bench.reliability.asking import Outcome, asked
from scripts.bench.reliability.bench import Bench, Result
from scripts.bench.reliability.servers import ModelServer

MOST_OVER_IDEAL = 1.10
MOST_GROWTH = 0.05
AT_ONCE = 128  # calls that a server must see at the same time where as many questions are asked


def cross_talk(bench: Bench) -> Result:
    """All at once on one object: each question gets its own answer, and no call waits for a connection."""
    count = bench.small(160, 32)
    with ModelServer(latency=1.0) as server:
        outcomes = asked(bench.library("cross-talk", count), server, range(count), threads=count)
    others = sum(one.wrong for one in outcomes)
    right = sum(one.right for one in outcomes)
    figures = f"{right} of {count} their own, {others} another's or none; {server.peak} calls at once"
    return Result(figures, right == count and server.peak >= min(AT_ONCE, count))


def latency(bench: Bench) -> Result:
    """A question's time without the client's own processor time (and the wait for one that others use), over the time
    in which the server worked for it."""
    count = bench.small(40, 20)
    with ModelServer(latency=0.3) as server:
        outcomes = asked(bench.library("latency", 60), server, range(count), threads=1)
    ratios = []
    for one in outcomes:
        names = {places.bridge(one.n), places.town(one.n)}
        ideal = _busy([(began, ended) for place, began, ended in server.spans if place in names])
        ratios.append(max(1.0, (one.seconds - one.cpu - one.queued) / ideal) if ideal else 99.0)
    p95 = statistics.quantiles(ratios, n=20)[-1]
    wall = statistics.median(one.seconds for one in outcomes)
    cpu = statistics.median(one.cpu for one in outcomes)
    figures = f"p95 {p95:.2f} times the ideal; median {wall:.1f} s, of which {cpu:.2f} s processor"
    return Result(figures, p95 <= MOST_OVER_IDEAL and all(one.right for one in outcomes))


def memory(bench: Bench) -> Result:
    count = bench.small(500, 60)
    with ModelServer() as server:
        outcomes = asked(bench.library("memory", 60), server, [n % 60 for n in range(count)], threads=4, seconds=580)
    early = statistics.median(_held(outcomes, count // 10))
    late = statistics.median(_held(outcomes, count))
    growth = late / early - 1
    right = sum(one.right for one in outcomes)
    figures = f"{early:.0f} MB after {count // 10}, {late:.0f} MB after {count} ({growth:+.1%}); {right} right"
    return Result(figures, growth <= MOST_GROWTH and right == count)


def _held(outcomes: Sequence[Outcome], upto: int) -> list[float]:
    """What the process held around the end of so many questions."""
    return [one.megabytes for one in outcomes[max(0, upto - 5) : upto]]


def _busy(spans: Sequence[tuple[float, float]]) -> float:
    """Seconds in which at least one of these calls was being answered."""
    total = end = 0.0
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(end, began))
        end = max(end, ended)
    return total
