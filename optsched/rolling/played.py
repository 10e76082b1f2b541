"""The instance that an environment always plays, in place of drawn ones."""

from __future__ import annotations

from pathlib import Path

from optsched.errors import OptschedError
from optsched.instances.base import I, Instance
from optsched.reading import load
from optsched.referee import expect_instance


def played(given: Instance | str | Path | None, kind: type[I], needs: str) -> I | None:
    """Somebody's instance or its file, if one is given.

    Raises
    ------
    OptschedError : it is none, is of another family, or its file cannot be used.
    """
    if given is None:
        return None
    instance = load(given) if isinstance(given, str | Path) else given
    expect_instance(instance)
    if not isinstance(instance, kind):
        raise OptschedError(f"the environment needs {needs}, got one of {instance.problem}")
    return instance
