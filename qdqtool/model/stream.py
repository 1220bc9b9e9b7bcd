"""The storage of a source, made while it is written: piece by piece in one buffer, or in two threads where that is faster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import BinaryIO

from qdqtool.kernels.scratch import scratch
from qdqtool.kernels.sources import TILE, Array, Source, fill, parallel, size
from qdqtool.model import disk, packing

PIECE = 1 << 20
"""Elements that are written in one go, from sources that make them in place."""

SHARED = 1 << 24
"""Bytes from which a second thread pays."""

WORKERS = 2

Wrote = Callable[[int], None]
"""Told how many bytes were written; from any thread, but never from two at once."""


def ignore(count: int) -> None:
    """For who does not want to know."""


@cache
def _workers() -> ThreadPoolExecutor:
    """The same threads for all sources, since each has buffers of its own."""
    return ThreadPoolExecutor(WORKERS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a child has none of these threads


@dataclass(frozen=True, slots=True)
class Stream:
    """The storage of a source."""

    source: Source

    @property
    def size(self) -> int:
        return self.source.dtype.nbytes(size(self.source))

    def write(self, file: BinaryIO, wrote: Wrote = ignore) -> None:
        if self.size >= SHARED and parallel(self.source) and disk.positional(file):
            self._write_shared(file, wrote)
            return
        for start, stop in self._ranges():
            wrote(file.write(self._storage(start, stop).data))

    def _ranges(self) -> Iterator[tuple[int, int]]:
        step, total = PIECE if hasattr(self.source, "fill") else TILE, size(self.source)
        return ((start, min(start + step, total)) for start in range(0, total, step))

    def _storage(self, start: int, stop: int) -> Array:
        """The bytes of a range, valid until this thread asks for others."""
        if not hasattr(self.source, "fill"):
            return packing.storage(self.source.read(start, stop), self.source.dtype)
        piece = scratch("piece", stop - start, self.source.dtype.numpy)
        fill(self.source, start, piece)
        return packing.storage(piece, self.source.dtype)

    def _write_shared(self, file: BinaryIO, wrote: Wrote) -> None:
        file.flush()
        begin, ranges, lock = file.tell(), self._ranges(), Lock()

        def work() -> None:
            while True:
                with lock:
                    start, stop = next(ranges, (0, 0))
                if start == stop:
                    return
                data = self._storage(start, stop)
                disk.write_at(file, begin + self.source.dtype.nbytes(start), data.data)
                with lock:
                    wrote(data.size)

        jobs = [_workers().submit(work) for _ in range(WORKERS)]
        wait(jobs)
        for job in jobs:
            job.result()
        file.seek(begin + self.size)
