"""Files that hold several arrays under paths, HDF5 files and Zarr folders, and which of the arrays is the table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fernwood.errors import SourceError, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import ModuleType

    from fernwood.sources.chunks import ChunkedSource

__all__ = ["Container", "needed", "open_dataset"]

_NAMED = 5


class Container(ABC):
    """A file or folder of arrays in groups."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.title = shown(path.name)

    @abstractmethod
    def opened(self) -> AbstractContextManager[Any]:
        """The group, or the only array, that all others are in."""

    @abstractmethod
    def arrays(self, root: Any) -> Iterator[tuple[str, Any]]:
        """All arrays below, with their paths."""

    def check(self, array: Any, path: str) -> None:
        """Refuse an array that is not whole, where that can be told."""
        del array, path

    def at(self, path: str) -> Callable[[], AbstractContextManager[Any]]:
        """What opens the node at a path; that of the root is empty."""

        @contextmanager
        def opened() -> Iterator[Any]:
            with self.opened() as root:
                yield root[path] if path else root

        return opened


def needed(module: str, extra: str, what: str) -> ModuleType:
    """A library that is an extra of the installation.

    Examples
    --------
    >>> needed("json", "json", "JSON").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise SourceError(
            f"{what} needs the library {module.split('.')[0]}, which is not installed; pip install 'fernwood[{extra}]'"
        ) from error


def open_dataset(container: Container, dataset: str | None) -> ChunkedSource:
    """The array at a path, or the only one of two dimensions."""
    from fernwood.sources.chunks import ChunkedSource

    with container.opened() as root:
        found = dict(container.arrays(root))
        path = _chosen(found, dataset, container.title)
        container.check(found[path], path)
        title = f"{shown(path)} in {container.title}" if path else container.title
        array = found[path]
        if len(array.shape) != 2:
            rule = "a table has two dimensions: rows × columns"
            raise SourceError(f"{title} has shape {tuple(array.shape)}; {rule}{_hint(found)}")
        if array.dtype.kind not in "biuf":
            raise SourceError(
                f"{title} holds values of type {shown(array.dtype)}, not real numbers; give another with "
                f"--dataset (dataset=){_hint(found)}"
            )
    return ChunkedSource(container.at(path), title)


def _chosen(found: dict[str, Any], dataset: str | None, title: str) -> str:
    if dataset is not None:
        path = dataset.strip("/")
        if path not in found:
            raise SourceError(f"{title} has no data set {shown(dataset)}{nearest(path, found) or _hint(found)}")
        return path
    if list(found) == [""]:
        return ""
    tables = _tables(found)
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise SourceError(
            f"{title} holds no array of numbers in two dimensions, rows × columns; write one{_all(found)}"
        )
    raise SourceError(
        f"{title} holds {len(tables)} arrays of two dimensions; say which one is the table with --dataset (dataset=)"
        f"{_hint(found)}"
    )


def _tables(found: dict[str, Any]) -> list[str]:
    return [path for path, array in found.items() if len(array.shape) == 2 and array.dtype.kind in "biuf"]


def _hint(found: dict[str, Any]) -> str:
    return _listed("it has", _tables(found))


def _all(found: dict[str, Any]) -> str:
    return _listed("it has", [f"{path} of shape {tuple(array.shape)}" for path, array in found.items()])


def _listed(words: str, names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f": {words} {', '.join(shown(name) for name in names[:_NAMED])}{more}" if names else ""
