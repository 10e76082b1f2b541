"""A learned forecast of carbon: what the hours to come will be, from those seen and from what is believed of the next ones.

Linear in features relative to the mean of the last and the next day, so that what is learned of some months says something of
others: the time of day, the last hours, what is believed (an issued forecast's first hours, a fitted series beyond), and the
same hours of the days before. Forecasts that are issued err by as much as half of what they foretell; what a regression takes
from them is what was worth believing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.rl.trained import Trained
from optsched.rl.vcc.observation import Past

KIND = "vcc-carbon"
LEADS = 37  # slots that are foretold, the present one first
DAY, DAYS = 24, 8  # slots of a day; days before whose hours are looked at
HARMONICS = 3
RECENT = 6  # slots before, each a feature
SOON = 96  # slots seen that are told apart
FEATURES = 1 + 2 * HARMONICS + RECENT + 2 + (DAY + 1) + DAY + 1


def features(seen: Floats, believed: Floats, slot: int) -> tuple[float, Floats]:
    """The unit that all is relative to, and the features, shape (FEATURES,).

    Parameters
    ----------
    seen
        Carbon of the slots so far, each as it was the present, and the present one last.
    believed
        From the present slot on.
    slot
        Of the day.
    """
    last = len(seen) - 1
    ahead = believed[np.minimum(np.arange(DAY + 1), len(believed) - 1)]
    unit = max(1e-9, float(np.concatenate([seen[-DAY:], believed[:DAY]]).mean()))
    back = seen[np.maximum(0, last - np.arange(DAY)[::-1])]
    same = last + np.arange(1, DAY + 1)[:, None] - DAY * np.arange(1, DAYS + 1)  # the same hours, days before
    known = (same >= 0) & (same <= last)
    count = known.sum(axis=1)
    usual = np.where(known, seen[np.clip(same, 0, last)], 0.0).sum(axis=1) / np.maximum(1, count)
    usual = np.where(count > 0, usual, unit)
    angles = 2 * np.pi * slot / DAY * np.arange(1, HARMONICS + 1)
    relative = [back[-RECENT:], [back[-DAY // 2 :].mean(), back.mean()], ahead, usual]
    told = [
        [1.0],
        np.sin(angles),
        np.cos(angles),
        *(np.asarray(part) / unit - 1 for part in relative),
        [min(last, SOON) / SOON],
    ]
    return unit, np.concatenate(told)


@dataclass(frozen=True)
class Regression:
    """What is foretold of the hours to come, relative to the unit of `features`.

    Attributes
    ----------
    scale
        Of the features, shape (FEATURES,).
    weights
        Of the features divided by it, shape (FEATURES, LEADS).
    """

    scale: Floats
    weights: Floats

    def foretold(self, seen: Floats, believed: Floats, slot: int) -> Floats:
        """As believed, with what is foretold in place of the first hours; arguments as of `features`."""
        unit, told = features(seen, believed, slot)
        found = np.maximum(0.0, unit * (1 + (told / self.scale) @ self.weights))[: len(believed)]
        return np.concatenate([found, believed[len(found) :]])

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """The snapshot with what is foretold; `past` has seen it."""
        carbon = self.foretold(np.array(past.carbon), snapshot.carbon, snapshot.now % DAY)
        return snapshot.model_copy(update={"carbon_kg_per_kwh": tuple(carbon.tolist())})

    def fault(self) -> str | None:
        """What keeps it from foretelling."""
        for name, shape in (("scale", (FEATURES,)), ("weights", (FEATURES, LEADS))):
            if getattr(self, name).shape != shape:
                return f"its {name} have not the shape {shape}"
        return None if (self.scale > 0).all() else "a scale is not positive"


@dataclass(frozen=True)
class CarbonForecast:
    """The regression as an agent of its own.

    Attributes
    ----------
    trained
        ``scale``, shape (FEATURES,), and ``weights``, shape (FEATURES, LEADS); its card has the slots that it knows.
    """

    trained: Trained

    @cached_property
    def regression(self) -> Regression:
        """Its arrays."""
        return Regression(self.trained.arrays["scale"].astype(float), self.trained.arrays["weights"].astype(float))

    def knows(self, snapshot: VccInstance) -> bool:
        """Whether slots are those that it has learned from."""
        return snapshot.slot_s == self.trained.card.settings["slot_s"]

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """The snapshot, with what is foretold in place of the first hours that were believed; `past` has seen it."""
        return self.regression.believed(snapshot, past) if self.knows(snapshot) else snapshot

    def fault(self) -> str | None:
        """What keeps it from acting."""
        if lacking := [name for name in ("scale", "weights") if name not in self.trained.arrays]:
            return f"it lacks {', '.join(lacking)}"
        if not isinstance(self.trained.card.settings.get("slot_s"), int | float):
            return "it does not say which slots it knows"
        return self.regression.fault()
