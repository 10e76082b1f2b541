"""Trace readers: files of real clusters as traces, and traces as instances. One module a kind; see docs/traces.md."""

from collections.abc import Callable

from optsched.instances.readers import alibaba2020, azure_packing, azure_v1, helios, philly, pollux, swf
from optsched.instances.readers.google2019 import read as read_google2019
from optsched.instances.readers.own_csv import read as read_own_csv
from optsched.instances.readers.own_day_ahead import read_day_ahead
from optsched.instances.readers.own_sites import read_sites
from optsched.instances.readers.signals import read_signals, replace_signals
from optsched.instances.readers.to_allocation import to_allocation
from optsched.instances.readers.to_deferrable import to_deferrable
from optsched.instances.readers.to_geo import to_geo
from optsched.instances.readers.to_vcc import to_vcc
from optsched.instances.readers.trace import Trace

READERS: dict[str, Callable[..., Trace]] = {
    "alibaba2020": alibaba2020.read,
    "azure-packing": azure_packing.read,
    "azure-v1": azure_v1.read,
    "helios": helios.read,
    "philly": philly.read,
    "pollux": pollux.read,
    "swf": swf.read,
}

__all__ = [
    "READERS",
    "Trace",
    "read_day_ahead",
    "read_google2019",
    "read_own_csv",
    "read_signals",
    "read_sites",
    "replace_signals",
    "to_allocation",
    "to_deferrable",
    "to_geo",
    "to_vcc",
]
