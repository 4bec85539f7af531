"""Tables from anywhere, as bands of columns.

`open_source` takes what a user has (a path, an array, a sparse matrix, a data frame) and returns a `Source`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.errors import SourceError, shown
from fernwood.files import exists, is_file, nearest_path, size_of
from fernwood.shortage import pass_on_shortage
from fernwood.sources.base import Band, Kind, Progress, ProgressCallback, Reader, Source, Workspace
from fernwood.sources.place import Url, as_place

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fernwood.sources.place import Place
    from fernwood.sources.table_form import TableForm

__all__ = [
    "Band",
    "Kind",
    "Progress",
    "ProgressCallback",
    "Reader",
    "Source",
    "Workspace",
    "as_array",
    "is_there",
    "open_source",
]


def open_source(table: Any, form: TableForm | None = None) -> Source:
    """The source of a table: a path, a NumPy array, a SciPy sparse matrix, an AnnData object or a data frame.

    Parameters
    ----------
    table
        What holds the table.
    form
        How the table is written, and what of a file is the table; a table refuses what is not about it.

    Examples
    --------
    >>> import numpy as np
    >>> open_source(np.zeros((3, 2))).names[1]
    'x1'
    """
    if isinstance(table, Source):
        return table
    from fernwood.sources.table_form import TableForm

    form = form or TableForm()
    if isinstance(table, str | os.PathLike):
        return _open_path(on_disk(as_place(table)), form)
    if _is_annotated(table):
        from fernwood.sources.annotated import source_of_annotated

        _refuse_options(form, "an AnnData object", frozenset({"layer"}))
        return source_of_annotated(table, form.layer)
    _refuse_options(form, f"a {type(table).__name__}")
    if isinstance(table, np.ma.MaskedArray):
        raise SourceError("a masked array hides its values; give table.filled(numpy.nan), where NaN is missing")
    if isinstance(table, np.ndarray):
        from fernwood.sources.arrays import ArraySource, NpySource

        behind = NpySource.of_memmap(table) if isinstance(table, np.memmap) else None
        return behind or ArraySource(table)
    if hasattr(table, "tocsc"):
        from fernwood.sources.sparse import SparseSource

        return SparseSource(table)
    from fernwood.sources.frames import FrameSource, is_frame

    if is_frame(table):
        return FrameSource(table)
    if hasattr(table, "__array__") or isinstance(table, list | tuple):
        from fernwood.sources.arrays import ArraySource

        return ArraySource(as_array(table))
    raise SourceError(
        f"a {type(table).__name__} is no table; give a path, an array, a sparse matrix, AnnData or a data frame"
    )


def _is_annotated(table: Any) -> bool:
    """Whether it is an AnnData object, without loading anndata."""
    anndata = sys.modules.get("anndata")
    return anndata is not None and isinstance(table, anndata.AnnData)


def as_array(values: Any) -> NDArray[np.generic]:
    """An array of a sequence; numbers beside words stay what they are instead of becoming words."""
    try:
        array = np.asarray(values)
        return np.array(values, object) if array.dtype.kind in "US" and not hasattr(values, "dtype") else array
    except ValueError as error:
        raise SourceError("the rows of the list differ in length; a table has as many values in every row") from error


def _refuse_options(form: TableForm, what: str, taken: frozenset[str] = frozenset()) -> None:
    """Refuse what would otherwise be ignored."""
    from fernwood.sources.table_form import about_option

    told = [name for name in form.told() if name not in taken]
    if told:
        raise SourceError(f"{told[0]} says {about_option(told[0])}, and {what} is none; leave it out")


def is_there(path: Path) -> bool:
    """Whether a file or directory is to be seen; a name that no file could have, or where nobody may look, is not."""
    try:
        return exists(path)
    except OSError:
        return False


def on_disk(place: Place) -> Path:
    """The path of a table; at a URL there are stores only."""
    if isinstance(place, Url):
        raise SourceError(
            f"{shown(place)} is a URL, and tables are read from disk; copy it to one (a store may be at a URL)"
        )
    return place


def check_path(path: Path) -> None:
    """Refuse the path of a table that is not there, or where nobody may look."""
    try:
        there = exists(path)
    except OSError as error:
        pass_on_shortage(error)
        raise SourceError(
            f"{shown(path)} cannot be looked at: {error.strerror}; mend that, or check the path"
        ) from error
    if not there:
        raise SourceError(f"there is no file {shown(path)}{nearest_path(path) or '; check the path'}")


def _open_path(path: Path, form: TableForm) -> Source:
    check_path(path)
    from fernwood.sources.formats import format_of

    if is_file(path) and size_of(path) == 0:
        raise SourceError(f"{shown(path.name)} is empty; give a file that holds a table, or copy it again")
    known = format_of(path)
    _refuse_options(form, shown(path.name), known.options)
    return known.open(path, form)
