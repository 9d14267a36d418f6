"""The thresholds that decide how an ending of the built-in backend is worded; a script measures and writes them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class MeasuredThresholds:
    """`well_supported` and `likely` are the least confidence of each word. `near_names` and `near_score` are the
    weights of the names held and of the best score, `near_least` what they have to come to."""

    well_supported: float
    likely: float
    near_names: float
    near_score: float
    near_least: float

    def is_near(self, names_held: float, best_score: float) -> bool:
        return self.near_names * names_held + self.near_score * best_score >= self.near_least


@lru_cache(maxsize=1)
def thresholds() -> MeasuredThresholds:
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))
    near = {f"near_{name}": value for name, value in read.pop("near").items()}
    return MeasuredThresholds(**read, **near)
