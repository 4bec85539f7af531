"""HDF5 data sets and Zarr arrays: whatever their chunks, the same columns, and every chunk is unpacked once."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from hypothesis import assume, given, strategies as st
from numpy.typing import NDArray

import fernwood
from fernwood.errors import BudgetError, SourceError
from fernwood.sources import Workspace, open_source
from fernwood.sources.chunks import ChunkedSource, ChunkedVector, Guarded
from fernwood.sources.deflated import DeflatedVector, is_deflated

RNG = np.random.default_rng(4)
TABLE = RNG.standard_normal((57, 83)).astype(np.float32)
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan


class Counted:
    """An array in chunks that counts how often each one is unpacked."""

    def __init__(self, values: NDArray[Any], chunks: tuple[int, ...]) -> None:
        self._values = values
        self.shape, self.dtype, self.chunks = values.shape, values.dtype, chunks
        self.unpacked: Counter[tuple[int, ...]] = Counter()

    def __getitem__(self, part: Any) -> NDArray[Any]:
        parts = part if isinstance(part, tuple) else (part,)
        places = [
            range(one.indices(n)[0] // step, -(-one.indices(n)[1] // step))
            for one, n, step in zip(parts, self.shape, self.chunks, strict=True)
        ]
        self.unpacked.update(tuple(place) for place in np.ndindex(*(len(p) for p in places)) for place in [
            tuple(p[i] for p, i in zip(places, place, strict=True))
        ])  # fmt: skip
        return self._values[part].copy()


@st.composite
def readings(draw: st.DrawFn) -> tuple[tuple[int, int], int, NDArray[np.int64], list[int]]:
    chunks = draw(st.sampled_from([(57, 83), (1, 83), (57, 1), (10, 10), (57, 9), (8, 83), (60, 100), (5, 30)]))
    memory = draw(st.sampled_from([8_000, 60_000, 320_000, 10**7]))
    assume(min(chunks[0], 57) * min(chunks[1], 83) * 16 * 4 <= memory)  # one chunk must fit
    columns = np.flatnonzero(np.array(draw(st.lists(st.booleans(), min_size=83, max_size=83))))
    if not len(columns):
        columns = np.arange(83)
    role = draw(st.integers(0, 82))
    columns = np.concatenate(([role], columns[columns != role]))  # a target is read first
    cuts = sorted(draw(st.sets(st.integers(2, max(len(columns), 2)), max_size=6)))
    return chunks, memory, columns, [0, 1, *[c for c in cuts if c < len(columns)], len(columns)]


@given(readings())
def test_columns_are_the_same_and_no_chunk_is_unpacked_twice(
    tmp_path_factory: pytest.TempPathFactory, reading: tuple[tuple[int, int], int, NDArray[np.int64], list[int]]
) -> None:
    chunks, memory, columns, cuts = reading
    array = Counted(TABLE, chunks)
    workspace = Workspace(memory, tmp_path_factory.mktemp("scratch"), lambda _: None)
    with ChunkedSource(lambda: nullcontext(array), "it").reading(columns, workspace) as reader:
        parts = [reader.band(a, b).values for a, b in zip(cuts[:-1], cuts[1:], strict=True) if a < b]
    assert np.array_equal(np.concatenate(parts), TABLE[:, columns].T, equal_nan=True)
    # The target comes first: in bands, its chunks are read for it alone.
    alone = {place for place in array.unpacked if place[1] == columns[0] // min(chunks[1], 83)}
    assert all(times == 1 for place, times in array.unpacked.items() if place not in alone)
    assert all(array.unpacked[place] <= 2 for place in alone)


@given(st.integers(1, 50), st.lists(st.integers(0, 200), max_size=12), st.booleans())
def test_a_vector_read_front_to_back_unpacks_a_chunk_once(chunk: int, cuts: list[int], gaps: bool) -> None:
    values = np.arange(180)
    array = Counted(values, (chunk,))
    vector = ChunkedVector(Guarded(array, "it"))
    ends = sorted({min(c, 180) for c in cuts} | {0, 180})
    for place, (a, b) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        if not (gaps and place % 3 == 1):
            assert vector[a:b].tolist() == list(range(a, b))
    assert gaps or all(times == 1 for times in array.unpacked.values())


HDF5 = {
    "contiguous": {},
    "rows": {"chunks": (5, 83)},
    "columns": {"chunks": (57, 4), "compression": "gzip"},
    "tiles": {"chunks": (20, 30), "compression": "gzip", "shuffle": True},
    "lzf": {"chunks": (9, 9), "compression": "lzf", "fletcher32": True},
}


@pytest.mark.parametrize("layout", HDF5)
@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "float16", "int8", "uint16", "int64", "bool"])
def test_every_layout_of_hdf5(tmp_path: Path, layout: str, dtype: str) -> None:
    table = np.nan_to_num(TABLE * 20).astype(dtype)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_dataset("deep/down", data=table, **HDF5[layout])
        file["other"] = np.arange(5)
    expected = fernwood.ingest(table.astype(np.dtype(dtype).newbyteorder("=")), target=0, task="regression")
    for budget in (None, 20_000_000):
        store = fernwood.ingest(tmp_path / "t.h5", target=0, task="regression", memory=budget)
        assert store.fingerprint == expected.fingerprint


ZARR: dict[str, dict[str, Any]] = {
    "two": {"zarr_format": 2, "chunks": (10, 20)},
    "two f": {"zarr_format": 2, "chunks": (10, 20), "order": "F"},
    "three": {"zarr_format": 3, "chunks": (57, 8)},
    "plain": {"zarr_format": 3, "chunks": (7, 83), "compressors": None},
    "shards": {"zarr_format": 3, "chunks": (10, 10), "shards": (30, 50)},
}


@pytest.mark.parametrize("layout", ZARR)
@pytest.mark.parametrize("inside", [True, False])
def test_every_layout_of_zarr(tmp_path: Path, layout: str, inside: bool) -> None:
    place: Any = zarr.create_group(tmp_path / "t.zarr", zarr_format=ZARR[layout]["zarr_format"]) if inside else None
    if place is not None:
        array = place.create_array("a/b", shape=TABLE.shape, dtype="f4", **without(ZARR[layout], "zarr_format"))
        place.create_array("words", shape=(3,), chunks=(3,), dtype="i4")
    else:
        array = zarr.create_array(tmp_path / "t.zarr", shape=TABLE.shape, dtype="f4", **ZARR[layout])
    array[:] = TABLE
    expected = fernwood.ingest(TABLE, target=np.arange(57) % 2)
    assert fernwood.ingest(tmp_path / "t.zarr", target=np.arange(57) % 2).fingerprint == expected.fingerprint


def without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != name}


@pytest.mark.parametrize("form", ["h5", "zarr"])
def test_which_array_is_the_table(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"t.{form}"
    names = {"one/table": TABLE, "two/table": TABLE[:, :9], "cube": np.ones((2, 3, 4)), "line": np.ones(9)}
    if form == "h5":
        with h5py.File(path, "w") as file:
            for name, values in names.items():
                file[name] = values
            file["words"] = np.full((4, 2), b"word")
    else:
        group = zarr.create_group(path)
        for name, values in names.items():
            group.create_array(name, data=values)
    said = r"holds 2 arrays of two dimensions; say which one is the table with --dataset \(dataset=\): it has 'one/table', "
    with pytest.raises(SourceError, match=said):
        fernwood.ingest(path)
    assert fernwood.ingest(path, dataset="two/table").n_columns == 9
    assert fernwood.ingest(path, dataset="/one/table").n_columns == 83
    with pytest.raises(SourceError, match="has no data set 'one/tabel'; did you mean 'one/table'?"):
        fernwood.ingest(path, dataset="one/tabel")
    with pytest.raises(SourceError, match=r"'cube' in .* has shape \(2, 3, 4\); a table has two dimensions"):
        fernwood.ingest(path, dataset="cube")
    if form == "h5":
        with pytest.raises(
            SourceError, match="'words' in 't.h5' holds values of type .*, not real numbers; give another"
        ):
            fernwood.ingest(path, dataset="words")
        with pytest.raises(SourceError, match="layer says which matrix of AnnData is the table, and 't.h5' is none"):
            fernwood.ingest(path, dataset="one/table", layer="x")


def test_no_table_at_all(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["cube"] = np.ones((2, 3, 4))
    with pytest.raises(
        SourceError, match=r"holds no array of numbers in two dimensions, .*'cube of shape \(2, 3, 4\)'"
    ):
        fernwood.ingest(tmp_path / "t.h5")
    zarr.create_group(tmp_path / "t.zarr")
    with pytest.raises(SourceError, match="holds no array of numbers in two dimensions"):
        fernwood.ingest(tmp_path / "t.zarr")


@pytest.mark.parametrize("version", [2, 3])
def test_a_chunk_that_is_not_there(tmp_path: Path, version: int) -> None:
    array = zarr.create_array(tmp_path / "t.zarr", shape=(20, 30), chunks=(10, 10), dtype="f4", zarr_format=version)
    array[:] = 1
    chunk = tmp_path / "t.zarr" / ("1.2" if version == 2 else "c/1/2")
    lost = chunk.read_bytes()
    chunk.unlink()
    name = "'1.2'" if version == 2 else "'c/1/2'"
    said = f"chunk {name} of 't.zarr' is not there, which Zarr reads as 0.0; copy it again if it was lost, or, where"
    with pytest.raises(SourceError, match=said):
        fernwood.ingest(tmp_path / "t.zarr")
    store = fernwood.ingest(tmp_path / "t.zarr", empty_chunks=True)
    assert store.column(29).tolist() == [1] * 10 + [0] * 10
    chunk.write_bytes(lost)
    assert fernwood.ingest(tmp_path / "t.zarr").column(29).tolist() == [1] * 20
    chunk.write_bytes(lost[:7])
    with pytest.raises(SourceError, match="'t.zarr' cannot be read, it may be damaged"):
        fernwood.ingest(tmp_path / "t.zarr")


def test_a_chunk_without_a_fill_value_is_never_made_up(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "t.zarr", shape=(20, 30), chunks=(10, 10), dtype="f4", zarr_format=2)
    array[:] = 1
    about = tmp_path / "t.zarr" / ".zarray"
    about.write_text(about.read_text().replace('"fill_value": 0.0', '"fill_value": null'))
    assert "null" in about.read_text()
    (tmp_path / "t.zarr" / "0.0").unlink()
    with pytest.raises(SourceError, match=r"chunk '0.0' of 't.zarr' is not there, and nothing says what it held"):
        fernwood.ingest(tmp_path / "t.zarr", empty_chunks=True)


def test_a_shard_that_is_not_there(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "t.zarr", shape=(20, 30), chunks=(5, 5), shards=(10, 15), dtype="f4")
    array[:] = 1
    array[:5, :5] = 0  # a chunk of nothing but zeros in a shard that is there
    assert fernwood.ingest(tmp_path / "t.zarr").n_columns == 30
    (tmp_path / "t.zarr" / "c/0/1").unlink()
    with pytest.raises(SourceError, match="chunk 'c/0/1' of 't.zarr' is not there"):
        fernwood.ingest(tmp_path / "t.zarr")


def test_a_damaged_description(tmp_path: Path) -> None:
    zarr.save_array(str(tmp_path / "t.zarr"), TABLE)
    (tmp_path / "t.zarr" / "zarr.json").write_text("{")
    with pytest.raises(SourceError, match="'t.zarr' cannot be read as Zarr .*; copy or write it again"):
        fernwood.ingest(tmp_path / "t.zarr")


def test_one_chunk_larger_than_the_budget(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_dataset("x", data=np.ones((2000, 3000)), chunks=(2000, 3000), compression="gzip")
    with pytest.raises(BudgetError, match="too small for 'x' in 't.h5'; at least") as refused:
        fernwood.ingest(tmp_path / "t.h5", memory="40MB")
    assert fernwood.ingest(tmp_path / "t.h5", memory=refused.value.least).n_columns == 3000


def test_options_that_say_nothing_of_an_array(tmp_path: Path) -> None:
    zarr.save_array(str(tmp_path / "t.zarr"), TABLE)
    with pytest.raises(SourceError, match="layer says which matrix of an AnnData file is the table"):
        fernwood.ingest(tmp_path / "t.zarr", layer="x")
    with pytest.raises(SourceError, match="header says how a text file is written"):
        fernwood.ingest(tmp_path / "t.zarr", header=True)
    assert open_source(tmp_path / "t.zarr").names[1] == "x1"


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "i8", ">i2", "u1"])
def test_gzip_is_unpacked_as_hdf5_does(tmp_path: Path, shuffle: bool, dtype: str) -> None:
    values = np.random.default_rng(0).integers(0, 100, 1003).astype(dtype)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(50,), compression="gzip", shuffle=shuffle)
        holes = file.create_dataset("holes", (1003,), dtype, chunks=(50,), compression="gzip", shuffle=shuffle)
        holes[:200] = values[:200]
    with h5py.File(tmp_path / "t.h5", "r+") as file:  # a chunk that no filter was good for
        file["x"].id.write_direct_chunk((50,), values[:50].tobytes(), 0b11 if shuffle else 0b1)
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        packed, holes = file["x"], file["holes"]
        assert is_deflated(packed)
        for array in (packed, holes):
            expected = array[:]
            for part in (slice(0, 1003), slice(50, 1000), slice(7, 400), slice(950, 1003), slice(3, 3)):
                assert np.array_equal(DeflatedVector(array)[part], expected[part])
        both = file.create_dataset("both", data=values, chunks=(50,), compression="gzip", fletcher32=True)
        other = file.create_dataset("other", data=values, chunks=(50,), compression="lzf")
        assert not any(is_deflated(array) for array in (both, other, values, file.create_dataset("plain", data=values)))


def test_a_damaged_chunk_is_a_sentence(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        packed = file.create_dataset("x", data=np.arange(500), chunks=(50,), compression="gzip")
        packed.id.write_direct_chunk((50,), b"no gzip")
        with pytest.raises(SourceError, match="it cannot be read, it may be damaged"):
            Guarded(packed, "it")[:]


@pytest.mark.parametrize("memory", [20_000, 320_000, 10**7])
def test_an_array_in_one_piece_is_cut_as_the_budget_likes_it(memory: int, tmp_path: Path) -> None:
    """In rows where memory is short, of which many are turned at a time; in columns where there is more of it."""
    with h5py.File(tmp_path / "t.h5", "w") as file:
        assert file.create_dataset("table", data=TABLE).chunks is None
    columns = np.array([80, 3, 4, 5, 41])
    with open_source(tmp_path / "t.h5").reading(columns, Workspace(memory, tmp_path, lambda _: None)) as reader:
        parts = [reader.band(0, 1).values, reader.band(1, 5).values]
    assert np.array_equal(np.concatenate(parts), TABLE[:, columns].T, equal_nan=True)


def test_one_dimension_is_no_table() -> None:
    with pytest.raises(SourceError, match=r"it has shape \(9,\); a table has two dimensions: rows × columns"):
        ChunkedSource(lambda: nullcontext(Counted(np.ones(9), (9,))), "it")
