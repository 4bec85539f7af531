"""Fitted models and selectors on disk: equal to the bit when they come back, and nothing runs that a file names."""

from __future__ import annotations

import errno
import io
import json
import struct
import subprocess
import sys
import warnings
import zipfile
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import fernwood
from fernwood import files
from fernwood.errors import FernwoodWarning, ParameterError, StoreError
from fernwood.kept.archive import Archive, read_archive, write_archive
from fernwood.kept.values import NotPlainError, pack, unpack
from fernwood.sealed import digest, seal

CLASSIFIERS: dict[str, Any] = {
    "forest": lambda: fernwood.SubspaceForestClassifier(q=6, n_iter=40, random_state=3),
    "patches": lambda: fernwood.SubspaceForestClassifier(
        q=6, alpha=0.0, n_iter=20, bootstrap=True, categories="subset", class_weight="balanced", random_state=3
    ),
    "ferns": lambda: fernwood.RandomFernsClassifier(60, 4, importances=True, random_state=3),
    "tree": lambda: fernwood.GainRatioTreeClassifier(random_state=3),
}
MODELS: dict[str, Any] = {
    **CLASSIFIERS,
    "regressor": lambda: fernwood.SubspaceForestRegressor(q=6, n_iter=40, random_state=3),
    "perceptron": lambda: fernwood.ThermalPerceptron(temperature=1.0, decay=0.98, random_state=3),
}
SELECTORS: dict[str, Any] = {
    "snowball": lambda: fernwood.SnowballSelector(goal="minimal", random_state=3),
    "subspace": lambda: fernwood.SubspaceSelector(q=8, n_iter=60, random_state=3),
    "ferns": lambda: fernwood.FernSelector(scans=200, depth=3, rule="max-shadow", random_state=3),
    "boruta": lambda: fernwood.BorutaSelector(max_iter=40, n_estimators=20, random_state=3),
    "elimination": lambda: fernwood.EliminationSelector(GaussianNB(), random_state=3),
    "filter": lambda: fernwood.FilterSelector(GaussianNB(), random_state=3),
}
N = 160


