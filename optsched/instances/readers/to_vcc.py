"""A trace as a vcc instance: hourly slots, a carbon signal, and the inflexible load that leaves the rest to the queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.readers.own_fields import JOB, Field, Kind
from optsched.instances.readers.signals import HOUR_S, Signals, stamp
from optsched.instances.readers.trace import Trace, dated
from optsched.instances.vcc import Job, VccInstance

FIELDS = {
    **JOB,
    "requested": Field(Kind.SPAN, "how long its user said it would take, for --estimates user"),
    "ncu": Field(Kind.POSITIVE, "NCU, or cores, that it takes; 1 if not mapped"),
}


def to_vcc(
    trace: Trace,
    signals: Signals,
    *,
    hours: float | None = None,
    zone: str | None = None,
    start: str | None = None,
    capacity: float | None = None,
    inflexible: float = 0.0,
    load: float = 0.7,
    penalty: float = 1.0,
) -> VccInstance:
    """The trace's jobs over `hours` (by default until the last one could have ended), in slots of an hour.

    Parameters
    ----------
    zone
        Of the carbon signal; may be left out where there is but one.
    start
        First hour of the signal; by default that of dated jobs, else the first that it has.
    capacity
        NCU; by default such that the jobs ask for `load` of what the inflexible load leaves.
    inflexible
        Load that runs always, NCU.
    penalty
        Of a late, an unfinished and a day's missing NCU-hour, kg.

    Raises
    ------
    OptschedError
        The signals have no carbon, or not for so many hours; or no job fits.
    """
    if "carbon" not in signals.tables:
        raise OptschedError("vcc needs a carbon signal (g/kWh): --signals CSV, or carbon=CSV where its name does not say so")
    expect(1e-6, 1e6, load=load)
    expect(0, 1e9, inflexible=inflexible, penalty=penalty)
    expect(1e-6, 1e9, capacity=capacity)
    if capacity is not None and not capacity > inflexible:
        raise OptschedError(f"capacity: is {capacity:g}, expected a number above inflexible, which is {inflexible:g}")
    zones = [str(column) for column in signals.tables["carbon"].columns]
    chosen = zone if zone is not None or len(zones) > 1 else zones[0]
    if chosen is None:
        raise OptschedError(f"which zone's carbon? --zone takes one of {', '.join(zones)}")
    submitted = np.ceil(trace.submitted_s / HOUR_S - 1e-9)
    duration = np.maximum(1, np.ceil(trace.duration_s / HOUR_S - 1e-9))
    slots = int(np.ceil(hours - 1e-9) if hours is not None else (submitted + duration).max())
    fits = submitted < slots
    if not fits.any():
        raise OptschedError(f"no job is submitted within {slots} slots of an hour")
    kept = trace.where(fits, "{} jobs that are submitted after the horizon are left out.")
    submitted, duration = submitted[fits], duration[fits]
    first, warnings = signals.period({"carbon": [chosen]}, slots, start, trace.begins_s)
    carbon = signals.take("carbon", [chosen], first, slots)[0]
    assumed = [
        "Slots are an hour: durations are rounded up, submissions up to the next slot's beginning.",
        f"Carbon of {', '.join(signals.files)}, zone {chosen}, {slots} hours from {stamp(first)} UTC on; no forecast is given.",
        f"An NCU takes 1 kW; {inflexible:g} NCU are inflexible; an NCU-hour late, unfinished or lacking costs {penalty:g} kg.",
    ]
    if capacity is None:
        work = float((kept.units * np.minimum(duration, slots - submitted)).sum())
        capacity = float(f"{max(inflexible + work / load / slots, inflexible + float(kept.units.max())):.6g}")
        assumed.append(f"The capacity is {capacity:g} NCU, of which the jobs ask for {load:g} beside the inflexible load.")
    wide = kept.units <= capacity
    kept = kept.where(wide, "{} jobs of more than the capacity are left out.")
    kept = replace(kept, skipped=kept.skipped + signals.skipped, files=(*kept.files, *signals.files), warnings=warnings)
    columns = (kept.units.tolist(), submitted[wide].astype(int).tolist(), duration[wide].astype(int).tolist())
    return VccInstance(
        name=f"{kept.name()}-T{slots}",
        meta=kept.meta(assumed) | {"start": dated(first * HOUR_S)},  # of the signal, which tells the hours of the day apart
        capacity_ncu=capacity,
        carbon_kg_per_kwh=tuple((carbon / 1000).round(6).tolist()),
        inflexible_ncu=(inflexible,) * slots,
        delay_penalty_per_ncu_h=penalty,
        daily_penalty_per_ncu_h=penalty,
        unfinished_penalty_per_ncu_h=penalty,
        jobs=tuple(
            Job(id=i, ncu=float(f"{n:.9g}"), submitted=s, duration=d, estimate=asked)
            for i, asked, n, s, d in zip(kept.ids, kept.estimates, *columns, strict=True)
        ),
    )
