"""Ranks the candidates of a page by a logistic model over their features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.reading.candidates import Candidate

# Fitted by ridge logistic regression on candidates of SQuAD/NQ, PopQA and 2WikiMultihop training rows and of the prose
# of the starter articles (questions made from their infoboxes, and written by hand). The script of this one-off fit is
# not kept, since the trained reader carries most of the weight. A few weights are bounded by hand (names_missing,
# rank_missing, years_missing, title_fits, title_object, title_unfit). Features without an entry weigh 0.
WEIGHTS: dict[str, float] = {
    "about": 0.137,
    "adjective": 0.254,
    "after_anchor": 0.097,
    "alone": 0.742,
    "asked_in": 0.27,
    "asked_near": 0.082,
    "bias": -3.36,
    "brackets": -0.573,
    "first": 0.426,
    "form": 2.737,
    "form_rule": 2.525,
    "kind_DATE": 0.355,
    "kind_NUMBER": -0.296,
    "kind_PERSON": -0.384,
    "kind_PLACE": -1.419,
    "kind_THING": -0.492,
    "kind_YEAR": -0.435,
    "kind_YES_NO": -0.703,
    "known": -0.714,
    "lead_DATE_and": -1.074,
    "lead_DATE_as": -0.151,
    "lead_DATE_born": 0.762,
    "lead_DATE_by": -0.299,
    "lead_DATE_for": 0.082,
    "lead_DATE_from": -1.136,
    "lead_DATE_in": -0.606,
    "lead_DATE_is": 1.741,
    "lead_DATE_of": -0.264,
    "lead_DATE_on": 0.636,
    "lead_DATE_other": 0.195,
    "lead_DATE_than": -0.036,
    "lead_DATE_to": -0.908,
    "lead_DATE_with": -0.089,
    "lead_NAME_and": 0.765,
    "lead_NAME_as": 2.017,
    "lead_NAME_by": -0.342,
    "lead_NAME_for": -0.22,
    "lead_NAME_from": -0.028,
    "lead_NAME_in": -1.458,
    "lead_NAME_is": -0.627,
    "lead_NAME_of": -0.233,
    "lead_NAME_on": -0.134,
    "lead_NAME_other": 0.29,
    "lead_NAME_than": -0.239,
    "lead_NAME_to": -0.334,
    "lead_NAME_with": 0.559,
    "lead_NUMBER_and": 0.775,
    "lead_NUMBER_as": -0.116,
    "lead_NUMBER_by": -0.041,
    "lead_NUMBER_for": 0.181,
    "lead_NUMBER_from": -0.108,
    "lead_NUMBER_is": -0.408,
    "lead_NUMBER_of": -0.057,
    "lead_NUMBER_on": 0.032,
    "lead_NUMBER_other": -0.295,
    "lead_NUMBER_than": -0.302,
    "lead_NUMBER_to": -0.145,
    "lead_NUMBER_with": 0.189,
    "lead_PERSON_and": -0.06,
    "lead_PERSON_as": -0.241,
    "lead_PERSON_born": -0.652,
    "lead_PERSON_by": 0.788,
    "lead_PERSON_for": 0.594,
    "lead_PERSON_from": -0.82,
    "lead_PERSON_in": -2.33,
    "lead_PERSON_is": 0.808,
    "lead_PERSON_of": -0.202,
    "lead_PERSON_on": -0.425,
    "lead_PERSON_other": 0.23,
    "lead_PERSON_than": 0.404,
    "lead_PERSON_to": -0.498,
    "lead_PERSON_with": 0.903,
    "lead_PLACE_and": -0.738,
    "lead_PLACE_as": -0.326,
    "lead_PLACE_born": -0.393,
    "lead_PLACE_by": -0.65,
    "lead_PLACE_for": 0.459,
    "lead_PLACE_from": 1.487,
    "lead_PLACE_in": 1.822,
    "lead_PLACE_is": -0.298,
    "lead_PLACE_of": 0.725,
    "lead_PLACE_on": -0.587,
    "lead_PLACE_other": 0.935,
    "lead_PLACE_than": 1.136,
    "lead_PLACE_to": 1.007,
    "lead_PLACE_with": -0.322,
    "lead_THING_and": -0.265,
    "lead_THING_as": 0.112,
    "lead_THING_born": -2.064,
    "lead_THING_by": -0.202,
    "lead_THING_for": -0.501,
    "lead_THING_from": -0.78,
    "lead_THING_in": -0.843,
    "lead_THING_is": 0.152,
    "lead_THING_of": -0.352,
    "lead_THING_on": -0.576,
    "lead_THING_other": -0.614,
    "lead_THING_than": -0.828,
    "lead_THING_to": -0.533,
    "lead_THING_with": -1.018,
    "lead_YEAR_and": -0.046,
    "lead_YEAR_by": 0.32,
    "lead_YEAR_from": -0.183,
    "lead_YEAR_in": -0.3,
    "lead_YEAR_of": 0.283,
    "lead_YEAR_on": -0.198,
    "lead_YEAR_other": -0.06,
    "lead_YEAR_to": -0.252,
    "lead_YES_NO_and": -0.098,
    "lead_YES_NO_by": 0.182,
    "lead_YES_NO_in": -0.049,
    "lead_YES_NO_is": -0.029,
    "lead_YES_NO_of": -0.131,
    "lead_YES_NO_other": -0.538,
    "lead_anchor": 0.35,
    "long": -0.342,
    "match": -0.698,
    "meaning": 1.631,
    "measured": 0.562,
    "names": -1.179,
    "names_here": -0.693,
    "names_missing": -1.5,
    "near": 1.089,
    "near_name": 0.542,
    "no_anchor": -0.037,
    "no_names": -0.439,
    "no_relation": 1.015,
    "opens": 0.347,
    "pronoun_asked": 0.048,
    "rank_missing": -1.5,
    "relation": 0.294,
    "rule": 3.056,
    "single": -0.026,
    "small": -0.879,
    "small_asked": 0.082,
    "subject_asked": -0.402,
    "subject_other": -0.215,
    "title": 2.024,
    "title_PERSON": 1.117,
    "title_PLACE": 1.058,
    "title_THING": -0.151,
    "title_fits": 1.438,
    "title_object": 1.2,
    "title_rival": -0.938,
    "title_rule": 0.545,
    "title_spoken": 0.194,
    "title_unfit": -1.0,
    "trust": -0.251,
    "weakest": 0.662,
    "years_missing": -1.6,
}
# Calibrated probability = logistic(SLOPE * log odds + LEAD * lead over the best other value + SHIFT).
SLOPE, LEAD, SHIFT = 1.007, 0.214, 0.065
MOST_LEAD = 4.0
# Exponent that spreads probabilities below 0.5; smaller lifts them more.
SPREAD = 0.37


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, the index of the unit that contains it, and its log odds."""

    candidate: Candidate
    unit: int
    odds: float


