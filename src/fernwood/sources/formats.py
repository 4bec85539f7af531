"""Which kinds of files and folders are read, and by whom: a table of formats, the first that knows a path opens it.

Formats of other packages join through the entry point group ``fernwood.sources``; ours are asked first.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from fernwood.errors import SourceError, printable, shown
from fernwood.files import is_directory, is_file
from fernwood.shortage import pass_on_shortage
from fernwood.sources.table_form import TEXT_OPTIONS
from fernwood.sources.text_format import COMPRESSED, is_text_name
from fernwood.sources.zarr_marks import is_annotated_zarr, is_zarr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fernwood.sources.base import Source
    from fernwood.sources.table_form import TableForm

__all__ = ["ENTRY_POINTS", "Format", "format_of"]

ENTRY_POINTS = "fernwood.sources"
"""The entry point group; each entry is a `Format`."""


@dataclass(frozen=True)
class Format:
    """A kind of file or folder that holds a table.

    Parameters
    ----------
    title
        What it is called in a sentence, with the endings of its names.
    recognises
        Whether a path, which is there, is of this kind; by its name or by its first bytes, without reading it all.
    open
        The source of such a path.
    options
        The options (fields of `TableForm`) that it takes; all others are refused before it is opened.

    Examples
    --------
    >>> def open_it(path, form):
    ...     ...
    >>> Format("Notes (.notes)", lambda path: path.suffix == ".notes", open_it).title
    'Notes (.notes)'
    """

    title: str
    recognises: Callable[[Path], bool]
    open: Callable[[Path, TableForm], Source]
    options: frozenset[str] = frozenset()


def _ends_with(*endings: str, packed: bool = False) -> Callable[[Path], bool]:
    """Files whose names end like this; `packed` ones also with the ending of a compression behind it."""

    def recognises(path: Path) -> bool:
        suffixes = [suffix.lower() for suffix in path.suffixes]
        if packed and suffixes and suffixes[-1] in COMPRESSED:
            suffixes.pop()
        return is_file(path) and bool(suffixes) and suffixes[-1] in endings

    return recognises


def _open_npy(path: Path, _: TableForm) -> Source:
    from fernwood.sources.arrays import open_npy

    return open_npy(path)


def _open_parquet(path: Path, _: TableForm) -> Source:
    from fernwood.sources.parquet import open_parquet

    return open_parquet(path)


def _open_ipc(path: Path, _: TableForm) -> Source:
    from fernwood.sources.parquet import open_ipc

    return open_ipc(path)


def _open_text(path: Path, form: TableForm) -> Source:
    from fernwood.sources.text import TextSource

    return TextSource(path, form)


def _open_plink(path: Path, form: TableForm) -> Source:
    from fernwood.sources.plink import open_plink

    return open_plink(path, form)


def _is_cells(path: Path) -> bool:
    from fernwood.sources.cell_folders import find_matrix

    return find_matrix(path) is not None


def _open_cells(path: Path, form: TableForm) -> Source:
    from fernwood.sources.matrix_market import open_cells

    return open_cells(path, form)


def _open_matrix(path: Path, form: TableForm) -> Source:
    from fernwood.sources.matrix_market import open_matrix

    return open_matrix(path, form)


def _open_svmlight(path: Path, form: TableForm) -> Source:
    from fernwood.sources.svmlight import open_svmlight

    return open_svmlight(path, form)


def _open_h5ad(path: Path, form: TableForm) -> Source:
    from fernwood.sources.annotated import open_annotated
    from fernwood.sources.hdf5 import Hdf5File

    return open_annotated(Hdf5File(path, extra="h5ad"), form.layer)


def _open_annotated_zarr(path: Path, form: TableForm) -> Source:
    from fernwood.sources.annotated import open_annotated
    from fernwood.sources.zarr_arrays import ZarrFolder

    return open_annotated(ZarrFolder(path, empty_chunks=form.empty_chunks), form.layer)


def _open_hdf5(path: Path, form: TableForm) -> Source:
    from fernwood.sources.hdf5 import open_hdf5

    return open_hdf5(path, form)


def _open_zarr(path: Path, form: TableForm) -> Source:
    from fernwood.sources.zarr_arrays import open_zarr

    return open_zarr(path, form)


def _open_folder(path: Path, form: TableForm) -> Source:
    from fernwood.sources.parquet import open_parquet_folder

    return open_parquet_folder(path, form.key)


_OURS = (
    Format(
        "text (.csv, .tsv, .txt, also .gz, .zst)", lambda p: is_file(p) and is_text_name(p), _open_text, TEXT_OPTIONS
    ),
    Format("Parquet (.parquet)", _ends_with(".parquet", ".pq"), _open_parquet),
    Format("Arrow (.feather, .arrow)", _ends_with(".feather", ".arrow", ".ipc"), _open_ipc),
    Format("NumPy (.npy)", _ends_with(".npy"), _open_npy),
    Format("PLINK (.bed with .bim and .fam)", _ends_with(".bed"), _open_plink),
    Format("10x folders (matrix.mtx with barcodes and features)", _is_cells, _open_cells),
    Format("MatrixMarket (.mtx, also .gz)", _ends_with(".mtx", packed=True), _open_matrix, frozenset({"transposed"})),
    Format(
        "SVMlight (.svm, .svmlight, .libsvm, also .gz)",
        _ends_with(".svm", ".svmlight", ".libsvm", packed=True),
        _open_svmlight,
    ),
    Format("AnnData (.h5ad)", _ends_with(".h5ad"), _open_h5ad, frozenset({"layer"})),
    Format("HDF5 (.h5, .hdf5)", _ends_with(".h5", ".hdf5"), _open_hdf5, frozenset({"dataset", "layer"})),
    Format("AnnData in Zarr", is_annotated_zarr, _open_annotated_zarr, frozenset({"layer", "empty_chunks"})),
    Format("Zarr (.zarr)", is_zarr, _open_zarr, frozenset({"dataset", "empty_chunks"})),
    # Any folder that nobody else knows: it says itself what it lacks.
    Format("folders of Parquet files", is_directory, _open_folder, frozenset({"key"})),
)


def format_of(path: Path) -> Format:
    """The format of a file or folder.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     format_of(pathlib.Path(folder)).title
    'folders of Parquet files'
    """
    for known in _formats():
        if known.recognises(path):
            return known
    titles = ", ".join(known.title for known in _formats())
    raise SourceError(f"the name of {shown(path.name)} does not say what it is; Fernwood reads {titles}")


def _formats() -> Iterator[Format]:
    """Ours, those of other packages, and last the folder that is anybody's."""
    yield from _OURS[:-1]
    yield from _theirs()
    yield _OURS[-1]


def _theirs() -> Iterator[Format]:
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            found = entry.load()
        except Exception as error:
            pass_on_shortage(error)
            raise SourceError(
                f"the source {shown(entry.name)} of another package cannot be loaded ({printable(str(error))}); "
                "update or remove that package"
            ) from error
        if not isinstance(found, Format):
            raise SourceError(
                f"the source {shown(entry.name)} of another package is a {type(found).__name__}, not a "
                "fernwood.sources.formats.Format; update or remove that package"
            )
        yield found
