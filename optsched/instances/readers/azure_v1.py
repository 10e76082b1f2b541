"""Azure Public Dataset V1 (Cortez et al., SOSP 2017) binned by huaweicloud/trace_generation_rnn: one row a machine."""

from __future__ import annotations

from pathlib import Path

from optsched.instances.readers.table import read_csv
from optsched.instances.readers.trace import Trace, gathered


def read(path: str | Path, *, skip_bad: bool = False) -> Trace:
    """Machines of t_bin_s, batch, cores, mem_gb, dur_lo_s, dur_hi_s, censored."""
    table = read_csv(path)
    low, high = table.number("dur_lo_s", least=0), table.number("dur_hi_s", least=0)
    table.fault(high < low, "dur_hi_s", "expected at least dur_lo_s")
    censored = table.number("censored", least=0, whole=True)
    return gathered(
        table,
        "azure-v1",
        skip_bad=skip_bad,
        submitted_s=table.number("t_bin_s", least=0),
        duration_s=(low + high) / 2,
        units=table.number("cores", above=0),
        assumed=(
            "A virtual machine is a deferrable job that keeps all its cores for its whole life; memory does not count.",
            "Its duration is the midpoint of dur_lo_s and dur_hi_s; 0 is less than a bin.",
            f"{int(censored.sum())} machines of the file outlive the trace (censored); the midpoint holds for them too.",
        ),
    )
