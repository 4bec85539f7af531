"""What a fitted estimator puts into a file, and how one is made from it again."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from fernwood.errors import FernwoodWarning, StoreError
from fernwood.kept.archive import Archive, write_archive
from fernwood.kept.values import NotPlainError, pack, unpack

if TYPE_CHECKING:
    import os
    from collections.abc import Collection
    from typing import Self

__all__ = ["Savable"]

_OF_THE_MACHINE = ("progress", "run_dir")
"""Parameters that say where and how fitting ran, which are no part of what was fitted."""
_FEATURES = ("n_features_in_", "feature_names_in_")
_OUTPUT = "_sklearn_output_config"


class Savable:
    """An estimator that can be saved; subclasses say what of them is plain, and put in and take out the rest.

    Attributes
    ----------
    _plain : names of fitted attributes that are plain values or arrays
    _maybe : those of them that are not always there
    _hidden : names of fitted attributes that are not for users
    """

    _plain: ClassVar[tuple[str, ...]] = ()
    _maybe: ClassVar[tuple[str, ...]] = ()
    _hidden: ClassVar[tuple[str, ...]] = ()

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is more than what a fit that was refused leaves: the columns that it was given."""
        return any(name[-1] == "_" and name[:2] != "__" and name not in _FEATURES for name in vars(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, which `fernwood.load` reads; a file that is there is replaced.

        There is no code in the file, and reading it runs none. Parameters that are objects (an estimator, a function, a
        generator of random numbers) are left out with a warning, and have their defaults when the file is read; so have
        `progress` and `run_dir`, which belong to the machine.

        Parameters
        ----------
        path
            By custom ``NAME.fern-model``; any name will do.

        Raises
        ------
        StoreError
            Where the file cannot be written; what was there before stays.
        """
        check_is_fitted(self)
        archive = Archive({"class": type(self).__name__})
        archive.entries["parameters"] = self._packed_parameters(archive)
        state = {name: getattr(self, name) for name in (*_FEATURES, *self._plain, _OUTPUT) if hasattr(self, name)}
        archive.entries["state"] = {name: pack(value, archive, f"state.{name}") for name, value in state.items()}
        try:
            self._put(archive)
        except OSError as error:  # of a scratch file
            raise StoreError(
                f"the model cannot be put together: {error.strerror or error}; see that there is room for scratch files"
            ) from error
        write_archive(Path(path), archive)

    def _packed_parameters(self, archive: Archive) -> dict[str, Any]:
        packed = {}
        for name, value in self.get_params(deep=False).items():  # type: ignore[attr-defined]
            if name in _OF_THE_MACHINE:
                continue
            try:
                packed[name] = pack(value, archive, f"parameters.{name}")
            except NotPlainError:
                warnings.warn(
                    f"the parameter {name} is a {type(value).__name__}, which a file without code cannot hold: "
                    f"it is left out, and what is loaded works as it was fitted; to fit it anew, set {name} first",
                    FernwoodWarning,
                    stacklevel=3,
                )
        return packed

    def _put(self, archive: Archive) -> None:
        """Add what is not plain."""

    def _take(self, archive: Archive) -> None:
        """Take back what `_put` added; what does not fit together is refused with a ValueError."""

    @classmethod
    def _from_archive(cls, archive: Archive) -> Self:
        """The estimator that was saved; a file that does not fit together raises one of `archive.DAMAGE`."""
        parameters = {name: unpack(value, archive) for name, value in archive.entries["parameters"].items()}
        known = inspect.signature(cls).parameters
        _refuse_others(parameters, known)
        for name, parameter in known.items():
            if name not in parameters and parameter.default is inspect.Parameter.empty:
                parameters[name] = None
        estimator = cls(**parameters)
        state = {name: unpack(value, archive) for name, value in archive.entries["state"].items()}
        _refuse_others(state, (*_FEATURES, *cls._plain, _OUTPUT))
        optional = {_OUTPUT, "feature_names_in_", *cls._maybe}
        _refuse_others({*_FEATURES, *cls._plain} - optional, state)
        _check_features(state)
        for name, value in state.items():
            setattr(estimator, name, value)
        estimator._take(archive)
        return estimator


def _refuse_others(names: Collection[str], known: Collection[str]) -> None:
    if set(names) - set(known):
        raise StoreError(f"the model has {min(set(names) - set(known))!r}, which this Fernwood does not know")


def _check_features(state: dict[str, Any]) -> None:
    n_features, names = state["n_features_in_"], state.get("feature_names_in_")
    if type(n_features) is not int or n_features < 1:
        raise ValueError("a model of no columns")
    if names is not None and (names.shape != (n_features,) or not all(isinstance(name, str) for name in names)):
        raise ValueError("names of other columns")
    output = state.get(_OUTPUT, {})
    if not (set(output) <= {"transform"} and set(output.values()) <= {"default", "pandas", "polars"}):
        raise ValueError("no form of output")
