"""What goes wrong while time passes: places that fail, drain or have less, jobs that are cancelled, estimates that err."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes
from optsched.instances.base import Data, Identifier, Instance, Ints, NonNegative, refuse
from optsched.instances.files import describe, expect_format, parse_object, validated
from optsched.instances.grid import exact, share_of

EVENTS_FORMAT: Literal["optsched-events/1"] = "optsched-events/1"
Kind = Literal["fails", "drains", "less"]
Trouble = Literal["fails", "drains", "less", "cancelled"]
"""What may go wrong in a family."""
LAWS = ("true", "user", "noisy")
SIGMA = 0.3  # of noisy, where none is given
LARGEST_SIGMA = 3.0  # a job in twenty is then believed to be 400 times as long as it is, or the other way round
Multiple = Annotated[float, Field(ge=1e-3, le=1e3)]


class Outage(Data):
    """A place that does not have what it should for a time.

    Attributes
    ----------
    place
        Id of the node or site; None where the family has but one place.
    kind
        Those that a family knows (docs/events.md).
        ``"fails"``: what runs there ends at once, and what it has done since it was started there is lost. ``"drains"``: what
        runs there runs on, and nothing more starts. ``"less"``: a `share` of the capacity is left; what does not fit any more
        ends, last started first.
    at_s, back_s
        From when to when, in seconds from the beginning; no `back_s`: for good. In slots, from the first that begins by then.
    expected_s
        Until when policies believe it to last, as soon as it has begun; None: for good, until it is over.
    share
        Of ``"less"``: what is left.
    """

    place: Identifier | None = None
    kind: Kind
    at_s: NonNegative
    back_s: NonNegative | None = None
    expected_s: NonNegative | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Outage:
        for name, value in (("back_s", self.back_s), ("expected_s", self.expected_s)):
            if value is not None and value <= self.at_s:
                refuse(name, f"is {value:.17g}, not after at_s = {self.at_s:.17g}")
        if (self.kind == "less") != (self.share is not None):
            refuse("share", 'goes with the kind "less", which needs one' if self.share is None else 'goes with the kind "less"')
        return self

    @property
    def left(self) -> float:
        """The share of the capacity that is left for what runs."""
        return {"fails": 0.0, "drains": 1.0}.get(self.kind, self.share if self.share is not None else 1.0)


class Cancellation(Data):
    """A job that nobody wants any more: it ends where it runs, and is neither owed nor earns anything; void where it has ended.

    Attributes
    ----------
    job
        Its id.
    at_s
        When, in seconds from the beginning; in slots, the first that begins by then.
    """

    job: Identifier
    at_s: NonNegative


class Estimate(Data):
    """What is believed of a job's duration.

    Attributes
    ----------
    job
        Its id.
    multiple
        Of what it takes: a job of 0.5 runs twice as long as believed.
    """

    job: Identifier
    multiple: Multiple


class Events(Data):
    """What goes wrong in a replay. Policies see it when it happens.

    Attributes
    ----------
    outages, cancellations
        Of places and jobs.
    estimates
        What is believed of durations: ``"true"``, ``"user"`` (the `estimate` of each job), ``"noisy:0.3"`` (a multiple of
        the truth, lognormal with median 1 and that standard deviation of its logarithm).
    believed
        The same of single jobs, whatever the law says.
    """

    format: Literal["optsched-events/1"] = EVENTS_FORMAT
    outages: tuple[Outage, ...] = ()
    cancellations: tuple[Cancellation, ...] = ()
    estimates: str = "true"
    believed: tuple[Estimate, ...] = ()

    @field_validator("estimates")
    @classmethod
    def _lawful(cls, text: str) -> str:
        try:
            sigma_of(text)
        except OptschedError as error:
            refuse("", str(error))
        return text

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an events file, ``.json`` or ``.json.gz``.

        Raises
        ------
        InputError
            One line with the file, the place and what would be right.
        """
        raw = parse_object(read_bytes(path), path)
        expect_format(raw, EVENTS_FORMAT, path)
        return validated(cls, raw, path)

    def to_json(self) -> dict[str, object]:
        """The events as a JSON object."""
        return {"format": self.format} | self.model_dump(mode="json", exclude_defaults=True)


