"""What many processes do to one store, one name and one run at the same time; each says in words what it saw."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import fernwood
from fernwood.errors import StoreError

__all__ = ["fit_again", "look_again", "read_again", "replace_again", "seen_of"]

_GONE = ("was replaced or removed since it was opened", "there is no store", "is being replaced at this moment")
"""What may be said of a store that another process replaces at this moment."""
_BUSY = ("holds no result yet", "there is no run")


def seen_of(store: Path) -> tuple[str, str]:
    """What a reader must see of a store: its fingerprint, and the checksum of its codes and target."""
    with fernwood.open(store) as opened:
        return opened.fingerprint, _digest(opened)


def _digest(store: Any) -> str:
    state = hashlib.blake2b(store.read(np.arange(store.n_columns)).tobytes(), digest_size=8)
    state.update(np.ascontiguousarray(store.target.values).tobytes())
    return state.hexdigest()


def read_again(store: str, known: dict[str, str], seconds: float, n_threads: int) -> int:
    """Open and read a store again and again on some threads; print how often it was whole, and what else was seen."""
    until = time.monotonic() + seconds
    seen: Counter[str] = Counter()
    lock = threading.Lock()

    def tell(what: str) -> None:
        with lock:
            seen[what] += 1

    def read() -> None:
        while time.monotonic() < until:
            try:
                with fernwood.open(store) as opened:
                    whole = known.get(opened.fingerprint) == _digest(opened)
                tell("whole" if whole else "mixed")
            except StoreError as error:
                gone = any(words in str(error) for words in _GONE)
                tell("gone" if gone else f"StoreError: {error}")
            except Exception as error:  # noqa: BLE001  (told to the one who waits)
                tell(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=read) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(seen))
    return 0


def replace_again(tables: list[str], store: str, seconds: float) -> int:
    """Ingest tables in turn to one name with force; print how often that was done, and why it was not."""
    until = time.monotonic() + seconds
    seen: Counter[str] = Counter()
    turn = 0
    while time.monotonic() < until:
        try:
            fernwood.ingest(tables[turn % len(tables)], store, target="y", force=True).close()
            seen["done"] += 1
        except StoreError as error:
            seen[f"refused: {error}"] += 1
        turn += 1
    print(json.dumps(seen))
    return 0


def look_again(run: str, seconds: float) -> int:
    """Look at a run that others work on, by all ways there are; print what was seen."""
    from fernwood.run.standing import standing
    from fernwood.saved import load_result

    until = time.monotonic() + seconds
    seen: Counter[str] = Counter()
    path = Path(run)
    while time.monotonic() < until:
        for look in (standing, load_result):
            try:
                found = look(path)
                seen[found.state if look is standing else "result"] += 1
                if look is load_result:
                    found.to_html(path.with_name(f"{path.name}-{threading.get_native_id()}.html"))
                    seen["report"] += 1
            except StoreError as error:
                busy = any(words in str(error) for words in _BUSY)
                seen["not yet" if busy else f"{look.__name__}: {error}"] += 1
            except Exception as error:  # noqa: BLE001
                seen[f"{look.__name__}: {type(error).__name__}: {error}"] += 1
    print(json.dumps(seen))
    return 0


def fit_again(store: str, seconds: float) -> int:
    """Fit every kind of selector on several numbers of threads again and again; print whether answers stay the same."""
    from sklearn.naive_bayes import GaussianNB

    kinds: list[tuple[Any, dict[str, Any]]] = [
        (fernwood.SnowballSelector, {}),
        (fernwood.SubspaceSelector, {"q": 6, "n_iter": 40}),
        (fernwood.FernSelector, {"depth": 3, "scans": 20}),
        (fernwood.BorutaSelector, {"max_iter": 10}),
        (fernwood.EliminationSelector, {"estimator": GaussianNB(), "cv": 3}),
        (fernwood.FilterSelector, {"estimator": GaussianNB(), "cv": 3}),
    ]
    until = time.monotonic() + seconds
    first: dict[str, bytes] = {}
    seen: Counter[str] = Counter()
    turn = 0
    with fernwood.open(store) as opened:
        while turn < len(kinds) or time.monotonic() < until:
            kind, how = kinds[turn % len(kinds)]
            for n_jobs in (1, 2, 5):
                found = kind(random_state=3, n_jobs=n_jobs, **how).fit(opened)
                answer = found.importances_.tobytes() + found.support_.tobytes()
                same = first.setdefault(kind.__name__, answer) == answer
                seen["same" if same else f"{kind.__name__} differs on {n_jobs} threads"] += 1
            turn += 1
    print(json.dumps(seen))
    return 0