def numbers(missing: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    table = rng.standard_normal((N, 12)).round(2)
    table[:, 4] = rng.integers(0, 3, N)
    target = (table[:, 0] + table[:, 1] * table[:, 4] > 0).astype(int)
    if missing:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table, target


def frame() -> tuple[Any, Any]:
    """A column of every kind, with missing values."""
    table, target = numbers(missing=True)
    data = pd.DataFrame(table, columns=[f"größe {i}" for i in range(12)])
    data["site"] = [None if i % 9 == 0 else f"place {i % 5 + 3 * target[i]}" for i in range(N)]
    data["flag"] = np.arange(N) % 3 == 0
    data["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 50, unit="D")
    return data, target


def kept(model: Any, tmp_path: Path) -> Any:
    model.save(tmp_path / "m.fern-model")
    return fernwood.load(tmp_path / "m.fern-model")


def assert_same_state(one: Any, other: Any) -> None:
    """All fitted attributes are equal, with their types."""
    assert type(other) is type(one)
    assert other.get_params(deep=False) == one.get_params(deep=False)
    names = {name for name in vars(one) if name not in one.get_params(deep=False)}
    assert {name for name in vars(other) if name not in one.get_params(deep=False)} - {"_takes_"} == names
    for name in names:
        a, b = getattr(one, name), getattr(other, name)
        assert type(a) is type(b), name
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        elif isinstance(a, int | float | str):
            np.testing.assert_equal(a, b)


def assert_same_predictions(one: Any, other: Any, table: Any) -> None:
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(one, name):
            a, b = getattr(one, name)(table), getattr(other, name)(table)
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes() if a.dtype != object else (a == b).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_to_the_bit(name: str, tmp_path: Path) -> None:
    table, target = numbers(missing=name != "perceptron")
    model = MODELS[name]().fit(table, target)
    again = kept(model, tmp_path)
    assert_same_state(model, again)
    other = np.random.default_rng(1).standard_normal((300, 12)) * 3
    assert_same_predictions(model, again, table)
    assert_same_predictions(model, again, other)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.fern-model"]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "perceptron"])
def test_a_model_of_a_data_frame(name: str, tmp_path: Path) -> None:
    table, target = frame()
    model = MODELS[name]().fit(table, target)
    again = kept(model, tmp_path)
    assert_same_state(model, again)
    assert list(again.feature_names_in_) == list(table.columns)
    unseen = table.sample(frac=1.0, random_state=0).assign(site="a new place")
    assert_same_predictions(model, again, table)
    assert_same_predictions(model, again, unseen)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(table.rename(columns={"größe 3": "other"}))


@pytest.mark.parametrize("name", ["forest", "regressor", "tree"])
def test_a_model_of_weighted_rows(name: str, tmp_path: Path) -> None:
    table, target = numbers(missing=True)
    model = MODELS[name]().fit(table, target, sample_weight=np.arange(N) % 4)
    assert_same_predictions(model, kept(model, tmp_path), table)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_model_of_a_store(name: str, tmp_path: Path) -> None:
    table, target = frame()
    store = fernwood.ingest(table.assign(y=target), tmp_path / "t.fern", target="y")
    model = CLASSIFIERS[name]().fit(store)
    again = kept(model, tmp_path)
    assert_same_state(model, again)
    assert_same_predictions(model, again, store)
    assert_same_predictions(model, again, table)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], object),
        np.array([False, True]),
        np.array([-5, 7], np.int16),
        np.array([0.5, 2.5], np.float32),
        np.array(["a" * 40, "ü"]),
    ],
    ids=lambda labels: f"{labels.dtype}",
)
@pytest.mark.parametrize("name", [*CLASSIFIERS, "perceptron"])
def test_classes_keep_their_type(name: str, labels: Any, tmp_path: Path) -> None:
    if name == "perceptron" and labels.dtype == np.float32:
        labels = labels.round()
    table, target = numbers()
    if labels.dtype.kind == "f":
        labels = np.array([1.0, 2.0], labels.dtype)  # fractions are no classes to scikit-learn
    model = MODELS[name]().fit(table, labels[target])
    again = kept(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert_same_predictions(model, again, table)


def fitted(selector: Any, data: Any, target: Any) -> Any:
    """Fitted; that Boruta left some undecided is said then, and not when it is loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernwoodWarning)
        return (SELECTORS[selector]() if isinstance(selector, str) else selector).fit(data, target)


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selector_selects_the_same(name: str, tmp_path: Path) -> None:
    table, target = numbers()
    data = pd.DataFrame(table, columns=[f"c{i}" for i in range(12)])
    selector = fitted(name, data, target)
    assert selector.support_.any()
    asks = name in ("elimination", "filter")
    if asks:
        with pytest.warns(FernwoodWarning, match="the parameter estimator is a GaussianNB, which a file without code"):
            again = kept(selector, tmp_path)
        assert again.estimator is None
        again.set_params(estimator=selector.estimator)
    else:
        again = kept(selector, tmp_path)
    assert_same_state(selector, again)
    assert again.result_.to_table().to_pydict() == selector.result_.to_table().to_pydict()
    assert again.result_.summary() == selector.result_.summary()
    if asks:
        again.set_params(estimator=None)
    pd.testing.assert_frame_equal(
        again.set_output(transform="pandas").transform(data), selector.set_output(transform="pandas").transform(data)
    )
    assert list(again.get_feature_names_out()) == list(selector.get_feature_names_out())
    if asks:
        with pytest.raises(ParameterError, match="give the learner"):
            again.fit(data, target)
    else:
        assert_same_state(selector, fitted(clone(again).set_output(transform="pandas"), data, target))


def test_the_form_of_output_is_kept(tmp_path: Path) -> None:
    table, target = numbers()
    selector = SELECTORS["subspace"]().set_output(transform="pandas").fit(table, target)
    assert isinstance(kept(selector, tmp_path).transform(table), pd.DataFrame)


def test_equal_models_make_equal_files(tmp_path: Path) -> None:
    table, target = numbers()
    for name in ("a", "b"):
        MODELS["forest"]().fit(table, target).save(tmp_path / name)
        SELECTORS["subspace"]().fit(table, target).save(tmp_path / f"{name}s")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "as").read_bytes() == (tmp_path / "bs").read_bytes()


def test_parameters_that_are_objects_are_left_out(tmp_path: Path) -> None:
    table, target = numbers()
    model = fernwood.RandomFernsClassifier(10, 2, random_state=np.random.default_rng(0), n_jobs=2).fit(table, target)
    with pytest.warns(FernwoodWarning, match="the parameter random_state is a Generator"):
        again = kept(model, tmp_path)
    assert (again.random_state, again.n_ferns, again.depth, again.n_jobs) == (None, 10, 2, 2)
    assert_same_predictions(model, again, table)
    run = fernwood.SubspaceSelector(
        q=8, n_iter=20, random_state=0, progress=lambda _: None, run_dir=tmp_path / "run", class_weight={0: 1.0, 1: 2.5}
    ).fit(table, target)
    again = kept(run, tmp_path)  # no warning: these belong to the machine
    assert (again.progress, again.run_dir, again.class_weight) == (False, None, {0: 1.0, 1: 2.5})


def test_a_boruta_with_an_estimator(tmp_path: Path) -> None:
    table, target = numbers()
    from sklearn.ensemble import ExtraTreesClassifier

    trees = ExtraTreesClassifier(20, max_depth=3)
    selector = fernwood.BorutaSelector(trees, max_iter=8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernwoodWarning)  # some are undecided
        selector.fit(table, target)
    with pytest.warns(FernwoodWarning, match="the parameter estimator is a ExtraTreesClassifier"):
        again = kept(selector, tmp_path)
    np.testing.assert_array_equal(again.transform(table), selector.transform(table))


def test_what_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        fernwood.GainRatioTreeClassifier().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -(2**80), 2.5, float("inf"), "text", (1, ("a",)), [1, [2]], {1: "a", "1": 2, (1, 2): None}, {}, []],
    ids=repr,
)
def test_plain_values_come_back(value: Any) -> None:
    archive = Archive()
    back = unpack(json.loads(json.dumps(pack(value, archive, "v"))), archive)
    assert back == value
    assert type(back) is type(value)
    assert np.isnan(unpack(pack(float("nan"), archive, "n"), archive))


@pytest.mark.parametrize(
    "value",
    [GaussianNB(), print, np.random.default_rng(0), object(), {1, 2}, [print]],
    ids=lambda value: type(value).__name__,
)
def test_objects_are_no_plain_values(value: Any) -> None:
    with pytest.raises(NotPlainError, match="cannot hold"):
        pack(value, Archive(), "v")


class Level(IntEnum):
    LOW = 3


@pytest.mark.parametrize(
    ("value", "plain"), [(np.float32(0.5), 0.5), (np.int8(3), 3), (np.True_, True), (np.str_("a"), "a"), (Level.LOW, 3)]
)
def test_numbers_of_numpy_and_enumerations_come_back_plain(value: Any, plain: Any) -> None:
    back = unpack(json.loads(json.dumps(pack(value, Archive(), "v"))), Archive())
    assert (back, type(back)) == (plain, type(plain))


def test_arrays_of_strings_of_any_length_come_back() -> None:
    words, archive = np.array([["a", "ü" * 40]], np.dtypes.StringDType()), Archive()
    back = unpack(json.loads(json.dumps(pack(words, archive, "v"))), archive)
    assert back.dtype == words.dtype
    np.testing.assert_array_equal(back, words)


def test_records_are_no_plain_values() -> None:
    with pytest.raises(NotPlainError, match="v is an array of records, which a model does not have; leave it out"):
        pack(np.zeros(2, [("a", "i4")]), Archive(), "v")


def test_a_model_for_which_there_is_no_scratch_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selector = fitted("subspace", *numbers())

    def full() -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fernwood.selectors.base.scratch_directory", full)
    sentence = "the model cannot be put together: No space left on device; see that there is room for scratch files"
    with pytest.raises(StoreError, match=sentence):
        selector.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


# Bad files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of every kind, small."""
    folder = tmp_path_factory.mktemp("saved")
    table, target = frame()
    for name in ("forest", "ferns", "tree", "regressor"):
        MODELS[name]().fit(table, target).save(folder / name)
    MODELS["perceptron"]().fit(*numbers()).save(folder / "perceptron")
    SELECTORS["subspace"]().fit(*numbers()).save(folder / "selector")
    return folder


KINDS = ["forest", "ferns", "tree", "regressor", "perceptron", "selector"]


@pytest.mark.parametrize("name", KINDS)
def test_a_flipped_byte_is_seen_or_harmless(name: str, saved: Path, tmp_path: Path) -> None:
    data = (saved / name).read_bytes()
    sound = fernwood.load(saved / name)
    path = tmp_path / "m"
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(data), 60).tolist():
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        try:
            again = fernwood.load(path)
        except StoreError:
            refused += 1
        else:  # a byte of the zip that means nothing, such as a time
            assert_same_state(sound, again)
    assert refused > 30


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_that_is_cut_off(name: str, share: float, saved: Path, tmp_path: Path) -> None:
    data = (saved / name).read_bytes()
    (tmp_path / "m").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(StoreError, match="no model of Fernwood, or it is damaged"):
        fernwood.load(tmp_path / "m")


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no model"):
        fernwood.load(tmp_path / "none")
    with pytest.raises(StoreError, match="there is no model"):
        fernwood.load(tmp_path)
    for name, data in {"text": b"hello", "empty": b"", "zip": _zip({"a.npy": b"x"})}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreError, match="is no model of Fernwood, or it is damaged"):
            fernwood.load(tmp_path / name)


