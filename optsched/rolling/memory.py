"""What a policy remembers, as JSON: it comes back from a file, and is looked at before it is believed."""

from __future__ import annotations

from typing import TypeVar

import pydantic_core
from pydantic import TypeAdapter, ValidationError

from optsched.errors import OptschedError
from optsched.instances.files import describe

T = TypeVar("T")


def recalled(kind: type[T], state: object) -> T:
    """What `state` told of its policy, once it has been JSON: lists are read as tuples again.

    Raises
    ------
    OptschedError : it is nothing of that kind.
    """
    try:
        return TypeAdapter(kind).validate_json(pydantic_core.to_json(state, inf_nan_mode="constants"), strict=True)
    except ValidationError as error:
        place, problem = describe(error.errors(include_url=False, include_context=False)[0], state)
        raise OptschedError(": ".join(filter(None, (place, problem)))) from None
