"""What long work shows on standard error: a line that is kept up to date, or one every 30 s where no terminal is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

EVERY_S = 30.0  # between two lines, without a terminal

Show = Callable[[str], None]


@contextmanager
def live(what: str, silent: bool = False, every_s: float | None = None) -> Iterator[Show]:
    """Show `what` is being done and what the block says of it; on a terminal one line, which goes away at the end.

    Parameters
    ----------
    what
        A word or two, at the beginning of every line.
    silent
        Show nothing.
    every_s
        Seconds between two lines without a terminal; `EVERY_S` where None.
    """
    if silent:
        yield lambda text: None
        return
    from rich.live import Live
    from rich.text import Text

    from optsched.cli._show import console

    screen = console(stderr=True)
    if not screen.is_terminal:
        with _heartbeat(what, EVERY_S if every_s is None else every_s) as show:
            yield show
        return
    with Live(Text(what), console=screen, transient=True, refresh_per_second=8) as line:
        yield lambda text: line.update(Text(f"{what}: {text}", no_wrap=True, overflow="ellipsis"))


@contextmanager
def _heartbeat(what: str, every_s: float) -> Iterator[Show]:
    """A line every so often, also while the block itself is silent."""
    began, ended, latest = time.monotonic(), threading.Event(), [""]

    def beat() -> None:
        while not ended.wait(every_s):
            said = f", {latest[0]}" if latest[0] else ""
            click.echo(f"{what}: {time.monotonic() - began:.0f} s{said}", err=True)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lambda text: latest.__setitem__(0, text)
    finally:
        ended.set()
        thread.join(1.0)  # it ends with the process in any case