def _zip(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as out:
        for name, member in members.items():
            out.writestr(name, member)
    return data.getvalue()


def forged(path: Path, to: Path, **changes: Any) -> None:
    """The file with entries or members changed, and all checksums made to fit again: a lie, not an accident."""
    archive = read_archive(path)
    entries = {k: v for k, v in archive.entries.items() if k not in ("members", "checksum", "format", "version")}
    for name, value in changes.items():
        name = name.replace("__", ".")
        if isinstance(value, np.ndarray):
            archive.put(name, value)
        elif isinstance(value, bytes):
            archive.members[name] = value
        else:
            entries[name] = value
    write_archive(to, Archive(entries, archive.members))


def part(path: Path, name: str) -> Any:
    return read_archive(path).array(name)


def changed(array: Any, place: Any, value: Any) -> Any:
    out = array.copy()
    out[place] = value
    return out


def lies(saved: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    forest, ferns, tree = saved / "forest", saved / "ferns", saved / "tree"
    child = part(tree, "trees.child")
    inner = int(np.flatnonzero(part(tree, "trees.column") >= 0)[0])
    leaf = int(np.flatnonzero(part(tree, "trees.column") < 0)[0])
    return {
        "a class of another module": ("tree", {"class": "os.system"}),
        "a class that is none": ("tree", {"class": "load"}),
        "a class as a list": ("tree", {"class": ["os.system"]}),
        "a loop": ("tree", {"trees__child": changed(child, inner, 0)}),
        "a way out": ("tree", {"trees__child": changed(child, inner, 10**6)}),
        "a way out for missing values": (
            "tree",
            {"trees__missing": changed(part(tree, "trees.missing"), inner, 200)},
        ),
        "a column that is not there": ("tree", {"trees__column": changed(part(tree, "trees.column"), inner, 10**5)}),
        "a route that is not there": ("tree", {"trees__route": changed(part(tree, "trees.route"), inner, 10**6)}),
        "a leaf that is open": ("tree", {"trees__end": changed(part(tree, "trees.end"), leaf, 10**7)}),
        "a class beyond the last": ("tree", {"trees__entry_class": part(tree, "trees.entry_class") + 5}),
        "trees of another type": ("tree", {"trees__child": child.astype(np.int64)}),
        "sizes that do not add up": ("forest", {"trees__sizes": part(forest, "trees.sizes")[:-1]}),
        "ferns of other columns": ("ferns", {"ferns__column": part(ferns, "ferns.column") + 1000}),
        "fewer scores": ("ferns", {"ferns__scores": part(ferns, "ferns.scores")[:, :-8]}),
        "fewer splits": ("ferns", {"ferns__least": part(ferns, "ferns.least")[:-1]}),
        "grids that are cut off": ("forest", {"bins__steps": part(forest, "bins.steps")[:-1]}),
        "a grid that is far too long": ("forest", {"bins__lengths": part(forest, "bins.lengths") + 1000}),
        "kinds that there are not": ("forest", {"bins__kinds": part(forest, "bins.kinds") + 9}),
        "no bins": ("forest", {"bins": {}}),
        "an attribute that is a method": (
            "tree",
            {"state": {**read_archive(tree).entries["state"], "predict": 3}},
        ),
        "a parameter that is none": (
            "tree",
            {"parameters": {**read_archive(tree).entries["parameters"], "__class__": 3}},
        ),
        "no classes": ("tree", {"state.classes_": np.zeros((0,))}),
        "weights of other columns": ("perceptron", {"state.coef_": np.zeros((1, 3))}),
        "a result that is damaged": ("selector", {"result.json": b"{}"}),
        "a table that is none": ("selector", {"decisions.parquet": b"PAR1PAR1"}),
        "other columns": ("selector", {"state": {"n_features_in_": 3}}),
    }


LIES = [
    "a class of another module", "a class that is none", "a class as a list", "a loop", "a way out",
    "a way out for missing values", "a column that is not there", "a route that is not there", "a leaf that is open",
    "a class beyond the last", "trees of another type", "sizes that do not add up", "ferns of other columns",
    "fewer scores", "fewer splits", "grids that are cut off", "a grid that is far too long", "kinds that there are not",
    "no bins", "an attribute that is a method", "a parameter that is none", "no classes", "weights of other columns",
    "a result that is damaged", "a table that is none", "other columns",
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies(lie: str, saved: Path, tmp_path: Path) -> None:
    """Checksums that fit do not help: what compiled code would follow is checked."""
    assert set(lies(saved)) == set(LIES)
    name, changes = lies(saved)[lie]
    forged(saved / name, tmp_path / "m")
    fernwood.load(tmp_path / "m")  # the forger's hand alone is not what is refused
    forged(saved / name, tmp_path / "m", **changes)
    with pytest.raises(StoreError) as refused:
        fernwood.load(tmp_path / "m")
    assert "\n" not in str(refused.value)


def assert_does_not_fit(path: Path, why: str) -> None:
    with pytest.raises(StoreError) as refused:
        fernwood.load(path)
    ending = "it is damaged, or was made up; save the model again"
    assert str(refused.value) == f"'{path.name}' does not fit together ({why}): {ending}"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"array": "state.coef_", "x": 1}, "'state.coef_.npy'"),
        ({"object": "os.system"}, "object is nothing that Fernwood writes"),
        ({"float": "9" * 9}, "'999999999'"),
        ({}, "an object without an entry is nothing that Fernwood writes"),
    ],
)
def test_values_that_lie(value: Any, why: str, saved: Path, tmp_path: Path) -> None:
    parameters = {**read_archive(saved / "tree").entries["parameters"], "max_depth": value}
    forged(saved / "tree", tmp_path / "m", parameters=parameters)
    assert_does_not_fit(tmp_path / "m", why)


