"""The plan of a training: its seed, its batches and the learning rate at each step."""

from __future__ import annotations

from dataclasses import dataclass

WARM, COOL = 108, 0.35  # steps in which the rate rises; share of the steps in which it falls


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the outcome. The rate goes up on a line, stays level, and comes down on a line to
    nothing at the end."""

    seed: int
    steps: int
    batch: int
    rate: float
    limit: int

    def factor(self, step: int) -> float:
        """The share of the learning rate at a step."""
        return min(1.0, (step + 1) / WARM, (self.steps - step) / (COOL * self.steps))