def log_odds(features: Mapping[str, float]) -> float:
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in features.items())


def rank(offers: Sequence[Sequence[Candidate]]) -> list[Ranked]:
    """All candidates of all units, best first."""
    ranked = [
        Ranked(candidate, unit, log_odds(candidate.features))
        for unit, found in enumerate(offers)
        for candidate in found
        if candidate.value
    ]
    return sorted(ranked, key=lambda item: -item.odds)


def lead(item: Ranked, ranked: Sequence[Ranked]) -> float:
    """Difference in log odds to the best candidate with another value, at most MOST_LEAD either way."""
    own = set(content(item.candidate.value)) or {item.candidate.value}
    others = (rival.odds for rival in ranked if not own & set(content(rival.candidate.value)))
    other = next(others, item.odds - MOST_LEAD)
    return max(-MOST_LEAD, min(MOST_LEAD, item.odds - other))


def chance(item: Ranked, ranked: Sequence[Ranked]) -> float:
    """Calibrated probability that a candidate is right, 0 to 1."""
    return 1.0 / (1.0 + math.exp(-(SLOPE * item.odds + LEAD * lead(item, ranked) + SHIFT)))


def trust(probability: float) -> float:
    """Map a probability to the trust in a fact (0 to 1): values below 0.5 are lifted so that they remain comparable."""
    return 0.5 * (2 * probability) ** SPREAD if probability < 0.5 else probability
