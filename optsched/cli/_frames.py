"""Tables go to files: the name says as what, and nothing else than a table is written over."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.cli._output import tried
from optsched.errors import InputError, OptschedError
from optsched.files import is_node, read_bytes, write_bytes
from optsched.report import number

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet", ".md", ".json")
OURS = re.compile(rb'"format"\s*:\s*"optsched-')  # how our files begin
HEAD = 200  # bytes


def table_file(output: str, inputs: Iterable[str | None] = ()) -> Path:
    """The path of a table that can be written.

    Raises
    ------
    InputError
        Its name ends in something else, or nothing can be written there.
    OptschedError
        pandas cannot write Parquet here.
    """
    path = Path(output)
    if path.suffix not in ENDINGS:
        raise InputError(path, "", f"a table ends in {', '.join(ENDINGS)}")
    return table_tried(output, inputs)


def table_files(outputs: Iterable[str], inputs: Sequence[str | None] = ()) -> list[Path]:
    """The same of several, each once.

    Raises
    ------
    InputError
        As for one.
    OptschedError
        As for one.
    """
    return list(dict.fromkeys(table_file(output, inputs) for output in outputs))


def table_tried(output: str, inputs: Iterable[str | None]) -> Path:
    """The same, whatever its name ends in."""
    refuse_parquet_without_engine(output)
    found = tried(output, inputs=inputs)
    refuse_ours(output)
    return found


def refuse_ours(file: str) -> None:
    """A log or a table never replaces an instance, a result or events.

    Raises
    ------
    InputError
        It would.
    """
    path = Path(file)
    if path.is_file() and not is_node(path) and OURS.search(read_bytes(path)[:HEAD]):
        raise InputError(path, "", "is an instance, a result or an events file; give the output another name")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """As the ending says, atomically."""
    write_bytes(path, {".csv": _csv, ".parquet": parquet, ".md": _markdown, ".json": _json}[path.suffix](table))


def _csv(table: pd.DataFrame) -> bytes:
    return str(table.to_csv(index=False, lineterminator="\n")).encode()


def _json(table: pd.DataFrame) -> bytes:
    return (records(table, indent=1) + "\n").encode()


def records(table: pd.DataFrame, indent: int | None = None) -> str:
    """A JSON list of an object a row, null for what is not known; numbers have all their digits."""
    return json.dumps(_known(table.to_dict("records")), indent=indent, allow_nan=False, default=str)


def _known(value: object) -> object:
    import pandas as pd

    if isinstance(value, Mapping):
        return {str(name): _known(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_known(part) for part in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _known(value.tolist())
    missing = value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value))
    return None if missing else value


def parquet(table: pd.DataFrame) -> bytes:
    """The content of a Parquet file."""
    data = io.BytesIO()
    table.to_parquet(data, index=False)
    return data.getvalue()


def _markdown(table: pd.DataFrame) -> bytes:
    """A pipe table; figures with as many digits as a reader can use."""
    import pandas as pd

    figures = [pd.api.types.is_numeric_dtype(table[name]) for name in table]

    def cell(value: object) -> str:
        if value is None or value != value:
            return ""
        return number(float(value)) if isinstance(value, float) else str(value).replace("|", "\\|")

    head = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + "|".join("---:" if f else "---" for f in figures) + "|"]
    body = ["| " + " | ".join(map(cell, row)) + " |" for row in table.itertuples(index=False)]
    return ("\n".join([*head, *body]) + "\n").encode()


def refuse_parquet_without_engine(name: str) -> None:
    """Before the work, not after it.

    Raises
    ------
    OptschedError
        pandas cannot write Parquet here.
    """
    from importlib.util import find_spec

    if name.endswith(".parquet") and not (find_spec("pyarrow") or find_spec("fastparquet")):
        raise OptschedError(
            f"{name}: pandas writes Parquet with pyarrow or fastparquet, which are not installed; .csv and .json do"
        )
