"""Tables go to files: the name says as what, and nothing else than a table is written over."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.cli._output import tried
from optsched.errors import InputError
from optsched.files import write_bytes
from optsched.report import number

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet", ".md", ".json")


def table_file(output: str, inputs: Iterable[str | None] = ()) -> Path:
    """The path of a table that can be written.

    Raises
    ------
    InputError
        Its name ends in something else, or nothing can be written there.
    OptschedError
        pandas cannot write Parquet here.
    """
    from optsched.cli._replayed import refuse_parquet_without_engine

    path = Path(output)
    if path.suffix not in ENDINGS:
        raise InputError(path, "", f"a table ends in {', '.join(ENDINGS)}")
    refuse_parquet_without_engine(output)
    return tried(path, inputs=inputs)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """As the ending says, atomically."""
    write_bytes(path, {".csv": _csv, ".parquet": _parquet, ".md": _markdown, ".json": _json}[path.suffix](table))


def _csv(table: pd.DataFrame) -> bytes:
    return str(table.to_csv(index=False, lineterminator="\n")).encode()


def _json(table: pd.DataFrame) -> bytes:
    return (str(table.to_json(orient="records", indent=1, double_precision=15)) + "\n").encode()


def _parquet(table: pd.DataFrame) -> bytes:
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
