"""What is given: per family the data, JSON, generators and trace readers. The ground floor."""

from optsched.instances.base import Instance
from optsched.instances.files import save

__all__ = ["Instance", "save"]
