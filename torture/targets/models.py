"""Kept models: archives whose values, trees, ferns and bins lie, under checksums that fit."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fernwood
from fernwood.kept.archive import Archive, read_archive, write_archive
from torture.edits import edited_array, edited_bytes, edited_json
from torture.target import Choices, Target, making
from torture.targets.stores import small_frame


@cache
def _saved() -> tuple[bytes, ...]:
    """Models and selectors of every kind, as files."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 6))
    y = np.array(["a", "b"])[(x[:, 0] + x[:, 1] > 0).astype(int)]
    store = fernwood.ingest(small_frame(), target="y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so little a table
        fitted = [
            fernwood.RandomFernsClassifier(5, depth=3, random_state=0).fit(x, y),
            fernwood.SubspaceForestClassifier(n_iter=3, q=3, random_state=0).fit(x, y),
            fernwood.SubspaceForestRegressor(n_iter=3, q=3, random_state=0).fit(x, x[:, 0]),
            fernwood.SubspaceSelector(n_iter=10, q=3, random_state=0).fit(x, y),
            fernwood.RandomFernsClassifier(4, depth=2, random_state=0).fit(store),
        ]
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for model in fitted:
            model.save(Path(folder) / "m")
            files.append((Path(folder) / "m").read_bytes())
    return tuple(files)


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data)
    path = folder / "m.fern-model"
    path.write_bytes(choices.one_of(_saved()))
    with making():
        if choices.number(4) == 0:
            path.write_bytes(edited_bytes(path.read_bytes(), choices) if choices.number(2) else choices.rest())
        else:
            write_archive(path, _edited(read_archive(path), choices))
    model = fernwood.load(path)
    warnings.simplefilter("ignore", UserWarning)  # of scikit-learn, that nothing is selected
    x = np.linspace(-2, 2, 30).reshape(5, 6)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            try:
                getattr(model, method)(x)
            except ValueError as error:  # scikit-learn's words for a table of other columns
                if "features" not in str(error):
                    raise


def _edited(archive: Archive, choices: Choices) -> Archive:
    entries: Any = {k: v for k, v in archive.entries.items() if k not in ("members", "checksum")}
    members = dict(archive.members)
    for _ in range(1 + choices.number(3)):
        if choices.number(2):
            entries = edited_json(entries, choices)
        else:
            name = choices.one_of(sorted(members))
            members[name] = _edited_member(members[name], choices)
    return Archive(entries, members)


def _edited_member(data: bytes, choices: Choices) -> bytes:
    if choices.number(4) == 0:
        return edited_bytes(data, choices)
    file = io.BytesIO()
    np.save(file, edited_array(np.load(io.BytesIO(data), allow_pickle=False), choices), allow_pickle=False)
    return file.getvalue()


def _seeds() -> Mapping[str, bytes]:
    rng = np.random.default_rng(7)
    whole = {f"whole-{i}": bytes([i, 0, 0]) + data for i, data in enumerate(_saved()) if len(data) < 20_000}
    return {**whole, **{f"edits-{i}": bytes([i % 5]) + rng.bytes(3 + i) for i in range(40)}}


TARGETS = {"model": Target("model", "kept models and selectors", _use, _seeds)}
