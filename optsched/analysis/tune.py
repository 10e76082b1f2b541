"""Options of a method or policy, searched on some instances and judged on others (Optuna's Parzen estimators)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from optsched.analysis.statistics import interval
from optsched.errors import OptschedError, meant
from optsched.instances.base import Floats, Instance
from optsched.methods import method
from optsched.stop import Stop

Value = int | float | str
Runner = Callable[[Instance, Mapping[str, Value], int], float | None]
"""The objective of an instance, with options and a seed; None where there is none."""
MOST = 1.0  # of a gain or a loss, relative: a default near nothing would decide alone, and a run that fails loses as much
SETTINGS = ("window_s", "replan_s", "period_s", "budget_s", "forecast")  # of a policy
WIDE = 4.0  # an option whose range nobody gave is searched from a quarter of its default to four times it, below 1 up to 1
LOGARITHMIC = 50.0  # a range whose ends are further apart than so many times is searched in orders of magnitude


@dataclass(frozen=True)
class Axis:
    """What an option may be: one of `choices`, or a number of a range.

    Attributes
    ----------
    low, high
        Ends of a range, both included; whole numbers for an integer.
    choices
        Instead of a range.
    """

    low: float | None = None
    high: float | None = None
    choices: tuple[Value, ...] = ()

    @classmethod
    def read(cls, text: str) -> Axis:
        """From ``1..100``, ``0.1..0.9`` or ``a,b,c``.

        Raises
        ------
        OptschedError
            It is none of these.
        """
        low, dots, high = text.partition("..")
        if not dots:
            choices = tuple(part.strip() for part in text.split(",") if part.strip())
            if len(choices) < 2:
                raise OptschedError(f"{text!r}: an option to tune has a range as 1..100, or choices as a,b,c")
            return cls(choices=tuple(_plain(choice) for choice in choices))
        ends = _plain(low), _plain(high)
        if any(isinstance(end, str) for end in ends) or not -math.inf < float(ends[0]) < float(ends[1]) < math.inf:
            raise OptschedError(f"{text!r}: a range goes from a number to a larger one, as 1..100 or 0.1..0.9")
        return cls(*ends)  # type: ignore[arg-type]

    @classmethod
    def around(cls, default: object) -> Axis | None:
        """A range about a default, up to 1 where that is below 1 and may be a share; None where it is no positive number."""
        if isinstance(default, bool) or not isinstance(default, int | float) or not 0 < default < math.inf:
            return None
        if isinstance(default, int):
            return cls(max(1, round(default / WIDE)), round(default * WIDE))
        return cls(default / WIDE, min(default * WIDE, 1.0) if default < 1 else default * WIDE)

    def real(self) -> Axis:
        """The same range, of an option that is no whole number."""
        return self if self.low is None or self.high is None else replace(self, low=float(self.low), high=float(self.high))

    @property
    def ends(self) -> tuple[Value, ...]:
        """The ends of the range, or all choices: where none of these is refused, nothing between them is."""
        return self.choices or (self.low, self.high)  # type: ignore[return-value]

    def drawn(self, trial: object, name: str) -> Value:
        """One value of it."""
        if self.choices:
            return trial.suggest_categorical(name, list(self.choices))  # type: ignore[attr-defined, no-any-return]
        assert self.low is not None
        assert self.high is not None
        log = self.low > 0 and self.high / self.low > LOGARITHMIC
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(name, self.low, self.high, log=log)  # type: ignore[attr-defined, no-any-return]
        return trial.suggest_float(name, float(self.low), float(self.high), log=log)  # type: ignore[attr-defined, no-any-return]


@dataclass(frozen=True)
class Gain:
    """By how much options are better than the default ones, relative to the default's objective, 100 % at most.

    Attributes
    ----------
    mean, low, high
        Over instances (the mean over seeds each), and its 95 % interval; None for a single instance.
    worst
        On the instance where it is least.
    instances, failed
        How many, and on how many a run failed.
    """

    mean: float
    low: float | None
    high: float | None
    worst: float
    instances: int
    failed: int


@dataclass(frozen=True)
class Tuned:
    """What a search has found.

    Attributes
    ----------
    options
        The best on the training instances; the default ones (empty) where nothing was better.
    train, test
        Gain there, and on instances that the search has not seen.
    tried
        Rows of options and mean gain, in the order of the search.
    """

    options: dict[str, Value]
    train: Gain
    test: Gain
    tried: tuple[dict[str, object], ...]


def solving(name: str, time_limit_s: float | None = 10.0) -> Runner:
    """Runs of a method, by its name or as ``module:object``; its options are `--option`s."""

    def run(instance: Instance, options: Mapping[str, Value], seed: int) -> float | None:
        result = method(name, instance.problem, options=dict(options))(instance, stop=Stop(seconds=time_limit_s), seed=seed)
        if result.termination == "interrupted":
            raise KeyboardInterrupt
        return result.objective

    return run


def replaying(name: str) -> Runner:
    """Replays under a policy; its options are what `optsched.replay` takes, such as ``window_s``."""

    def run(instance: Instance, options: Mapping[str, Value], seed: int) -> float | None:
        import optsched

        if unknown := [option for option in options if option not in SETTINGS]:
            raise OptschedError(f"a policy has no {unknown[0]!r} to tune{meant(unknown[0], SETTINGS, 'it has')}")
        return optsched.replay(instance, name, seed=seed, **options).objective  # type: ignore[arg-type]

    return run


def tune(
    run: Runner,
    train: Sequence[Instance],
    test: Sequence[Instance],
    axes: Mapping[str, Axis],
    *,
    trials: int = 40,
    seeds: Sequence[int] = (0,),
    seed: int = 0,
    tell: Callable[[int, float], None] = lambda done, best: None,
) -> Tuned:
    """Search options.

    Parameters
    ----------
    run
        `solving` or `replaying`.
    train, test
        Instances of one family; none may be in both.
    axes
        What to search, by option.
    trials
        Options that are tried.
    seeds
        Of the runs; every option is run with all of them.
    seed
        Of the search.
    tell
        Called after each try with how many there were, and the best mean gain. Ctrl-C ends the search there, and what was best
        so far is judged.

    Raises
    ------
    OptschedError
        Optuna is not installed, an instance is in both sets or of another family, or the method takes no such option.
    """
    try:
        import optuna
    except ImportError:
        raise OptschedError("tuning needs Optuna: pip install 'optsched[tune]'") from None
    if shared := {instance.sha256 for instance in train} & {instance.sha256 for instance in test}:
        both = next(instance.name for instance in test if instance.sha256 in shared)
        raise OptschedError(f"{both!r} is both in training and in test: its gain there would mean nothing")
    if not train or not test or len({instance.problem for instance in (*train, *test)}) > 1:
        raise OptschedError("tuning needs instances to train on and others to test on, all of one family")
    if not axes:
        raise OptschedError("nothing to search: name an option and its range, as --option NAME=1..100")
    for k in range(max(len(axis.ends) for axis in axes.values())):  # what is no option is told before the search
        run(train[0], {option: axis.ends[min(k, len(axis.ends) - 1)] for option, axis in axes.items()}, seeds[0])
    known, held = (_objectives(run, {}, part, seeds) for part in (train, test))
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="maximize")
    tried: list[dict[str, object]] = []
    gain, best = 0.0, dict[str, Value]()
    try:
        for done in range(trials):
            asked = study.ask()
            options = {option: axis.drawn(asked, option) for option, axis in axes.items()}
            gains, _ = _gains(train, known, _objectives(run, options, train, seeds))
            study.tell(asked, float(gains.mean()))
            tried.append({**options, "gain": float(gains.mean())})
            if gains.mean() > gain:
                gain, best = float(gains.mean()), options
            tell(done + 1, gain)
    except KeyboardInterrupt:
        if not best:
            raise
    judged = [_gain(part, base, _objectives(run, best, part, seeds)) for part, base in ((train, known), (test, held))]
    return Tuned(best, judged[0], judged[1], tuple(tried))


def _objectives(run: Runner, options: Mapping[str, Value], instances: Sequence[Instance], seeds: Sequence[int]) -> Floats:
    """Shape (instances, seeds), NaN where a run fails; with the default options that ends the search."""
    found = np.full((len(instances), len(seeds)), np.nan)
    for i, instance in enumerate(instances):
        for k, seed in enumerate(seeds):
            try:
                objective = run(instance, options, seed)
            except OptschedError:
                if not options:
                    raise
                continue
            found[i, k] = np.nan if objective is None else objective
    return found


def _gains(instances: Sequence[Instance], default: Floats, other: Floats) -> tuple[Floats, int]:
    """Of each instance, the mean over seeds, shape (instances,); and how many have a run that failed."""
    sign = 1.0 if instances[0].sense == "minimize" else -1.0
    gains = sign * (default - other) / np.maximum(np.abs(default), 1e-9)
    failed = np.isnan(other) & ~np.isnan(default)
    gains = np.where(failed, -MOST, np.where(np.isnan(default), 0.0, np.clip(gains, -MOST, MOST)))
    return gains.mean(axis=1), int(failed.any(axis=1).sum())


def _gain(instances: Sequence[Instance], default: Floats, other: Floats) -> Gain:
    gains, failed = _gains(instances, default, other)
    low, high = interval(gains) or (None, None)
    return Gain(float(gains.mean()), low, high, float(gains.min()), len(instances), failed)


def _plain(text: str) -> Value:
    """A whole number, a number, or text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()
