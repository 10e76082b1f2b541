"""A word where hardly anything is known at the present of an instance, so that there is nothing to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optsched.instances import Instance

FEW = 0.1  # of the jobs


def note(instance: Instance, file: str) -> str | None:
    """What to type where (nearly) no job is known at now; None where enough are."""
    from optsched.methods import bounding, decides_now

    jobs, known = len(getattr(instance, "jobs", ())), instance.job_count
    if not jobs or known > FEW * jobs:
        return None
    now = getattr(instance, "now_s", 0.0)
    all_known = [name for name, made in bounding(instance.problem).items() if not decides_now(made)]
    beside = "".join(f", which --method {name} plans for with all that will come" for name in all_known)
    some = f"only {known:,} of the {jobs:,} jobs {'is' if known == 1 else 'are'}" if known else f"none of the {jobs:,} jobs is"
    return (
        f"note: {some} known at now = {now:g} s, as the others are submitted later: `solve` decides about no other{beside}. "
        f"To solve for all, set now to the last submission (--all-submitted of `generate` and `import`); "
        f"to let time pass, type `optsched replay {'FILE' if file == '-' else file}`"
    )
