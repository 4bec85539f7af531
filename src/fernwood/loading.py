"""`load`: a fitted model or selector from a file, which decides nothing about what code runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fernwood import models, selectors
from fernwood.errors import StoreError, printable, shown
from fernwood.kept.archive import DAMAGE, read_archive

if TYPE_CHECKING:
    import os

__all__ = ["load"]

_CLASSES: dict[str, Any] = {name: getattr(room, name) for room in (models, selectors) for name in room.__all__}
"""All that a file can be made into."""


def load(path: str | os.PathLike[str]) -> Any:
    """A fitted model or selector that its `save` wrote; it predicts and selects exactly as the one that was saved.

    Parameters
    ----------
    path

    Returns
    -------
    An estimator of one of Fernwood's own classes.

    Raises
    ------
    StoreError
        Where there is no such file, or it is damaged, made up, or of a later Fernwood.

    Notes
    -----
    Nothing that the file names is imported or run: it is arrays and plain values, with checksums, and all of it is
    checked before compiled code uses it. Peak memory: twice the file.

    Examples
    --------
    >>> import fernwood, tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = fernwood.RandomFernsClassifier(100, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/ferns.fern-model")
    ...     again = fernwood.load(f"{folder}/ferns.fern-model")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    file = Path(path)
    archive = read_archive(file)
    kind = archive.entries.get("class")
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise StoreError(
            f"{shown(file.name)} holds a {shown(kind)}, which this Fernwood does not have; use the Fernwood that wrote "
            f"it, {shown(archive.entries.get('written_by', 'unknown'))}"
        )
    try:
        return _CLASSES[kind]._from_archive(archive)  # noqa: SLF001
    except StoreError as error:
        raise StoreError(f"{shown(file.name)} cannot be loaded: {error}") from error
    except DAMAGE as error:
        why = printable(str(error))[:80]
        raise StoreError(
            f"{shown(file.name)} does not fit together ({why}): it is damaged, or was made up; save the model again"
        ) from error
