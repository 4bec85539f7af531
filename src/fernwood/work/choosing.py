"""Which engine joblib's context asks for: threads of this process unless it names something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fernwood.work.engine import Engine

__all__ = ["engine_here"]


def engine_here(n_jobs: int | None) -> Engine | None:
    """The workers of joblib's context (`joblib.parallel_config`); None for threads of this process.

    Inside of a worker there are threads only: it has a processor to itself, and others wait for it.

    Examples
    --------
    >>> engine_here(2) is None
    True
    >>> import joblib
    >>> with joblib.parallel_config("loky"):
    ...     engine_here(2).n_workers
    2
    """
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False) or _inside_dask():
        return None
    client = getattr(backend, "client", None)
    if client is not None:
        from fernwood.work.cluster import DaskEngine

        return DaskEngine(client)
    from fernwood.work.processes import JoblibEngine

    n_workers = effective_n_jobs(n_jobs)
    return JoblibEngine(n_workers) if n_workers > 1 else None


def _inside_dask() -> bool:
    import sys

    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
