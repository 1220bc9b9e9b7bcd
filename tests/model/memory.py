"""A process that stages a large new constant and tells how much memory that took."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.kernels import recode
from qdqtool.kernels.grid import scale_shape
from qdqtool.kernels.sources import Source
from qdqtool.model import load, tensors
from qdqtool.model.external import Extent, ExternalSource
from qdqtool.model.stage import stage
from qdqtool.quantization import Blocked
from tests.model.models import adding

COLUMNS = 4096


def _status(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.M)
    assert found
    return int(found[1]) << 10


def _codes(folder: Path, mib: int) -> ExternalSource:
    """int4 codes of that many MiB, in a file."""
    piece = np.random.default_rng(0).integers(0, 256, 1 << 20, dtype=np.uint8)
    with open(folder / "codes", "wb") as file:
        for _ in range(mib):
            file.write(piece.data)
    return ExternalSource(Extent(folder / "codes", 0, mib << 20), dtypes.INT4, ((mib << 21) // COLUMNS, COLUMNS), "codes")


def folded(folder: Path, mib: int) -> Source:
    """Blocks of 32 with scales in a file, to float16."""
    codes, blocks = _codes(folder, mib), Blocked(1, 32)
    shape = scale_shape(codes.shape, blocks)
    np.ones(shape, np.float16).tofile(folder / "scales")
    count = (folder / "scales").stat().st_size
    scales = ExternalSource(Extent(folder / "scales", 0, count), dtypes.FLOAT16, shape, "scales")
    return recode.open_kernel("dequantize", [codes, scales], (blocks, dtypes.FLOAT16))


def moved(folder: Path, mib: int) -> Source:
    """The axes in another order than any two groups of them, then every second element."""
    codes = _codes(folder, mib)
    cube = recode.open_kernel("reshape", [codes], ((codes.shape[0] // 64, 64, COLUMNS),))
    turned = recode.open_kernel("transpose", [cube], ((2, 1, 0),))
    count = turned.shape[2]
    return recode.open_kernel("slice", [turned], (((0, 1, COLUMNS), (0, 1, 64), (count - 1, -1, count)),))


def growth(folder: Path, mib: int, make: Callable[[Path, int], Source]) -> dict[str, int]:
    """Bytes written, and the peak of resident memory above what there was before; a first small run loads what is loaded once."""
    (folder / "small").mkdir()
    _staged(folder / "small", make(folder / "small", 2))
    source = make(folder, mib)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _status("VmRSS")
    return {"written": _staged(folder, source), "grown": _status("VmHWM") - before}


def _staged(folder: Path, source: Source) -> int:
    proto: ModelProto = adding(tensors.header("w", source.dtype, source.shape))
    out = folder / "out.onnx"
    stage(proto, {"w": source}, loaded=load.load(proto), out=out, external_data="out.data").publish()
    return (folder / "out.data").stat().st_size
