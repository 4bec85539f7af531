"""The methods of searching, by name: their settings, and what runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from fernwood.errors import ParameterError, shown
from fernwood.search.boruta import BorutaSettings
from fernwood.search.eliminating import select_by_elimination
from fernwood.search.elimination import EliminationSettings
from fernwood.search.ferns import FernSettings
from fernwood.search.filter import FilterSettings, select_by_filter
from fernwood.search.iterating import select_by_boruta
from fernwood.search.rolling import select_by_snowball
from fernwood.search.scanning import select_by_ferns
from fernwood.search.selecting import select_by_subspaces
from fernwood.search.settings import SubspaceSettings
from fernwood.search.snowball import SnowballSettings

if TYPE_CHECKING:
    from fernwood.search.selection import Selection
    from fernwood.store.base import Store

__all__ = ["Settings", "select", "settings_of", "settings_type"]

Settings: TypeAlias = (
    SnowballSettings | SubspaceSettings | FernSettings | BorutaSettings | EliminationSettings | FilterSettings
)

_SETTINGS: dict[str, type[Settings]] = {
    kind.method: kind
    for kind in (SnowballSettings, SubspaceSettings, FernSettings, BorutaSettings, EliminationSettings, FilterSettings)
}


def settings_type(method: str) -> type[Settings]:
    """What the settings of a method are made of.

    Examples
    --------
    >>> settings_type("ferns")(depth=5).depth
    5
    """
    if method not in _SETTINGS:
        raise ParameterError(
            f"the method {shown(method)} is not known here; use {', '.join(_SETTINGS)}, or another Fernwood"
        )
    return _SETTINGS[method]


def settings_of(method: str, entries: dict[str, Any]) -> Settings:
    """The settings of a run, from what its manifest says.

    Examples
    --------
    >>> settings_of("snowball", {"fdr": 0.2}).method
    'snowball'
    """
    return settings_type(method).from_json(entries)


def select(store: Store, settings: Settings, seed: int, **how: Any) -> Selection:
    """Search a store with the method that the settings are for; see `select_by_subspaces` for the parameters."""
    if isinstance(settings, SnowballSettings):
        return select_by_snowball(store, settings, seed, **how)
    if isinstance(settings, BorutaSettings):
        return select_by_boruta(store, settings, seed, **how)
    if isinstance(settings, EliminationSettings):
        return select_by_elimination(store, settings, seed, **how)
    if isinstance(settings, FilterSettings):
        return select_by_filter(store, settings, seed, **how)
    if isinstance(settings, FernSettings):
        return select_by_ferns(store, settings, seed, **how)
    return select_by_subspaces(store, settings, seed, **how)
