"""`--verbose`: what the package's loggers say, solvers' logs among it, on standard error."""

from __future__ import annotations

import logging

import click


class _Echo(logging.Handler):
    """Lines to standard error, whichever that is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, a line each."""
        named = "" if record.levelno >= logging.WARNING else f"{record.name}: "  # whose log it is, nobody needs to know
        for line in record.getMessage().splitlines():
            click.echo(f"{named}{line}", err=True)


def warnings() -> None:
    """Show what is left out, a plug-in that cannot be loaded for instance."""
    logger = logging.getLogger("optsched")
    if not any(isinstance(handler, _Echo) for handler in logger.handlers):
        logger.addHandler(_Echo(logging.WARNING))


def verbose() -> None:
    """Show everything that loggers of the names `optsched...` are told."""
    logger = logging.getLogger("optsched")
    logger.handlers[:] = [_Echo()]
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
