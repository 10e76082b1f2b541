"""Methods and policies on many instances and with many seeds: one tidy table against the best bound of each instance."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from optsched.analysis.bounds import quick_bound
from optsched.analysis.gaps import AnyMethod, Interrupted, compare, refuse_unknown, settings_of, several
from optsched.certificate import beyond, relative_gap
from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.judging import expect_instance
from optsched.quantities import read_seed, read_seeds
from optsched.rolling.policy import AnyPolicy, Settings

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)


def compare_any(
    instance: Instance | Iterable[Instance],
    methods: Iterable[AnyMethod] = (),
    policies: Iterable[str | AnyPolicy] = (),
    **how: Any,
) -> pd.DataFrame:
    """`compare` of one instance, or `compare_all` of several, of seeds or of forecasts."""
    if isinstance(instance, Instance) and not how.keys() & {"seeds", "forecasts"}:
        return compare(instance, methods, policies, **how)
    listed: list[Instance] = several(instance)  # type: ignore[arg-type]
    for each in listed:
        expect_instance(each)
    if "seed" in how:
        how["seeds"] = (how.pop("seed"),)
    if "forecast" in how:
        how["forecasts"] = (how.pop("forecast"),)
    return compare_all(listed, several(methods), several(policies), **how)


def compare_all(
    instances: Iterable[Instance],
    methods: Sequence[AnyMethod] = (),
    policies: Sequence[str | AnyPolicy] = (),
    *,
    seeds: Iterable[int] | str = (0,),
    forecasts: Sequence[str] = ("perfect",),
    **how: Any,
) -> pd.DataFrame:
    """`compare` on every instance with every seed; policies under every forecast.

    Parameters
    ----------
    instances
        Of one family or of several.
    methods, policies, how
        As `compare` takes them; a name that one of several families does not have is left out of its instances.
    seeds
        Of methods, policies and forecasts' noise; several, or as text ``"0-9"``.
    forecasts
        What policies believe; a column ``forecast`` says which.

    Returns
    -------
    pandas.DataFrame
        The rows of `compare`, each against the best bound that any row of its instance has.

    Raises
    ------
    Interrupted
        With the table so far.
    OptschedError
        There is no instance.
    """
    from optsched.analysis.table import Table

    listed = list(instances)
    if not listed:
        raise OptschedError("there is no instance to compare on")
    drawn = list(read_seeds(seeds)) if isinstance(seeds, str) else [read_seed(seed) for seed in seeds]
    if len(listed) > 1 and isinstance(how.get("bound"), int | float):
        raise OptschedError("a number as a bound goes with a single instance")
    settings = settings_of(
        **{name: how[name] for name in ("window_s", "replan_s", "budget_s", "history", "guard") if name in how}
    )
    known = _known(listed, methods, policies, settings)
    done: list[pd.DataFrame] = []
    wanted = how.get("bound")
    again = len(drawn) * len(forecasts) > 1 and (wanted == "quick" or (bool(policies) and wanted is None))
    for instance in listed:
        solvers, players = known[instance.problem]
        own: list[pd.DataFrame] = []
        try:
            if again:
                how["bound"] = quick_bound(instance) if wanted == "quick" else quick_bound(instance, seconds=0)  # once for all
            for seed in drawn:
                for i, forecast in enumerate(forecasts if players else forecasts[:1]):
                    offline = solvers if i == 0 else ()
                    try:
                        table = compare(instance, offline, players, seed=seed, forecast=forecast, **how)
                    except Interrupted as stopped:
                        own.append(_of(stopped.table, seed, forecast))
                        raise
                    own.append(_of(table, seed, forecast))
        except KeyboardInterrupt as stopped:
            raise Interrupted(Table(_joined([*done, held_together(_joined(own))]))) from stopped
        done.append(held_together(_joined(own)))
    return Table(_joined(done))


def _known(
    instances: Sequence[Instance], methods: Sequence[AnyMethod], policies: Sequence[str | AnyPolicy], settings: Settings
) -> dict[str, tuple[list[AnyMethod], list[str | AnyPolicy]]]:
    """What each family has of some methods and policies, before anything is run.

    Raises
    ------
    OptschedError
        A name that no family has, or settings that no policy takes.
    """
    one = {instance.problem: instance for instance in instances}
    bare = Settings(guard=settings.guard)
    solvers = _had(methods, one, lambda instance, name: refuse_unknown(instance, (name,), (), bare))
    players = _had(policies, one, lambda instance, name: refuse_unknown(instance, (), (name,), bare))
    for problem, instance in one.items():
        refuse_unknown(instance, (), players[problem], settings)
    return {problem: (solvers[problem], players[problem]) for problem in one}


def _had(names: Sequence[T], one: Mapping[str, Instance], refuse: Callable[[Instance, T], None]) -> dict[str, list[T]]:
    """Which of some names each family has, of which there is one instance each."""
    has: dict[str, list[T]] = {problem: [] for problem in one}
    for name in names:
        refused: list[OptschedError] = []
        for problem, instance in one.items():
            try:
                refuse(instance, name)
                has[problem].append(name)
            except OptschedError as error:
                refused.append(error)
        if len(refused) == len(one):
            raise refused[0]
        if refused:
            lacking = ", ".join(problem for problem in one if name not in has[problem])
            LOGGER.warning("%s is not there for %s: left out of these instances", name, lacking)
    return has


def held_together(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one instance, each against the tightest bound that any of them has for what it is judged by.

    Raises
    ------
    CertificateError
        A schedule beats a bound that another row has proven: one of the two is wrong.
    """
    if rows.empty:
        return rows
    if contradiction := contradicted(rows):
        raise CertificateError(contradiction)
    rows = rows.astype({"bound": float, "gap": float})
    for index, bound, _ in _judged_alike(rows):
        own = rows.loc[index, "objective"].astype(float).dropna()
        rows.loc[index, "bound"] = bound
        rows.loc[index, "gap"] = None
        rows.loc[own.index, "gap"] = [relative_gap(value, bound) for value in own]
    return rows


def contradicted(rows: pd.DataFrame) -> str | None:
    """Which schedule of one instance's rows beats a bound of another row, in a sentence; None where all agree."""
    for index, bound, minimised in _judged_alike(rows):
        for i, objective in rows.loc[index, "objective"].dropna().items():
            if beyond(float(objective), bound, minimised):
                who, instance = rows.at[i, "name"], rows.at[i, "instance"]
                return f"{instance}: {who} has {objective:.9g}, which the proven bound {bound:.9g} excludes"
    return None


def _judged_alike(rows: pd.DataFrame) -> Iterator[tuple[pd.Index, float, bool]]:
    """Rows that are judged by the same, their tightest bound, and whether that is of a minimum."""
    for _, part in rows.groupby("objective_kind", dropna=False):
        bounds, minimised = part["bound"].dropna().astype(float), bool((part["sense"] == "minimize").all())
        if len(bounds):
            yield part.index, float(bounds.max() if minimised else bounds.min()), minimised


def _of(table: pd.DataFrame, seed: int, forecast: str) -> pd.DataFrame:
    """Rows of one seed and forecast, which is that of replays only."""
    return table.assign(seed=seed, forecast=table["kind"].map({"online": forecast})) if len(table) else table


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    given = [part for part in parts if len(part)]
    if not given:
        return pd.DataFrame()
    columns = list(dict.fromkeys(name for part in given for name in part.columns))
    rows = [row for part in given for row in part.to_dict("records")]  # concat would warn of columns without values
    return pd.DataFrame(rows, columns=columns)
