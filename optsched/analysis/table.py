"""A frame that shows all of its columns, those that matter first."""

from __future__ import annotations

import pandas as pd


class Table(pd.DataFrame):  # type: ignore[misc]  # pandas comes without types
    """What `optsched.compare` returns: printed in blocks of columns, where pandas would leave those in the middle out."""

    def __repr__(self) -> str:
        """All columns."""
        return str(self.to_string(line_width=pd.get_option("display.width")))

    __str__ = __repr__
