"""May 2019 under a cap: every policy by carbon, delay, unfinished work and cost, and its gap to the certified bound.

python benchmarks/vcc.py                                 # original load, and ten times as much, where the capacity binds
python benchmarks/vcc.py --scales 1 --forecast perfect
python benchmarks/vcc.py --months PGE_2019-06 PGE_2020-08         # the jobs of 26 days under other months' carbon
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from arguments import told

from optsched.decomposition.vcc import VccDecomposition
from optsched.files import traces
from optsched.instances.readers import read_google2019
from optsched.instances.vcc import VccInstance
from optsched.result import Result
from optsched.rolling.loop import replay
from optsched.rolling.vcc.months import MONTH_DAYS, jobs_of, under
from optsched.schedules.vcc import VccSchedule
from optsched.stop import Stop

DATA = traces() / "google2019"
POLICIES = ("uncapped", "threshold", "day-ahead", "rolling")  # the agents have seen this month
CONSTANTS = (0.05, 0.1, 0.5)


class Constant:
    """The same cap in every slot."""

    def __init__(self, cap: float) -> None:
        self.cap = cap

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, snapshot: VccInstance) -> VccSchedule:
        """The cap."""
        return VccSchedule(cap=(self.cap,), starts=())


def run(instance: VccInstance, forecast: str, policy: str | float) -> Result:
    """A replay."""
    acting = Constant(policy) if isinstance(policy, float) else policy
    result = replay(instance, acting, forecast=forecast)
    assert result.options["figures"]["fallbacks"] == 0, result.message
    return result


def instances(months: list[str] | None, scales: list[float]) -> Iterator[VccInstance]:
    """May 2019 at each load, under its own carbon or that of other months."""
    if months is None:
        yield from (read_google2019(DATA, scale=scale) for scale in scales)
    for month in months or ():
        yield from (under(jobs_of(0, MONTH_DAYS, DATA.parent), month, 0, scale, DATA.parent) for scale in scales)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--forecast", default="fitted")
    parser.add_argument("--seconds", type=float, default=60.0, help="for the certified schedule")
    parser.add_argument("--policies", nargs="*", default=POLICIES)
    parser.add_argument("--months", nargs="+", help="of carbon, as in PGE_2019-06. [default: May 2019's own]")
    given = parser.parse_args()
    for instance in instances(given.months, given.scales):
        best = VccDecomposition()(instance, stop=Stop(seconds=given.seconds))
        assert best.bound is not None
        print(f"{instance.name}: {instance.summary()}; forecast {given.forecast}", flush=True)
        print(f"  {'kg':28} {'carbon':>9} {'delay':>8} {'daily':>8} {'unfin.':>8} {'cost':>9}   gap", flush=True)
        with ProcessPoolExecutor(2) as pool:
            names = [*CONSTANTS, *given.policies]
            rows = zip(names, pool.map(partial(run, instance, given.forecast), names), strict=True)
            shown = [(f"constant {name:g}" if isinstance(name, float) else name, result) for name, result in rows]
        for name, result in [*shown, (f"certified, {best.timings_s.total:.0f} s", best)]:
            c = result.components
            assert result.objective is not None
            assert result.objective >= best.bound - 1e-6 * result.objective
            gap = (result.objective - best.bound) / result.objective
            parts = f"{c['carbon']:9.2f} {c['delay']:8.2f} {c['daily']:8.2f} {c['unfinished']:8.2f} {result.objective:9.2f}"
            print(f"  {name:28} {parts}  {gap:6.2%}", flush=True)
        print(f"  {'bound':28} {'':36} {best.bound:8.2f}", flush=True)


if __name__ == "__main__":
    told(main)
