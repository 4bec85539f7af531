"""AnnData as a source, in a file, in a Zarr folder or in memory: a matrix with what describes its rows and columns.

The matrix (``X``, a layer, or ``raw``) is the table, ``var_names`` name its columns, and ``obs`` stands beside it.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fernwood.errors import FernwoodError, SourceError, nearest, shown
from fernwood.shortage import pass_on_shortage
from fernwood.sources.arrays import ArraySource
from fernwood.sources.arrow import arrow_band, first_line
from fernwood.sources.base import Band, Reader, Source, Workspace
from fernwood.sources.chunks import ChunkedSource, SparseFileSource
from fernwood.sources.containers import needed
from fernwood.sources.names import ListedNames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from fernwood.sources.containers import Container

__all__ = ["AnnotatedSource", "column_order", "open_annotated", "source_of_annotated", "var_names"]

_SPARSE = {"csr_matrix": False, "csc_matrix": True}
_OLD = "was written by an anndata before 0.7, whose form is not read; open it with anndata and write it again"


class AnnotatedSource(Source):
    """A matrix with names, and ``obs`` beside it."""

    def __init__(self, matrix: Source, names: ListedNames, obs: Source, title: str) -> None:
        if len(names) != len(matrix.names):
            raise SourceError(
                f"{matrix.title} has {len(matrix.names)} columns and var of {title} has {len(names)} names; they must "
                "agree: write the file again"
            )
        self._matrix = matrix
        self.title = title
        self.names = names
        self.beside = obs
        self.n_bytes = matrix.n_bytes

    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> AbstractContextManager[Reader]:
        """Open the matrix to read some columns."""
        return self._matrix.reading(columns, workspace)


def open_annotated(container: Container, layer: str | None) -> AnnotatedSource:
    """The source of a file or folder."""
    read = needed("anndata.io", "h5ad", f"reading {container.title}").read_elem
    with _understood(container.title), container.opened() as root:
        where, about = _place_of(root, layer, container.title)
        node = root[where]
        title = f"{shown(where)} in {container.title}"
        matrix: Source
        if hasattr(node, "shape"):
            container.check(node, where)
            matrix = ChunkedSource(container.at(where), title)
        else:
            by_columns, shape = _sparse_form(node, container.title)
            for name in ("data", "indices", "indptr"):
                if name != "indptr" or node["data"].shape[0]:  # of nothing at all, all zeros are left out
                    container.check(node[name], f"{where}/{name}")
            matrix = SparseFileSource(container.at(where), shape, by_columns, title)
        names = _strings(read(root[about][_index_name(root[about], container.title)]))
        return AnnotatedSource(matrix, ListedNames(names), _ObsSource(container, read), container.title)


@contextmanager
def _understood(title: str) -> Iterator[None]:
    """Turn what anndata and the libraries below say of a file that is not theirs into one sentence."""
    try:
        yield
    except FernwoodError:
        raise
    except Exception as error:
        pass_on_shortage(error)
        raise SourceError(
            f"{title} is no AnnData that can be read ({first_line(error)[:200]}); write it again with anndata"
        ) from error


def var_names(container: Container) -> pa.Array:
    """The names of the columns of ``X`` in a file or folder."""
    read = needed("anndata.io", "h5ad", f"reading {container.title}").read_elem
    with _understood(container.title), container.opened() as root:
        if "var" not in root:
            raise SourceError(f"{container.title} is no AnnData: it has no var; give one that has")
        column_order(root["var"])  # a list that cannot be read could not be added to, either
        return _strings(read(root["var"][_index_name(root["var"], container.title)]))


def column_order(frame: Any) -> list[str]:
    """The names of the columns of ``obs`` or ``var`` in a file or folder, but for their index."""
    return [str(name) for name in frame.attrs.get("column-order", ())]


def _place_of(root: Any, layer: str | None, title: str) -> tuple[str, str]:
    """Where the matrix is, and what describes its columns."""
    layers = list(root["layers"]) if "layers" in root else []
    # Where there was no X, some releases of anndata write one without a shape.
    has_x = "X" in root and getattr(root["X"], "shape", ()) is not None
    if layer is None:
        if has_x:
            return "X", "var"
        raise SourceError(f"{title} has no X; name a layer with --layer (layer=){_listed(layers)}")
    if layer in layers:
        return f"layers/{layer}", "var"
    if layer == "raw" and "raw" in root and "X" in root["raw"]:
        return "raw/X", "raw/var"
    if layer == "X" and has_x:
        return "X", "var"
    raise SourceError(f"{title} has no layer {shown(layer)}{nearest(layer, layers) or _listed(layers)}")


def _listed(layers: list[str]) -> str:
    return f"; it has {', '.join(shown(name) for name in layers[:5])}" if layers else "; it has none: leave it out"


def _sparse_form(group: Any, title: str) -> tuple[bool, tuple[int, int]]:
    form = str(group.attrs.get("encoding-type", ""))
    if form not in _SPARSE:
        if "h5sparse_format" in group.attrs:
            raise SourceError(f"{title} {_OLD}")
        raise SourceError(f"the matrix of {title} is of the form {shown(form)}; write it as an array, CSR or CSC")
    n_rows, n_columns = (int(n) for n in group.attrs["shape"])
    return _SPARSE[form], (n_rows, n_columns)


def _index_name(frame: Any, title: str) -> str:
    name = frame.attrs.get("_index") if not hasattr(frame, "shape") else None
    if name is None:
        raise SourceError(f"{title} {_OLD}")
    return str(name)


class _ObsSource(Source):
    """``obs`` of a file: each column is read when it is asked for."""

    def __init__(self, container: Container, read: Callable[[Any], Any]) -> None:
        self._container = container
        self._read = read
        self.title = f"obs of {container.title}"
        with _understood(container.title), container.opened() as root:
            _index_name(root["obs"], container.title)
            self.names = ListedNames(column_order(root["obs"]))
        self.n_bytes = 0

    @contextmanager
    def reading(self, columns: NDArray[np.int64], workspace: Workspace) -> Iterator[Reader]:  # noqa: ARG002
        """Read some columns."""
        names = [self.names[int(place)] for place in columns]
        with self._container.opened() as root:
            with _understood(self._container.title):
                found = {name: as_arrow(self._read(root["obs"][name]), name) for name in names}
                if len({len(column) for column in found.values()}) > 1:
                    raise ValueError("columns of obs differ in length")
            yield _ObsReader(found, names)


class _ObsReader(Reader):
    def __init__(self, columns: dict[str, pa.Array], names: list[str]) -> None:
        self._columns = columns
        self._names = names
        self.n_rows = len(columns[names[0]]) if names else 0

    def overhead(self) -> int:
        return 24 * self.n_rows

    def band(self, start: int, stop: int) -> Band:
        return arrow_band([(name, self._columns[name]) for name in self._names[start:stop]], self.n_rows)


def as_arrow(values: Any, name: str) -> pa.Array:
    """A column of obs, as anndata reads it, in Arrow; pandas and Arrow need not know each other for it."""
    if hasattr(values, "categories"):
        codes = np.asarray(values.codes)
        labels = as_arrow(np.asarray(values.categories), name)  # Arrow spells numbers and booleans, as those of a frame
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes < 0), labels)
    missing = np.asarray(values.isna()) if hasattr(values, "isna") else None
    if missing is not None:  # an extension type of pandas
        if values.dtype.kind in "biuf":
            plain = values.to_numpy(dtype=values.dtype.numpy_dtype, na_value=0) if missing.any() else values.to_numpy()
            return pa.array(np.asarray(plain, values.dtype.numpy_dtype), mask=missing)
        return pa.array([None if gone else str(v) for v, gone in zip(values, missing, strict=True)], pa.large_string())
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind in "biuf":
        return pa.array(array.astype(array.dtype.newbyteorder("="), copy=False))
    if array.ndim == 1 and array.dtype.kind in "OUT":
        return _strings(array)
    raise SourceError(
        f"column {shown(name)} of obs is of type {shown(array.dtype)}, which is neither numbers, booleans nor text; "
        "convert it"
    )


def _strings(values: Any) -> pa.Array:
    try:
        return pa.array(values, pa.large_string())
    except (pa.ArrowException, TypeError):
        pass  # an array or an index that Arrow does not know, or something among the words that is none
    return pa.array([v if isinstance(v, str) or v is None else str(v) for v in values], pa.large_string())


def source_of_annotated(adata: Any, layer: str | None) -> AnnotatedSource:
    """The source of an AnnData object, in memory or backed."""
    from fernwood.sources.frames import FrameSource

    title = "the AnnData object"
    where, var_names = _matrix_of(adata, layer, title)
    obs = FrameSource(adata.obs)
    obs.title = "obs of the AnnData object"
    return AnnotatedSource(_source_of(where, title), ListedNames(_strings(var_names)), obs, title)


def _matrix_of(adata: Any, layer: str | None, title: str) -> tuple[Any, Any]:
    if layer is None or (layer == "X" and layer not in adata.layers):
        if adata.X is None:
            raise SourceError(f"{title} has no X; name a layer with layer={_listed(list(adata.layers))}")
        return adata.X, adata.var_names
    if layer in adata.layers:
        return adata.layers[layer], adata.var_names
    if layer == "raw" and adata.raw is not None:
        return adata.raw.X, adata.raw.var_names
    raise SourceError(
        f"{title} has no layer {shown(layer)}{nearest(layer, adata.layers) or _listed(list(adata.layers))}"
    )


def _source_of(matrix: Any, title: str) -> Source:
    if hasattr(matrix, "tocsc"):
        from fernwood.sources.sparse import SparseSource

        return SparseSource(matrix, title)
    if hasattr(matrix, "group"):  # backed
        by_columns, shape = _sparse_form(matrix.group, title)
        return SparseFileSource(lambda: nullcontext(matrix.group), shape, by_columns, title)
    if hasattr(matrix, "chunks") and not hasattr(matrix, "compute"):
        return ChunkedSource(lambda: nullcontext(matrix), title)
    if isinstance(matrix, np.ndarray):
        return ArraySource(np.asarray(matrix), title)
    raise SourceError(
        f"the matrix of {title} is a {type(matrix).__name__}; bring it into memory first (adata.to_memory())"
    )
