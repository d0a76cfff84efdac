"""A hosted tool search by name in; its live or replayed answers to an evaluation's queries out."""

from __future__ import annotations

from semantic_toolsearch.evaluation.hosted.estimate import Estimate, EstimateRow, estimate
from semantic_toolsearch.evaluation.hosted.live import HostedArm, has_key, live_arm
from semantic_toolsearch.evaluation.hosted.prices import PRICES, Price
from semantic_toolsearch.evaluation.hosted.requests import HOSTED

__all__ = [
    "HOSTED",
    "PRICES",
    "Estimate",
    "EstimateRow",
    "HostedArm",
    "Price",
    "estimate",
    "has_key",
    "live_arm",
]
