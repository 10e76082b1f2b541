"""Seeded generators of the papers' scenarios: same parameters, same seed, same instance."""

from optsched.instances.generators.andreas import andreas
from optsched.instances.generators.day_ahead import day_ahead
from optsched.instances.generators.masac import masac
from optsched.instances.generators.osdec import osdec
from optsched.instances.generators.vcc import vcc
from optsched.instances.generators.wide_nodes import wide_nodes

__all__ = ["andreas", "day_ahead", "masac", "osdec", "vcc", "wide_nodes"]
