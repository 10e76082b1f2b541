"""What an agent sees of a data centre, relative to its size, to its carbon and to its prices.

Nothing here has a unit: load is a share of the capacity, carbon of its own mean over the last and the next day, work of what a
day of the data centre could do. So what is learned at one load and in one month says something about others. The numbers that
matter most are the gains: what starting all that waits some slots later would save, as far as is believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Data, Floats
from optsched.instances.vcc import VccInstance

LEADS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 24)  # slots ahead
BACK = (1, 2, 3, 6)  # slots ago
LONGEST = 48  # slots of a job that are told apart
CLASSES = (1, 2, 4, 8, 24, LONGEST)  # longest duration of each
PATH = LONGEST + LEADS[-1] + 1
SOON = 72  # slots before the end that are told apart
OUTLOOK = 1 + 2 * len(LEADS) + len(BACK) + 2 + 4 + 2
SIZE = OUTLOOK + len(LEADS) + 2 + len(CLASSES) + 10
MOST = 4.0  # of a share: beyond it is just much
REMEMBERED_DAYS = 8
MOST_ASKED, WAITED = SIZE - 2, SIZE - 1  # where the worst day's share of the capacity is, and the head's of the delay limit


class Past(Data):
    """What an agent remembers: the carbon of each slot when it was the present, and the work submitted in it, NCU-hours."""

    carbon: tuple[float, ...] = ()
    asked: tuple[float, ...] = ()

    def seen(self, snapshot: VccInstance) -> Past:
        """And the present slot; what is older than some days is forgotten."""
        fresh = sum(job.ncu * job.duration for job in snapshot.jobs if not job.waited) * snapshot.slot_h
        keep = REMEMBERED_DAYS * snapshot.day_slots - 1
        carbon = (*self.carbon[-keep:], snapshot.carbon_kg_per_kwh[0])
        return Past(carbon=carbon, asked=(*self.asked[-keep:], fresh))


@dataclass(frozen=True)
class Outlook:
    """What is believed of carbon in a slot, whatever the queue.

    Attributes
    ----------
    mean
        Of the last and the next day, the unit of the others.
    path
        Carbon added up from now on, shape (PATH,); beyond the horizon an hour is as dear as one unfinished.
    numbers
        Shape (OUTLOOK,).
    """

    mean: float
    path: Floats
    numbers: Floats


def outlook(seen: Floats, believed: Floats, slot: int, day: int, beyond: float) -> Outlook:
    """Of one slot.

    Parameters
    ----------
    seen
        Carbon of the slots so far, each as it was the present, and the present one last.
    believed
        From the present slot to the end.
    slot, day
        Of the day; slots a day.
    beyond
        What an unfinished NCU-hour costs, in carbon.
    """
    leads, last = np.array(LEADS), len(seen) - 1
    ahead = believed[np.minimum(leads, len(believed) - 1)]
    back = last + leads - day
    before = np.where(back >= 0, seen[np.clip(back, 0, last)], ahead)
    around = np.concatenate([seen[-day:], believed[:day]])
    mean = max(float(around.mean()), 1e-9)
    path = np.full(PATH - 1, beyond / mean)
    path[: min(PATH - 1, len(believed))] = believed[: PATH - 1] / mean
    ago = seen[np.maximum(0, last - np.array(BACK))]
    angle, left = 2 * np.pi * slot / day, len(believed)
    numbers = [
        believed[0] / mean - 1,
        *(ahead / mean - 1),
        *(before / mean - 1),
        *(ago / mean - 1),
        around.std() / mean,
        min(MOST, mean / max(beyond, 1e-9)),
        *(np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)),
        min(left, SOON) / SOON,
        np.exp(-left / 12),
    ]
    return Outlook(mean, np.concatenate([[0.0], np.cumsum(path)]), np.clip(numbers, -MOST, MOST))


@dataclass(frozen=True)
class Queues:
    """Queues of B data centres, shapes (B,) but for the first.

    Attributes
    ----------
    waiting
        NCU by duration from 1 to LONGEST slots, longer ones among the last, shape (B, LONGEST).
    load
        Flexible load that runs on, NCU. room : what the inflexible load leaves. capacity : of all.
    asked, allotted
        NCU-hours that today has submitted, and that its caps add up to so far; `fraction` of the former is demanded.
    yesterday, most
        NCU-hours submitted in the last day's slots, and in the worst such day among the last ones.
    left_h
        Hours of today, the present slot's too.
    waited
        Share of the delay limit for which the head has waited.
    """

    waiting: Floats
    load: Floats
    room: Floats
    capacity: Floats
    asked: Floats
    allotted: Floats
    yesterday: Floats
    most: Floats
    fraction: Floats
    left_h: Floats
    waited: Floats


def shares(queues: Queues, path: Floats) -> Floats:
    """What is seen of queues, shape (B, SIZE - OUTLOOK), by the paths of their outlooks, shape (B, PATH)."""
    ncu = queues.waiting.sum(axis=1)
    some = np.maximum(ncu, 1e-12)
    later = np.lib.stride_tricks.sliding_window_view(path[:, 1:], LONGEST, axis=1)[:, (0, *LEADS)]
    cost = np.einsum("bkd,bd->bk", later, queues.waiting) - path[:, (0, *LEADS)] * ncu[:, None]
    gain = (cost[:, :1] - cost[:, 1:]) / some[:, None]
    upto = np.cumsum(queues.waiting, axis=1)[:, np.array(CLASSES) - 1]
    classes = np.diff(upto, axis=1, prepend=0.0) / some[:, None]
    capacity, day_h = queues.capacity, 24.0
    work = queues.waiting @ np.arange(1.0, LONGEST + 1)
    lack = np.maximum(0.0, queues.fraction * queues.asked - queues.allotted) / (capacity * queues.left_h)
    usual = np.maximum(0.0, queues.fraction * queues.yesterday - queues.allotted) / (capacity * queues.left_h)
    rows = [
        ncu > 0,
        ncu / capacity,
        work / (capacity * day_h),
        queues.load / capacity,
        (queues.load + ncu) / np.maximum(queues.room, 1e-9),
        lack,
        usual,
        queues.yesterday / (capacity * day_h),
        queues.most / (capacity * day_h),
        queues.waited,
    ]
    best = [gain.max(axis=1), gain[:, :3].max(axis=1)]
    found = np.concatenate([gain, np.stack(best, axis=1), classes, np.stack(rows, axis=1)], axis=1)
    return np.asarray(np.clip(found, -MOST, MOST))


def days_asked(submitted: Floats, day: int) -> tuple[Floats, Floats]:
    """By slot what its last day's slots have submitted, and the most of that in the last days, shape (T,) each."""
    upto = np.concatenate([np.zeros(day), np.cumsum(submitted)])
    last = upto[day:] - upto[:-day]
    known = np.concatenate([np.zeros((REMEMBERED_DAYS - 1) * day - 1), last])
    most = np.lib.stride_tricks.sliding_window_view(known, (REMEMBERED_DAYS - 1) * day).max(axis=1)
    return last, most


