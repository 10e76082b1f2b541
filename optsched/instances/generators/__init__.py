"""Seeded generators of the papers' scenarios: same parameters, same seed, same instance."""

from optsched.instances.generators.andreas import andreas
from optsched.instances.generators.masac import masac
from optsched.instances.generators.osdec import osdec

__all__ = ["andreas", "masac", "osdec"]
