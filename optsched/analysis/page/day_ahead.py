"""day_ahead over time: each cluster's load before and after under its curve, and carbon."""

from __future__ import annotations

import numpy as np

from optsched.analysis.page.timeline import MOST_PLACES, Curve, Panel, Timeline, slot_edges
from optsched.analysis.time_axis import TimeAxis
from optsched.instances.day_ahead import DayAheadInstance
from optsched.schedules.day_ahead import DayAheadSchedule, capacity_curve, flexible


def timeline(instance: DayAheadInstance, schedule: DayAheadSchedule) -> Timeline:
    """A panel a cluster, those with the most to shift where they are many, and one with the carbon of all these.

    Parameters
    ----------
    instance
        What was given.
    schedule
        What was decided: a curve for every cluster.
    """
    count, length = len(instance.clusters), instance.hours * 3600.0
    chosen = sorted(np.argsort(-instance.demand, kind="stable")[:MOST_PLACES].tolist())
    edges = slot_edges(instance.hours, 3600.0)
    shifted, curve = flexible(instance, schedule), capacity_curve(instance, schedule)
    before = instance.inflexible + instance.demand[:, None] / instance.hours
    panels = [
        Panel(
            f"{instance.clusters[c].id}: load under its virtual capacity curve",
            "NCU",
            (
                Curve("flexible load", "load", edges, shifted[c], base=instance.inflexible[c], fill=True),
                Curve("inflexible load", "fixed", edges, instance.inflexible[c], fill=True),
                Curve("load before", "before", edges, before[c]),
                Curve("virtual capacity curve (reservations)", "cap", edges, curve[c]),
            ),
            px=150,
        )
        for c in chosen
    ]
    carbon = (Curve(instance.clusters[c].id, "carbon", edges, instance.carbon[c], series=k) for k, c in enumerate(chosen))
    panels.append(Panel("Carbon intensity", "kg CO2/kWh", tuple(carbon), px=150))
    notes = (f"Panels are of the {MOST_PLACES} of {count} clusters with the most to shift.",) if count > MOST_PLACES else ()
    decided = f"{count} cluster{'s' if count > 1 else ''} planned"
    return Timeline(TimeAxis.of(instance, length), length, decided, None, tuple(panels), notes)
