"""`--verbose`: what the package's loggers say, solvers' logs among it, on standard error."""

from __future__ import annotations

import logging

import click


class _Echo(logging.Handler):
    """Lines to standard error, whichever that is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, a line each."""
        for line in self.format(record).splitlines():
            click.echo(line, err=True)


def verbose() -> None:
    """Show everything that loggers of the names `optsched...` are told."""
    handler = _Echo()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("optsched")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