@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        ("tree", {"n_features_in_": 0}, "a model of no columns"),
        ("tree", {"n_features_in_": True}, "a model of no columns"),
        ("tree", {"feature_names_in_": {"objects": ["a"], "shape": [1]}}, "names of other columns"),
        ("tree", {"_sklearn_output_config": {"dict": [["transform", "pickle"]]}}, "no form of output"),
        ("selector", {"n_features_in_": 3}, "a result about other columns"),
    ],
)
def test_states_that_lie(name: str, state: dict[str, Any], why: str, saved: Path, tmp_path: Path) -> None:
    forged(saved / name, tmp_path / "m", state={**read_archive(saved / name).entries["state"], **state})
    assert_does_not_fit(tmp_path / "m", why)


def test_a_name_that_this_fernwood_does_not_know_is_told(saved: Path, tmp_path: Path) -> None:
    forged(saved / "tree", tmp_path / "m", state={**read_archive(saved / "tree").entries["state"], "predict": 3})
    with pytest.raises(StoreError, match="'m' cannot be loaded: the model has 'predict', which this Fernwood does not"):
        fernwood.load(tmp_path / "m")


def test_a_later_format_is_told(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved / "tree") as parts:
        members = {name: parts.read(name) for name in parts.namelist()}
    entries = json.loads(members["manifest.json"])
    del entries["checksum"]
    members["manifest.json"] = seal({**entries, "version": 2})
    (tmp_path / "m").write_bytes(_zip(members))
    with pytest.raises(StoreError, match="has model format 2, this Fernwood reads up to 1; update Fernwood"):
        fernwood.load(tmp_path / "m")


