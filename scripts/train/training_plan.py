"""The plan of a training: its seed, its batches and the learning rate at each step."""

from __future__ import annotations

from dataclasses import asdict, dataclass

WARM = (108, 120)  # steps in which the rate rises: in the first cycle, in the later ones
COOL, LATER = 0.35, 0.7  # share of a cycle in which it falls; the peak of the later cycles


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the outcome. The rate goes up on a line, stays level, and comes down on a line to
    nothing at the end of each cycle (warm restarts: Loshchilov and Hutter, 2017), so a finished run can go on with
    one more cycle.
    """

    seed: int
    cycles: tuple[int, ...]
    batch: int
    rate: float
    limit: int

    @property
    def steps(self) -> int:
        return sum(self.cycles)

    def factor(self, step: int) -> float:
        """The share of the learning rate at a step."""
        for number, length in enumerate(self.cycles):
            if step < length:
                peak, warm = (LATER, WARM[1]) if number else (1.0, WARM[0])
                return peak * min(1.0, (step + 1) / warm, (length - step) / (COOL * length))
            step -= length
        return 0.0

    def goes_on_from(self, other: Plan, step: int) -> bool:
        """Whether a run of another plan did until this step just what this one asks for."""
        alike = {**asdict(self), "cycles": ()} == {**asdict(other), "cycles": ()}
        return alike and all(self.factor(done) == other.factor(done) for done in range(step))
