"""`optsched methods`: what can be asked of `solve`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypedDict, cast

import click

from optsched.cli._lines import say
from optsched.cli._show import console
from optsched.cli._table import Column, show
from optsched.cli._verbs import meant
from optsched.errors import OptschedError

EPILOG = """\b
Examples:
  optsched methods
  optsched methods randomized-greedy
  optsched methods mymodule:myheuristic
  optsched methods --json | jq '.methods[].name'
"""


class Method(TypedDict):
    """A method, and the options that it has in each of its families."""

    name: str
    families: list[str]
    proves_bound: bool
    summary: str
    options: dict[str, dict[str, float]]


class Formulation(TypedDict):
    """A formulation; the default is the family's recommended one."""

    family: str
    name: str
    default: bool
    kind: str
    summary: str


class Backend(TypedDict):
    """A backend, and why it cannot be used here."""

    name: str
    takes: str
    gives: str
    unavailable: str | None


class Everything(TypedDict):
    """What `--json` prints."""

    methods: list[Method]
    formulations: list[Formulation]
    backends: list[Backend]


@click.command("methods", epilog=EPILOG)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, options of the methods included.")
def command(name: str | None, as_json: bool) -> None:
    """List methods, formulations and backends, and why a backend cannot be used here; or the options of one method."""
    listed = [method for method in _methods() if name in (None, method["name"])]
    if name is not None and not listed:
        listed = _foreign(name)
    if name is not None and not listed:
        from optsched.registry import usable_families
        from optsched.rolling.policy import refuse_as_method

        for problem in usable_families():
            refuse_as_method(problem, name)
        raise OptschedError(f"no method {name!r}{meant(name, [method['name'] for method in _methods()])}")
    if as_json:
        click.echo(json.dumps(listed[0] if name is not None else _everything(listed)))
    elif name is not None:
        _one(listed[0])
    else:
        _lists(_everything(listed))


def _methods() -> list[Method]:
    """Every method that can be used."""
    from optsched.methods import catalogue

    return [
        Method(
            name=info.name,
            families=list(info.families),
            proves_bound=info.proves_bound,
            summary=info.summary,
            options={family: options_of(info.name, family) for family in info.families},
        )
        for info in catalogue()
    ]


def _foreign(name: str) -> list[Method]:
    """A method of somebody's own, `module:object`, as one of ours is listed."""
    from optsched.custom import instances_of
    from optsched.registry import family, is_reference, named, usable_families

    if not is_reference(name):
        return []
    found = named(name, typed=True)
    if not callable(found):
        raise OptschedError(f"{name} is no method: it cannot be called")
    takes = [problem for problem in usable_families() if issubclass(family(problem).instance, instances_of(found))]
    summary = (found.__doc__ or "a method of your own").strip().split("\n")[0]
    proves, options = bool(getattr(found, "proves_bound", False)), dict.fromkeys(takes, _numbers(found))
    return [Method(name=name, families=takes, proves_bound=proves, summary=summary, options=options)]


def options_of(method: str, name: str) -> dict[str, float]:
    """Options of a family's method, or of ``module:object``, and their defaults; those of `exact` are the backend's own."""
    from optsched.registry import family, is_reference, named

    if is_reference(method):
        return _numbers(cast("Callable[..., object]", named(method, typed=True)))
    own = family(name)
    construct = own.heuristics().get(method) or own.bounding().get(method)
    if construct is None:
        return {}
    return _numbers(construct)


def _numbers(construct: Callable[..., object]) -> dict[str, float]:
    """What `--option` may set: arguments that are numbers; the seed has an option of its own."""
    from inspect import signature

    parameters = signature(construct).parameters.values()
    return {p.name: p.default for p in parameters if isinstance(p.default, int | float) and p.name != "seed"}


def _everything(listed: list[Method]) -> Everything:
    from optsched.models import formulations
    from optsched.registry import added, skipping, usable_families
    from optsched.solvers import BACKENDS

    models: list[Formulation] = []
    for family in usable_families():
        with skipping(f"family {family!r}"):
            for i, (name, model) in enumerate(formulations(family).items()):
                summary = (model.__doc__ or "").split("\n")[0]
                kind = "MILP" if model.linear else "MINLP"
                models.append(Formulation(family=family, name=name, default=i == 0, kind=kind, summary=summary))
    backends: list[Backend] = []
    for name, backend in BACKENDS.items():
        can = backend.capabilities
        takes = "all-integer MILP" if not can.continuous else "MILP, MINLP" if can.nonlinear else "MILP"
        gives = "schedule and bound" if can.schedules else "LP bound"
        backends.append(Backend(name=name, takes=takes, gives=gives, unavailable=backend.unavailable()))
    unknown = "see the plug-in"
    backends += [Backend(name=name, takes=unknown, gives=unknown, unavailable=_unusable(name)) for name in added("backends")]
    return Everything(methods=listed, formulations=models, backends=backends)


def _unusable(name: str) -> str | None:
    """Why a plug-in's backend cannot be used here."""
    from optsched.solvers import backend

    try:
        backend(name)
    except OptschedError as error:
        return str(error).removeprefix(f"backend {name} cannot be used: ")
    return None


def _lists(found: Everything) -> None:
    out = console()
    columns = [Column("method"), Column("families", wraps=True), Column("bound"), Column("what it does", wraps=True)]
    proven = {True: "proven", False: "none"}
    rows = [[m["name"], ", ".join(m["families"]), proven[m["proves_bound"]], m["summary"]] for m in found["methods"]]
    show(out, columns, rows)
    out.print()
    columns = [Column("family"), Column("formulation"), Column("kind"), Column("what it is", wraps=True)]
    default = {True: " (default)", False: ""}
    rows = [[f["family"], f["name"] + default[f["default"]], f["kind"], f["summary"]] for f in found["formulations"]]
    show(out, columns, rows)
    out.print()
    columns = [Column("backend"), Column("takes"), Column("gives"), Column("here", wraps=True)]
    rows = [[b["name"], b["takes"], b["gives"], b["unavailable"] or "available"] for b in found["backends"]]
    show(out, columns, rows)
    say(out, "\nOptions of a method: optsched methods NAME")


def _one(method: Method) -> None:
    out = console()
    say(out, f"{method['name']}: {method['summary']}")
    say(out, f"families: {', '.join(method['families'])}; bound: {'proven' if method['proves_bound'] else 'none'}")
    kinds: dict[str, list[str]] = {}
    for family, options in method["options"].items():
        text = ", ".join(f"--option {name}={value}" for name, value in options.items()) or "none"
        kinds.setdefault(text, []).append(family)
    for text, families in kinds.items():
        told = "those of the backend, by its own names" if method["name"] == "exact" else text
        say(out, f"options for {', '.join(families)} (defaults): {told}")