def test_arrays_of_objects_and_bombs_are_refused(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved / "perceptron") as parts:
        members = {name: parts.read(name) for name in parts.namelist()}

    def resealed(name: str, data: bytes) -> dict[str, bytes]:
        entries = json.loads(members["manifest.json"])
        del entries["checksum"]
        entries["members"][name] = digest(data)
        return {**members, name: data, "manifest.json": seal(entries)}

    pickled = io.BytesIO()
    np.save(pickled, np.array([print], object), allow_pickle=True)
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    void = io.BytesIO()  # no bytes on the disk, and four in memory for each
    np.lib.format.write_array_header_1_0(void, {"descr": "<U0", "fortran_order": False, "shape": (10**6,)})
    (tmp_path / "m").write_bytes(_zip(resealed("state.coef_.npy", void.getvalue())))
    with pytest.raises(StoreError, match="is no array of plain values"):
        fernwood.load(tmp_path / "m")
    for data in (pickled.getvalue(), huge.getvalue(), b"\x93NUMPY\x01\x00\x02\x00()"):
        (tmp_path / "m").write_bytes(_zip(resealed("state.coef_.npy", data)))
        with pytest.raises(StoreError):
            fernwood.load(tmp_path / "m")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (True,)})
    (tmp_path / "m").write_bytes(_zip(resealed("state.coef_.npy", header.getvalue() + bytes(8))))
    assert_does_not_fit(tmp_path / "m", "a length is no number")