def sigma_of(law: str) -> float | None:
    """The standard deviation that a law of estimates has, None of ``"user"``, 0 of ``"true"``.

    Raises
    ------
    OptschedError
        There is no such law.
    """
    word, colon, value = law.partition(":") if isinstance(law, str) else ("", "", "")
    if word not in LAWS or (colon and word != "noisy"):
        raise OptschedError(f"estimates are true, user or noisy:0.3, got {law!r:.40}")
    if word == "user":
        return None
    try:
        sigma = (float(value) if colon else SIGMA) if word == "noisy" else 0.0
    except ValueError:
        sigma = -1.0
    if not 0 <= sigma <= LARGEST_SIGMA:
        raise OptschedError(f"noisy takes a number from 0 to {LARGEST_SIGMA:g}, as in noisy:0.3, got {value!r:.40}")
    return sigma


@runtime_checkable
class Disturbed(Protocol):
    """An instance of a family that knows events."""

    @property
    def events(self) -> Events | None:
        """What goes wrong in a replay of it."""

    @property
    def troubles(self) -> frozenset[Trouble]:
        """What may."""

    @property
    def places(self) -> tuple[str | None, ...]:
        """Ids of nodes or sites; None for the only place."""

    @property
    def submissions_s(self) -> dict[str, float]:
        """When each job is submitted, seconds from the beginning, by its id."""

    @property
    def ends_s(self) -> float:
        """When the horizon ends, or all jobs might have ended, in seconds from the beginning."""


A = TypeVar("A", bound=Instance)


def events_of(instance: Instance) -> Events | None:
    """What goes wrong in a replay of an instance, if anything."""
    return instance.events if isinstance(instance, Disturbed) else None


def disturbed(instance: A, events: Events, where: str | Path = "events") -> A:
    """The instance with what goes wrong: its truth, which replays and the referee know.

    Parameters
    ----------
    instance
        What is given; events that it has are replaced.
    where
        Where the events stand, for messages.

    Raises
    ------
    InputError
        They name places or jobs that are not there, or are of a kind that the family does not know.
    """
    if not isinstance(instance, Disturbed):
        raise OptschedError(f"{instance.problem} knows no events")
    try:
        fields = {name: getattr(instance, name) for name in type(instance).model_fields}
        type(instance).model_validate(fields | {"events": events})
    except ValidationError as error:
        place, problem = describe(error.errors()[0], {})
        raise InputError(where, place, problem.removeprefix("events.")) from None
    return instance.model_copy(update={"events": None if events == Events() else events})


def refuse_events(instance: Instance) -> None:
    """Refuse to plan ahead where something goes wrong that nobody knows of beforehand.

    Raises
    ------
    OptschedError
        The instance has events.
    """
    if events_of(instance) is not None:
        raise OptschedError(f"{instance.name!r} has events, which happen in a replay: methods plan without them")


def laid_over(
    instance: A, events: Events | Mapping[str, object] | str | Path | None, estimates: str | None, where: str = "events"
) -> A:
    """The instance with events (or those of a file, or of its object), or a law of estimates, or both; itself with neither.

    Raises
    ------
    InputError
        The events do not fit it.
    OptschedError
        There is no such law, or the family knows no events.
    """
    if isinstance(events, str | Path):
        events, where = Events.load(events), str(events)
    elif isinstance(events, Mapping):
        events = validated(Events, dict(events), where)
    elif events is None:
        where = instance.name
    if estimates is not None:
        sigma_of(estimates)
        events = (events or events_of(instance) or Events()).model_copy(update={"estimates": estimates})
    return instance if events is None or events == events_of(instance) else disturbed(instance, events, where)


