"""`optsched report`: results side by side on one page of HTML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._output import tried
from optsched.errors import InputError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.result import Result

EPILOG = """\b
Examples:
  optsched example geo-small -o y.json
  optsched solve y.json -o exact.json
  optsched replay y.json --policy rolling -o rolling.json
  optsched report exact.json rolling.json -o report.html
  optsched report results/*.json -o report.html
  optsched report r.json --instance x.json -o r.html
"""
ENDS = (".html", ".htm")
MARK = b'name="generator" content="optsched'  # what a page of ours has near its beginning
HEAD = 2000  # bytes


@click.command("report", no_args_is_help=True, epilog=EPILOG)
@click.argument("result_files", metavar="RESULT...", nargs=-1, required=True, type=_input.FILE)
@click.option("-o", "--output", required=True, metavar="out.html", help="The page: .html.")
@click.option(
    "--instance",
    "instance_files",
    metavar="FILE",
    multiple=True,
    type=_input.FILE,
    help="An instance that results are about; may be repeated. [default: the files that the results name]",
)
@click.option("--json", "as_json", is_flag=True, help="Say what was written as one JSON object.")
def command(result_files: tuple[str, ...], output: str, instance_files: tuple[str, ...], as_json: bool) -> None:
    """Put results on one page of HTML, to be opened in any browser without a network.

    RESULTs are files that `optsched solve -o` and `optsched replay -o` write, of one instance or of several. The page compares
    them in a table that is sorted by clicking its heads, and shows each over time: jobs, load against capacity, price and
    carbon, objective, bound and gap. All of it can be hovered and zoomed. The referee judges every result first.
    """
    path = page_file(output, [*result_files, *instance_files])
    _input.once(*result_files, *instance_files)
    from optsched.analysis.page import page, plotly_js
    from optsched.files import write_bytes

    plotly_js()  # that it is missing is said before the work
    listed = {name: _input.instance(name) for name in instance_files}
    given = {instance.sha256: instance for instance in listed.values()}
    results = [_input.result(file) for file in result_files]
    about = {result.instance.sha256 for result in results}
    for name, instance in listed.items():
        if instance.sha256 not in about:
            raise InputError(_input.shown(name), "", "is the instance of none of these results")
    for result, file in zip(results, result_files, strict=True):
        given.setdefault(result.instance.sha256, _instance(result, file, given))
        if found := result.verify(given[result.instance.sha256]):
            raise InputError(_input.shown(file), "", f"does not pass the referee: {found[0]}; see `optsched check`")
    write_bytes(path, page(results, given.values(), names(result_files)).encode("utf-8", "replace"))
    count = len({result.instance.sha256 for result in results})
    if as_json:
        click.echo(json.dumps({"file": output, "results": len(results), "instances": count}))
    else:
        of = "" if count == 1 else f" of {count} instances"
        click.echo(f"{path}: {len(results)} result{'s' if len(results) > 1 else ''}{of}", err=True)


def page_file(output: str, inputs: list[str]) -> Path:
    """The path of a page that can be written.

    Raises
    ------
    InputError
        Another ending, an input, a file that is no page of ours, or nothing can be written there.
    """
    path = tried(output, inputs=inputs, ends=ENDS)
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as stream:
            if MARK not in stream.read(HEAD):
                raise InputError(path, "", "exists and is not a page of optsched report; give the page another name")
    return path


def names(files: tuple[str, ...]) -> list[str]:
    """What files are called on the page: their names, or their paths where two have one name."""
    short = [_input.shown(file) if file == _input.STDIN else Path(file).name for file in files]
    return short if len(set(short)) == len(short) else [_input.shown(file) for file in files]


def _instance(result: Result, file: str, given: dict[str, Instance]) -> Instance:
    """The instance of a result: among those given, or where it says."""
    from optsched.cli._instance import instance_of

    return given.get(result.instance.sha256) or instance_of(result, file, None)
