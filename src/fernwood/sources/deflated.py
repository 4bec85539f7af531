"""Vectors of HDF5 that are packed with gzip, unpacked on two threads: HDF5 itself unpacks one chunk at a time.

The packed chunks are taken from the file as they are, in order; unpacking, which is where the time goes, needs no lock.
"""

from __future__ import annotations

import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from fernwood.shortage import check_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DeflatedVector", "is_deflated"]

_MOST_THREADS = 2
_SHUFFLE, _DEFLATE = 2, 1
_CHUNKS_AHEAD = 16


def is_deflated(array: Any) -> bool:
    """Whether it is a data set of HDF5 of one dimension, packed by gzip, perhaps shuffled, and by nothing else."""
    if type(array).__module__.split(".")[0] != "h5py" or len(array.shape) != 1 or array.compression != "gzip":
        return False
    return _filters(array) in ([_DEFLATE], [_SHUFFLE, _DEFLATE])


def _filters(array: Any) -> list[int]:
    about = array.id.get_create_plist()
    return [int(about.get_filter(i)[0]) for i in range(about.get_nfilters())]


class DeflatedVector:
    """Such a data set; slices of it that begin where a chunk does are unpacked here, others by HDF5."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self._shuffled = _filters(array)[0] == _SHUFFLE
        self.shape: tuple[int, ...] = array.shape
        self.dtype: np.dtype[np.generic] = array.dtype
        self.chunks: tuple[int, ...] = array.chunks

    def __getitem__(self, part: Any) -> NDArray[np.generic]:
        start, stop, _ = part.indices(self.shape[0])
        chunk = self.chunks[0]
        n_chunks = -(-(stop - start) // chunk)
        whole = -(-self.shape[0] // chunk) == self._array.id.get_num_chunks()  # none was left unwritten
        if start % chunk or n_chunks < 2 or not whole:
            out: NDArray[np.generic] = self._array[part]
            return out
        out = np.empty(stop - start, self.dtype)
        threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
        check_threads(threads)
        with ThreadPoolExecutor(threads) as pool:
            # A few chunks a task: handing over costs more than a small chunk does.
            tasks = []
            for first in range(0, n_chunks, _CHUNKS_AHEAD):
                places = range(first, min(first + _CHUNKS_AHEAD, n_chunks))
                packed = [self._array.id.read_direct_chunk((start + place * chunk,)) for place in places]
                tasks.append(pool.submit(self._unpack, packed, out[first * chunk :]))
                if len(tasks) > 2 * threads:
                    tasks.pop(0).result()
            for task in tasks:
                task.result()
        return out

    def _unpack(self, packed: list[tuple[int, bytes]], out: NDArray[np.generic]) -> None:
        size = self.chunks[0] * self.dtype.itemsize
        for place, (skipped, data) in enumerate(packed):
            # Each filter that a chunk was written without has its bit set.
            deflated = not skipped >> (1 if self._shuffled else 0) & 1
            plain = zlib.decompress(data, bufsize=size) if deflated else data
            numbers = np.frombuffer(plain, np.uint8)
            if self._shuffled and not skipped & 1:
                numbers = numbers.reshape(self.dtype.itemsize, -1).T.reshape(-1)
            to = out[place * self.chunks[0] : (place + 1) * self.chunks[0]]
            to[:] = numbers.view(self.dtype)[: len(to)]
