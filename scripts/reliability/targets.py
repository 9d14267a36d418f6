"""The list of targets: what each is called, its aim, and what runs it."""

from __future__ import annotations

from scripts.reliability import load
from scripts.reliability.bench import Target

TARGETS = (
    Target("cross-talk", "every question its own answer", load.cross_talk),
    Target("latency", "p95 at most 1.10 times the ideal, processor time taken out", load.latency),
    Target("memory", "at most 5 % growth, all right", load.memory),
)
SOAK = TARGETS[0]