class Named(Protocol):
    """A job."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def estimate(self) -> float | None:
        """What its user says it takes, as a multiple of what it does."""


def refuse_misfits(
    events: Events | None, kinds: Collection[Trouble], places: Collection[str] | None, jobs: Sequence[Named]
) -> None:
    """End validation where events do not fit their instance; `places` is None where it has but one."""
    if events is None:
        return
    if events.cancellations and "cancelled" not in kinds:
        refuse("events.cancellations", "no job is cancelled here")
    for i, outage in enumerate(events.outages):
        at = f"events.outages[{i}]"
        if outage.kind not in kinds:
            refuse(f"{at}.kind", f"{outage.kind!r} does not happen here, only {' and '.join(sorted({*kinds} - {'cancelled'}))}")
        if places is None and outage.place is not None:
            refuse(f"{at}.place", f"there is but one place here: leave {outage.place!r} out")
        if places is not None and outage.place not in places:
            refuse(f"{at}.place", f"unknown place {outage.place!r}, known: {', '.join([*places][:8])}")
    known = {job.id for job in jobs}
    unsaid = next((job.id for job in jobs if job.estimate is None), None) if events.estimates == "user" else None
    if unsaid is not None:
        said = f"job {unsaid!r} has no `estimate` of its user, a multiple of what it takes; noisy:0.3 draws some"
        refuse("events.estimates", said)
    for name in ("cancellations", "believed"):
        named: set[str] = set()
        for i, entry in enumerate(getattr(events, name)):
            if entry.job not in known:
                refuse(f"events.{name}[{i}].job", f"unknown job {entry.job!r}")
            if entry.job in named:
                refuse(f"events.{name}[{i}].job", f"{entry.job!r} stands there twice")
            named.add(entry.job)


@dataclass(frozen=True)
class SlotOutage:
    """An outage in slots: of the place with that index, from `begin` to before `end`, believed to last to before `expected`."""

    place: int
    kind: Kind
    left: float
    begin: int
    end: int
    expected: int


def slot_of(seconds: float, slot_s: float) -> int:
    """The first slot that begins at a time or after it."""
    return -int(-exact(seconds) // exact(slot_s))


def outages_in_slots(
    events: Events | None, places: Sequence[str | None], slot_s: float, horizon: int
) -> tuple[SlotOutage, ...]:
    """The outages that touch the horizon."""
    found = []
    for outage in () if events is None else events.outages:
        begin = slot_of(outage.at_s, slot_s)
        end, expected = (horizon if s is None else slot_of(s, slot_s) for s in (outage.back_s, outage.expected_s))
        if begin < min(end, horizon):
            found.append(SlotOutage(places.index(outage.place), outage.kind, outage.left, begin, min(end, horizon), expected))
    return tuple(found)


def share_left(outages: Sequence[SlotOutage], places: int, horizon: int) -> np.ndarray:
    """The share of its capacity that a place has for what runs, shape (P, T): the least of its outages'."""
    share = np.ones((places, horizon))
    for outage in outages:
        part = share[outage.place, outage.begin : outage.end]
        np.minimum(part, outage.left, out=part)
    return share


def whole_left(capacity: Ints, share: np.ndarray) -> Ints:
    """Whole units that are left of a capacity, shape (P, T) each: rounded down, in exact arithmetic."""
    less = share < 1
    if not less.any():
        return capacity
    left = capacity.copy()
    pairs, which = np.unique(np.array([share[less], capacity[less]]), axis=1, return_inverse=True)
    left[less] = np.array([share_of(part, int(whole)) for part, whole in pairs.T.tolist()], dtype=np.int64)[which.ravel()]
    return left


def cancelled_in_slots(events: Events | None, slot_s: float) -> dict[str, int]:
    """The slot in which a job is cancelled, by its id."""
    return {} if events is None else {gone.job: slot_of(gone.at_s, slot_s) for gone in events.cancellations}
