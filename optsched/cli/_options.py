"""What makes an instance says which options it has (`optsched.origins`); here they become click's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import click

from optsched.cli._durations import DURATION
from optsched.origins import Kind, Option

Command = Callable[..., object]
Decorator = Callable[[Command], Command]


class Signed(click.Command):
    """One with an option whose value may be left out or be negative: click would read ``-5`` as another option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        options = (param for param in self.params if isinstance(param, click.Option) and not param.is_flag)
        words = {word for option in options if isinstance(option.flag_value, str) for word in option.opts}
        joined: list[str] = []
        for arg in args:
            word, _, value = arg.partition("=")
            if joined and joined[-1] in words and _negative(arg):
                joined[-1] += f"= {arg}"  # a value that begins with a space is one
            else:
                joined.append(f"{word}= {value}" if word in words and _negative(value) else arg)
        return super().parse_args(ctx, joined)


def _negative(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.startswith("-")


def asked(option: Option, told: str | None = None, *more: str) -> Decorator:
    """An option of a command.

    Parameters
    ----------
    option
        Of what makes an instance.
    told
        Its help, where that is not the option's own.
    more
        Other words for it.
    """
    words, told = [option.flag, *more, option.name], told or option.help
    if option.kind is bool:
        if option.default is True:
            words[0] = f"{option.flag}/--no-{option.flag.removeprefix('--')}"
        return click.option(*words, is_flag=True, default=option.default, show_default=bool(option.default), help=told)
    return click.option(
        *words,
        type=_type(option.kind, option.least),
        default=option.default,
        show_default=option.default is not None,
        multiple=option.many,
        metavar=option.metavar or METAVARS.get(option.kind),
        help=told,
    )


def all_of(decorators: Iterable[Decorator]) -> Decorator:
    """Several options as one decorator, in the order of the help page.

    Parameters
    ----------
    decorators
        Each adds one, or several.
    """

    def decorated(function: Command) -> Command:
        for decorator in reversed(list(decorators)):
            function = decorator(function)
        return function

    return decorated


METAVARS: dict[Kind, str] = {Path: "CSV", timedelta: "SECONDS"}


def _type(kind: Kind, least: int | None) -> click.ParamType[float] | click.ParamType[str] | click.ParamType[int] | type:
    if isinstance(kind, tuple):
        return click.Choice(kind)
    if isinstance(kind, range):
        return click.IntRange(kind.start, kind.stop - 1)
    if kind is timedelta:
        return DURATION
    if least is not None:
        return click.IntRange(min=least) if kind is int else click.FloatRange(min=least)
    return str if kind is Path else kind


def merged(
    options: Mapping[str, Sequence[Option]], aliases: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> list[Decorator]:
    """The options of several families as those of one command, each with whose it is.

    Parameters
    ----------
    options
        By family.
    aliases
        Other words for an option, by its name.
    """
    owners: dict[str, dict[str, Option]] = {}
    for family, own in options.items():
        for option in own:
            owners.setdefault(option.name, {})[family] = option
    found = []
    for of in owners.values():
        texts: dict[str, list[str]] = {}
        for family, option in of.items():
            texts.setdefault(option.help, []).append(family)
        told = " ".join(f"{', '.join(families)}: {_lowered(text)}" for text, families in texts.items())
        told = told if len(options) > 1 else next(iter(texts))
        one = next(iter(of.values()))
        metavar = one.metavar if len({option.metavar for option in of.values()}) == 1 else "VALUE"
        least = one.least if len({option.least for option in of.values()}) == 1 else None
        shared = replace(one, default=None, metavar=metavar, least=least)
        found.append(asked(shared, told, *aliases.get(one.name, ())))
    return found


def _lowered(text: str) -> str:
    """A sentence after a colon: small where its first word is no abbreviation."""
    return text if text[:2].isupper() else text[0].lower() + text[1:]


def given_options(given: Mapping[str, object], options: Iterable[Option]) -> dict[str, object]:
    """Those of the options for which a value was given; others are left to the function.

    Parameters
    ----------
    given
        What click hands on.
    options
        What the function takes.
    """
    return {option.name: given[option.name] for option in options if given.get(option.name) not in (None, ())}


def files(given: Mapping[str, object], options: Iterable[Option]) -> list[str]:
    """Files that are read, which no output may replace.

    Parameters
    ----------
    given
        What click hands on.
    options
        What the function takes.
    """
    found: list[str] = []
    for option in options:
        value = given.get(option.name)
        if option.kind is Path and value:
            found += [str(part) for part in value] if isinstance(value, tuple) else [str(value)]
    return [name.partition("=")[2] or name for name in found]
