"""The methods of searching, by name: their settings, and what runs them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from fernwood.budget import resident
from fernwood.errors import ParameterError, StoreError, shown
from fernwood.kernels.families import load_families
from fernwood.kernels.ready import ensure_compiled
from fernwood.learner.contexts import scoring_kernels
from fernwood.learner.target import store_target
from fernwood.run.course import Watch
from fernwood.search.conditions import with_names
from fernwood.search.profiling import profiles_of
from fernwood.search.selection import Selection
from fernwood.shortage import saying_shortage
from fernwood.sources.base import Kind

if TYPE_CHECKING:
    from fernwood.run.directory import RunDirectory
    from fernwood.run.driving import SearchProgressCallback
    from fernwood.search.boruta import BorutaSettings
    from fernwood.search.elimination import EliminationSettings
    from fernwood.search.ferns import FernSettings
    from fernwood.search.filter import FilterSettings
    from fernwood.search.selection import Prepared
    from fernwood.search.settings import SubspaceSettings
    from fernwood.search.snowball_settings import SnowballSettings
    from fernwood.search.working import Bench
    from fernwood.store.base import Store
    from fernwood.work.engine import Engine

__all__ = ["Settings", "bench_of", "load_method", "prepare", "select", "settings_of", "settings_on", "settings_type"]

Settings: TypeAlias = (
    "SnowballSettings | SubspaceSettings | FernSettings | BorutaSettings | EliminationSettings | FilterSettings"
)


class _Method(NamedTuple):
    """Where the parts of a method are: "module:name", imported when the method is chosen.

    All methods together import most of SciPy, which would be half the time and a third of the memory of a small search.

    Attributes
    ----------
    settings : the class of its settings
    select : what runs it
    prepare : what makes it ready to run
    bench : what workers have ready for it; learners of the others stay in the process that has the table laid out
    """

    settings: str
    select: str
    prepare: str
    bench: str = ""


_METHODS = {
    "snowball": _Method(
        "snowball_settings:SnowballSettings", "rolling:select_by_snowball", "rolling:prepare", "spread:SnowballBench"
    ),
    "subspace": _Method(
        "settings:SubspaceSettings", "selecting:select_by_subspaces", "selecting:prepare", "draw_benches:SubspaceBench"
    ),
    "ferns": _Method("ferns:FernSettings", "scanning:select_by_ferns", "scanning:prepare", "draw_benches:FernBench"),
    "boruta": _Method(
        "boruta:BorutaSettings", "iterating:select_by_boruta", "iterating:prepare", "draw_benches:BorutaBench"
    ),
    "elimination": _Method(
        "elimination:EliminationSettings", "eliminating:select_by_elimination", "eliminating:prepare"
    ),
    "filter": _Method("filter:FilterSettings", "filter:select_by_filter", "filter:prepare"),
}


def settings_type(method: str) -> type[Settings]:
    """What the settings of a method are made of.

    Examples
    --------
    >>> settings_type("ferns")(depth=5).depth
    5
    """
    if method not in _METHODS:
        raise ParameterError(
            f"the method {shown(method)} is not known here; use {', '.join(_METHODS)}, or another Fernwood"
        )
    kind: type[Settings] = _load(_METHODS[method].settings)
    return kind


def load_method(store: Store, settings: Settings) -> None:
    """Import what a search of a store runs, and load its kernels: what they take is resident from now on."""
    _load(_METHODS[settings.method].select)
    if getattr(settings, "goal", None) == "minimal":
        import_module("fernwood.search.reducing")
    kernels = list(settings.kernels)
    if settings.method == "snowball":
        kernels.append(scoring_kernels(store_target(store)))
        if getattr(settings, "given", None):
            kernels.append("numbers")  # what covariates leave of classes
        if store.weights is not None:
            kernels.append("weights")
        if (store.kinds == Kind.CATEGORY).any():
            kernels.append("categories")
    if store.groups is not None or getattr(settings, "given", None):
        kernels.append("groups")
    ensure_compiled(*kernels)
    load_families(*kernels)


def _load(part: str) -> Any:
    """A part of a method, from the module that it is in."""
    module, _, name = part.partition(":")
    return getattr(import_module(f"fernwood.search.{module}"), name)


def settings_of(method: str, entries: dict[str, Any]) -> Settings:
    """The settings of a run, from what its manifest says.

    Examples
    --------
    >>> settings_of("snowball", {"fdr": 0.2}).method
    'snowball'
    """
    try:
        return settings_type(method).from_json(entries)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        if isinstance(error, ParameterError):
            raise
        raise StoreError(
            f"the run has parameters that are none of {shown(method)}; use the Fernwood that made it, or start again"
        ) from error


def settings_on(store: Store, settings: Settings) -> Settings:
    """Settings as they are for a store: columns by name, so that a run and its result need no table to be understood.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((9, 4)), target=0)
    >>> settings_on(store, settings_type("snowball")(given=[1])).given
    ('x1',)
    """
    return settings if settings.method != "snowball" else with_names(store, cast("SnowballSettings", settings))


def select(
    store: Store,
    settings: Settings,
    seed: int,
    *,
    memory: int | None = None,
    held: int = 0,
    directory: RunDirectory | None = None,
    progress: SearchProgressCallback | None = None,
    engine: Engine | None = None,
    **how: Any,
) -> Selection:
    """Search a store with the method that the settings are for; see `select_by_subspaces` for the parameters.

    The result also says how the best columns go with the target, and how the run went. With an engine, its workers do
    the work, as far as the method knows how to say it; the answer is the same.
    """
    settings = settings_on(store, settings)
    allowed = 0 if memory is None else resident() - held + memory
    with saying_shortage(), Watch(directory, allowed, progress) as watch, ExitStack() as stack:
        if engine is not None and _is_spread(settings):
            from fernwood.search.working import Crew
            from fernwood.store.spilling import where_workers_see_it

            _check_one_place(how)
            seen = stack.enter_context(where_workers_see_it(store))
            crew = Crew(engine, seen, settings, seed)
            stack.callback(crew.dismiss)
            how |= {"crew": crew, "n_threads": 1}
        search = _load(_METHODS[settings.method].select)
        how |= {"memory": memory, "held": held, "directory": directory, "progress": watch}
        result, stopped_by = search(store, settings, seed, **how)
        insight = replace(result.insight, profiles=profiles_of(store, result, seed))
    return Selection(replace(result, insight=insight, course=watch.course()), stopped_by)


def _is_spread(settings: Settings) -> bool:
    """Whether a search can be told to workers: those of other learners stay where their table is laid out."""
    return bool(_METHODS[settings.method].bench) and getattr(settings, "estimator", None) is None


def _check_one_place(how: dict[str, Any]) -> None:
    """Refuse a device of this process for work that others do; where it was to be chosen, it is theirs that is."""
    device = how.pop("device", "cpu")
    how.pop("device_memory", None)
    if device == "cuda":
        raise ParameterError(
            "device is 'cuda', a card of this process, and workers of other processes do the work; leave device "
            "(--device) out, or search without them"
        )


def bench_of(store: Store, settings: Settings, seed: int) -> Bench:
    """What a worker has ready for a search of a store."""
    bench: Bench = _load(_METHODS[settings.method].bench)(store, settings, seed)
    return bench


def prepare(store: Store, settings: Settings, seed: int, **how: Any) -> Prepared[Any]:
    """A search that can begin: it has `ids`, a `plan` and a `loop`; see `select_by_subspaces` for the parameters.

    Examples
    --------
    >>> import numpy as np, fernwood
    >>> store = fernwood.ingest(np.random.default_rng(0).standard_normal((200, 30)), target=np.arange(200) % 2)
    >>> prepare(store, settings_type("snowball")(), seed=0, n_threads=2).plan.n_threads
    2
    """
    ready: Prepared[Any] = _load(_METHODS[settings.method].prepare)(store, settings, seed, **how)
    return ready