@pytest.mark.parametrize(
    "why",
    [
        "a member is compressed",
        "members are larger than the file",
        "another format",
        "the manifest is damaged",
        "there are other members than the manifest names",
        "a member is damaged",
    ],
)
def test_what_is_no_model_says_why_to_whoever_looks(why: str, saved: Path, tmp_path: Path) -> None:
    """In one sentence for all, since nothing can be done but to copy it again; the cause is kept."""
    with zipfile.ZipFile(saved / "perceptron") as parts:
        members = {name: parts.read(name) for name in parts.namelist()}
    manifest = members["manifest.json"]
    other = json.loads(manifest) | {"format": "fernwood result"}
    del other["checksum"]
    changes = {
        "another format": {"manifest.json": seal(other)},
        "the manifest is damaged": {"manifest.json": manifest.replace(b"ThermalPerceptron", b"ThermalPerceptrom")},
        "there are other members than the manifest names": {"more.npy": b"x"},
        "a member is damaged": {"state.coef_.npy": members["state.coef_.npy"][:-1] + b"x"},
    }
    packed = zipfile.ZIP_DEFLATED if why == "a member is compressed" else zipfile.ZIP_STORED
    data = _zip({**members, **changes.get(why, {})}, packed)
    if why == "members are larger than the file":  # the last is said to be as long as all of it, twice in the directory
        size, place = len(members["state.coef_.npy"]), data.rindex(b"PK\x01\x02", 0, data.rindex(b"state.coef_.npy"))
        lie = 2 * struct.pack("<I", len(data))
        assert data[place + 20 : place + 28] == 2 * struct.pack("<I", size)
        data = data[: place + 20] + lie + data[place + 28 :]
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(StoreError, match="'m' is no model of Fernwood, or it is damaged; copy it again") as refused:
        fernwood.load(tmp_path / "m")
    assert str(refused.value.__cause__) == why


def test_numpy_opens_the_file(saved: Path) -> None:
    with np.load(saved / "perceptron", allow_pickle=False) as arrays:
        assert arrays["state.coef_"].shape == (1, 12)


def test_a_full_disk_leaves_what_was_there(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fernwood.load(saved / "tree")
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(_writer: Any, _data: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files.FileWriter, "write", full)
        with pytest.raises(StoreError, match=r"cannot be written to '.*m': No space left on device"):
            model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]
    with pytest.raises(StoreError, match="No such file or directory"):
        model.save(tmp_path / "nowhere" / "m")


def test_loading_imports_nothing_that_a_file_names(saved: Path, tmp_path: Path) -> None:
    forged(saved / "tree", tmp_path / "m", **{"class": "antigravity"})
    check = (
        "import sys, fernwood\n"
        "try: fernwood.load(sys.argv[1])\n"
        "except fernwood.StoreError as error: print('antigravity' in sys.modules, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check, str(tmp_path / "m")], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("False 'm' holds a 'antigravity', which this Fernwood does not have")


def test_every_estimator_can_be_saved() -> None:
    from fernwood import models, selectors
    from fernwood.kept import Savable

    for room in (models, selectors):
        for name in room.__all__:
            assert issubclass(getattr(room, name), Savable), name
    assert len([*MODELS, *SELECTORS]) >= len([*models.__all__, *selectors.__all__])


def test_a_selector_inside_a_pipeline(tmp_path: Path) -> None:
    from sklearn.pipeline import make_pipeline

    table, target = numbers()
    again = kept(SELECTORS["subspace"]().fit(table, target), tmp_path)
    assert make_pipeline(clone(again), LogisticRegression()).fit(table, target).score(table, target) > 0.5
