"""The beginning of proofs of content overlays: what their columns speak of, and the bound that needs no model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...instances.content.instance import ContentInstance
from ..engine.proof import Multipliers, ProofFile, Tree
from .model import ContentModel


def begin_case(file: ProofFile, instance: ContentInstance, unit: int, model: ContentModel | None = None) -> Tree:
    """Begin the proof, of columns for users only without a model, with the least access cost as its first bound."""
    audiences, commodities = ([], []) if model is None else (model.audiences, model.commodities)
    case = file.case(
        unit=unit,
        audiences=[audience.channels.tolist() for audience in audiences],
        commodities=[(commodity.publisher, commodity.audience) for commodity in commodities],
    )
    case.bound(0, _AccessCost(instance, unit))
    return case


@dataclass(frozen=True)
class _AccessCost:
    """Each user on its cheapest broker."""

    instance: ContentInstance
    unit: int

    def multipliers(self) -> Multipliers:
        least = self.instance.demands * self.instance.access.min(axis=1)
        units = np.floor(least * self.unit).tolist()
        return Multipliers([(("on", u, 1), int(cost)) for u, cost in enumerate(units) if cost])
