"""Packed file to float file against writing alone: ``python -m tests.benchmarks.streaming``.

Codes and scales are read from a file, dequantized and written to a new file, as a result is staged; writing alone writes
as many bytes from one buffer. Nothing waits for the disk, and each file is removed before the next is written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels import recode
from qdqtool.kernels.grid import scale_shape
from qdqtool.kernels.sources import Source
from qdqtool.model import stream
from qdqtool.model.external import Extent, ExternalSource
from qdqtool.quantization import Blocked
from tests.benchmarks.measuring import Goal, clock, finish, interleave, options, show

BLOCKS = Blocked(1, 32)
COLUMNS = 8192
CHUNK = 1 << 20


def external(path: Path, dtype: ElementType, shape: tuple[int, ...]) -> ExternalSource:
    """A tensor of random codes in a file, none of them NaN."""
    count = dtype.nbytes(int(np.prod(shape)))
    rng = np.random.default_rng(0)
    with open(path, "wb") as file:
        for start in range(0, count, CHUNK):
            part = min(CHUNK, count - start)
            values = (
                rng.random(part // 4, np.float32)
                if dtype is dtypes.FLOAT
                else rng.integers(0, 256, part, dtype=np.uint8) & (0xBB if dtype.specials else 0xFF)
            )
            file.write(values.data)
    return ExternalSource(Extent(path, 0, count), dtype, shape, path.name)


def dequantized(folder: Path, mib: int, storage: ElementType, expressed: ElementType) -> Source:
    """A tensor that makes `mib` MiB of float32, or as many elements of another type, blocks of 32."""
    shape = (mib * (1 << 18) // COLUMNS, COLUMNS)
    name = f"{storage}-{expressed}"
    codes = external(folder / f"{name}.codes", storage, shape)
    scale = external(folder / f"{name}.scale", dtypes.FLOAT, scale_shape(shape, BLOCKS))
    return recode.open_kernel("dequantize", [codes, scale], (BLOCKS, expressed))


def streaming(source: Source, target: Path, *, shared: bool) -> Callable[[], float]:
    """Seconds to write `source` to a new file, with two workers or one."""

    def run() -> float:
        target.unlink(missing_ok=True)
        with patch.object(stream, "SHARED", 0 if shared else 1 << 60), patch.object(type(source), "parallel", shared):
            return clock(write)

    def write() -> None:
        with open(target, "wb") as file:
            stream.Stream(source).write(file)

    return run


def writing(count: int, target: Path) -> Callable[[], float]:
    """Seconds to write as many bytes that are there already."""
    piece = np.ones(CHUNK, np.uint8)

    def write() -> None:
        with open(target, "wb") as file:
            for start in range(0, count, CHUNK):
                file.write(piece[: min(CHUNK, count - start)].data)

    def run() -> float:
        target.unlink(missing_ok=True)
        return clock(write)

    return run


def main() -> None:
    parser = options("Packed file to float file", 5)
    parser.add_argument("--mib", type=int, default=1024, help="MiB of float32 that are written (default 1024)")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    given = parser.parse_args()
    rows, noises, ratios = [], [], {}
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        for storage in (dtypes.INT4, dtypes.INT8, dtypes.FLOAT8E4M3FN):
            for expressed in (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16):
                title = f"{storage} -> {expressed}"
                if given.only not in title:
                    continue
                source = dequantized(folder, given.mib, storage, expressed)
                target, size = folder / "target", stream.Stream(source).size
                candidates = {"writing": writing(size, target)}
                candidates |= {f"{n} worker": streaming(source, target, shared=n == 2) for n in (1, 2)}
                interleave(candidates, 1)
                times = interleave(candidates, given.rounds)
                base = times["writing"].median
                row = {"case": title, "MiB": size >> 20, "writing, s": base}
                for n in (1, 2):
                    ratios[title, n] = times[f"{n} worker"].median / base
                    row |= {f"{n} worker, s": times[f"{n} worker"].median, f"{n} worker/writing": ratios[title, n]}
                rows.append(row)
                noises += [t.noise for t in times.values()]
                for path in folder.iterdir():
                    path.unlink()
    show("Files with blocks of 32 along the last axis", rows)
    wanted = {("int4 -> float32", 1): 2.1, ("int4 -> float32", 2): 1.4, ("int4 -> float16", 1): 4.0}
    goals = [Goal(f"{key[0]}, {key[1]} worker", ratios[key], most=most) for key, most in wanted.items() if key in ratios]
    finish("streaming", rows, goals, fmean(noises), given.json)


if __name__ == "__main__":
    main()