def beyond(instance: VccInstance) -> float:
    """What an unfinished NCU-hour costs, in carbon (kg/kWh)."""
    return instance.unfinished_penalty_per_ncu_h / max(instance.carbon_price * instance.kw_per_ncu, 1e-9)


def observe(snapshot: VccInstance, past: Past) -> Floats:
    """What an agent sees, shape (SIZE,); `past` has seen the snapshot."""
    day, jobs = snapshot.day_slots, snapshot.columns
    slot = snapshot.now % day
    view = outlook(np.array(past.carbon), snapshot.carbon, slot, day, beyond(snapshot))
    waiting = np.bincount(np.minimum(jobs.duration, LONGEST) - 1, jobs.ncu, LONGEST).astype(float)
    head = int(jobs.waited[0]) if len(jobs.waited) else 0
    of = [
        float(snapshot.running[0]),
        max(0.0, snapshot.capacity_ncu - float(snapshot.inflexible[0])),
        snapshot.capacity_ncu,
        float(snapshot.asked[0]),
        snapshot.allotted_ncu_h,
        *(float(sums[-1]) for sums in days_asked(np.array(past.asked), day)),
        snapshot.daily_fraction,
        (day - slot) * snapshot.slot_h,
        head / max(1, snapshot.delay_limit_slots),
    ]
    queues = Queues(waiting[None, :], *(np.array([value]) for value in of))
    return np.concatenate([view.numbers, shares(queues, view.path[None, :])[0]])
