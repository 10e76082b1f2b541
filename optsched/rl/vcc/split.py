"""What training, validation and test of the agents may see: months of carbon, days of jobs, and loads, never shared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One of the three.

    Attributes
    ----------
    months
        Of the signal's files, as in ``PGE_2019-05``.
    days
        First and last of Google's trace, both included.
    scales
        Of every task's NCU; for training the least and the most, for the others each.
    """

    months: tuple[str, ...]
    days: tuple[int, int]
    scales: tuple[float, ...]

    def starts(self, days: int) -> range:
        """First days of the windows of so many days."""
        return range(self.days[0], self.days[1] - days + 2)


TRAIN = Part(
    (
        "PGE_2019-05",
        "PGE_2019-06",
        "PGE_2019-08",
        "PGE_2019-10",
        "PGE_2020-02",
        "PGE_2020-04",
        "PGE_2020-08",
        "PGE_2020-10",
        "PGE_2020-12",
    ),
    (0, 13),
    (0.5, 12.0),
)
VALIDATION = Part(("PGE_2019-12", "PGE_2020-06"), (14, 20), (0.8, 2.5, 9.0))
TEST = Part(("PGE_2021-02", "PGE_2021-03", "SCE_2020-03", "SCE_2020-09"), (21, 27), (1.5, 6.0))
APART = 0.1  # training draws no load as near as this, relative, to one of the others
WORDS = (
    f"Google 2019, weeks of days {TRAIN.days[0]}-{TRAIN.days[1]} / {VALIDATION.days[0]}-{VALIDATION.days[1]} / "
    f"{TEST.days[0]}-{TEST.days[1]}; carbon of {len(TRAIN.months)} / {len(VALIDATION.months)} / {len(TEST.months)} months "
    f"(test: {', '.join(TEST.months)}); loads {TRAIN.scales[0]:g} to {TRAIN.scales[1]:g} / "
    f"{', '.join(f'{s:g}' for s in VALIDATION.scales)} / {', '.join(f'{s:g}' for s in TEST.scales)} of the trace's"
)


def apart(scale: float) -> bool:
    """Whether training may draw this load."""
    return all(abs(scale / other - 1) > APART for other in (*VALIDATION.scales, *TEST.scales))
