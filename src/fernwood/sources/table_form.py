"""What a user may say of a table beside where it is; every kind of table takes some of it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fernwood.sources.text_format import TextFormat

__all__ = ["TEXT_OPTIONS", "TableForm", "about_option"]

TEXT_OPTIONS = frozenset(field.name for field in fields(TextFormat))
"""What says how a text file is written."""

_ABOUT = {
    "layer": "which matrix of an AnnData file is the table",
    "dataset": "which data set of an HDF5 file or Zarr group is the table",
    "empty_chunks": "that chunks of Zarr which are not there hold the fill value",
    "key": "which column the parts of a Parquet folder are joined by",
}


@dataclass(frozen=True)
class TableForm(TextFormat):
    """How a table is written, and what of a file is the table; None lets the file tell.

    Parameters
    ----------
    layer
        Of AnnData: the layer that is read instead of ``X``.
    dataset
        Of HDF5 and Zarr: the path of the data set or array inside the file.
    key
        Of a folder of Parquet parts that stand side by side: the column that their rows are matched by.
    empty_chunks
        Of Zarr: whether chunks that are not there hold the fill value; otherwise they are taken for lost, and refused.

    Examples
    --------
    >>> TableForm(layer="counts").told()
    ('layer',)
    """

    layer: str | None = None
    dataset: str | None = None
    key: str | None = None
    empty_chunks: bool = False


def about_option(name: str) -> str:
    """What an option says, for a sentence.

    Examples
    --------
    >>> about_option("header")
    'how a text file is written'
    """
    return _ABOUT.get(name, "how a text file is written")
