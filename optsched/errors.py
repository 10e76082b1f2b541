"""Errors that a user can cause. Each is one line: what, where, and what would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path


class OptschedError(Exception):
    """Base of every error with a message fit for a user; the command line ends with `exit_code`."""

    exit_code = 2

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...], dict[str, object]]:
        """Workers send it back, whatever its class is made from."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class InputError(OptschedError):
    """A file that cannot be used.

    Parameters
    ----------
    path
        File at fault.
    place
        Where in the file, e.g. ``jobs[3].duration``; empty for the file as a whole.
    problem
        What is wrong and what would be right.
    """

    def __init__(self, path: str | Path, place: str, problem: str) -> None:
        self.path, self.place, self.problem = str(path), place, problem
        text = ": ".join(part for part in (str(path), place, problem) if part)
        super().__init__(" ".join(text.split()))


class RecordError(InputError):
    """Fields that make no record, of a class called in Python; its `path` is the class's name."""


class BackendUnavailable(OptschedError):
    """A solver that cannot be loaded here; the message says why."""


class CertificateError(OptschedError):
    """A solver, a heuristic and the referee contradict each other: a bug, never a user's mistake.

    Parameters
    ----------
    said
        What contradicts what.
    method
        Whose result it is, where it is one's.
    """

    exit_code = 1

    def __init__(self, said: str, method: str | None = None) -> None:
        super().__init__(said)
        self.method = method


class Disproved(CertificateError):
    """The referee refuses what somebody else's code returned: nothing of ours is wrong."""


def expect(low: float, high: float, **given: float | None) -> None:
    """Refuse the first number that is given and not from `low` to `high`, by its name.

    Raises
    ------
    OptschedError
        It is outside, or not a number.
    """
    for name, value in given.items():
        if value is not None and not low <= value <= high:
            raise OptschedError(f"{name}: is {value!r:.40}, expected a number from {low:,.10g} to {high:,.10g}")


def raised(error: BaseException) -> str:
    """An exception of somebody else's code in one line: its type, and what it says."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def meant(word: str, known: Iterable[str], there_are: str = "there are") -> str:
    """What was probably meant, as the end of a message about a name; else what there is."""
    names = list(known)
    near = get_close_matches(word, names, n=2, cutoff=0.5)
    return f", did you mean {' or '.join(near)}?" if near else f", {there_are}: {', '.join(names)}"
