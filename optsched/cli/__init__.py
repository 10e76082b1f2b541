"""The command line: one verb a file, loaded when it is typed."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from optsched import interrupts
from optsched.cli import _logging, _streams
from optsched.cli._lines import warn
from optsched.cli._verbs import Verbs
from optsched.errors import OptschedError
from optsched.interrupts import INTERRUPTED

GARBAGE = 200_000  # objects between two collections: with Python's 700, a tenth of a small run looks for what is not there


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="optsched")
def cli() -> None:
    """Schedule compute jobs, and prove how good the schedule is.

    \b
    First steps:
      optsched example armida-snapshot -o x.json
      optsched solve x.json -o x.result.json
      optsched check x.json x.result.json
      optsched plot x.result.json -o x.png

    A file called - is standard input: optsched generate masac | optsched solve -

    Exit codes: 0 all is well, 1 no schedule or a broken rule, 2 bad input or nothing said (which prints this help), 130 after
    Ctrl-C, 143 after SIGTERM.
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every error that a user can cause is one line."""
    gc.set_threshold(GARBAGE)
    # before NumPy is loaded: products here are small, and on a busy machine threads take ten times as long for them
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    interrupts.listen()
    _streams.open_output()
    _logging.warnings()
    try:
        code = _run(args)
    except KeyboardInterrupt:  # once more, while the first was answered
        code = INTERRUPTED
    asked = interrupts.exit_code()
    if asked is not None and code in (0, 1, INTERRUPTED):  # whatever has been kept, nobody may take it for the end
        code = asked
    if (failed := _streams.flushed()) is not None:
        code = _unprinted(failed)
    if "optsched.monitor" in sys.modules:
        os._exit(code)  # a solver's thread that still runs must neither delay the end nor abort it
    sys.exit(code)


def _unprinted(error: OSError) -> int:
    """Standard output takes nothing: that is told, and the exit code."""
    _streams.give_up()
    warn(f"error: standard output: cannot be written ({error.strerror or error})")
    return 2


def _run(args: Sequence[str] | None) -> int:
    try:
        outcome = cli.main(args=args, prog_name="optsched", standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.exceptions.NoArgsIsHelpError as page:  # a bare verb: the page as it is
        click.echo(page.format_message(), err=True)
        return page.exit_code
    except click.ClickException as error:
        hint = f" (see {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        warn(f"error: {' '.join(error.format_message().split())}{hint}")
        return error.exit_code
    except OptschedError as error:
        warn(f"error: {error}")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        warn("interrupted")
        return interrupts.exit_code() or INTERRUPTED
    except BrokenPipeError:
        _streams.give_up()
        return 0
    except SystemExit:  # click and rich leave so where the reader has left, e.g. `| head`
        if not _streams.left():
            raise
        _streams.give_up()
        return 0
    except Exception as error:
        if _streams.flushed() is not None:  # main says so
            return 2
        if os.environ.get("OPTSCHED_TRACEBACK"):
            raise
        warn(
            f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]} "
            "(please report it; OPTSCHED_TRACEBACK=1 shows where)"
        )
        return 1
