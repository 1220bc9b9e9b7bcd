"""A process that converts a large model and tells its peak of memory: ``python -m tests.dialects.large IN OUT DIALECT``."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

import qdqtool
from tests.dialects.layouts import MICROSOFT, built

BLOCK = 32
WIDE = (4096, 151936)
"""K and N of a last product over a vocabulary, whose transposition is the hardest."""


def shapes(gib: float) -> Iterator[tuple[int, int]]:
    """K and N of products one after the other, that many GiB of 4-bit weights in all."""
    left = gib * 2**31 - WIDE[0] * WIDE[1]
    while left > 0:
        yield from ((4096, 14336), (14336, 4096))
        left -= 2 * 4096 * 14336
    yield WIDE


def write(folder: Path, gib: float) -> Path:
    """MatMulNBits with its constants in one file."""
    nodes, tensors = [], list[TensorProto]()
    piece = np.random.default_rng(0).integers(0, 256, 1 << 22, dtype=np.uint8).tobytes()
    with open(folder / "weights", "wb") as file:

        def tensor(name: str, dtype: int, dims: tuple[int, ...], count: int) -> None:
            start = file.tell()
            for at in range(0, count, len(piece)):
                file.write(piece[: min(len(piece), count - at)])
            made = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)  # type: ignore[arg-type]
            for key, value in (("location", "weights"), ("offset", start), ("length", count)):
                made.external_data.add(key=key, value=str(value))
            tensors.append(made)

        for index, (k, n) in enumerate(shapes(gib)):
            tensor(f"B{index}", TensorProto.UINT8, (n, k // BLOCK, BLOCK // 2), n * k // 2)
            tensor(f"S{index}", TensorProto.FLOAT16, (n, k // BLOCK), n * k // BLOCK * 2)
            tensor(f"Z{index}", TensorProto.UINT8, (n, k // BLOCK // 2), n * k // BLOCK // 2)
            names = [f"x{index}", f"B{index}", f"S{index}", f"Z{index}"]
            attributes = {"K": k, "N": n, "bits": 4, "block_size": BLOCK}
            nodes.append(helper.make_node("MatMulNBits", names, [f"x{index + 1}"], domain=MICROSOFT, **attributes))
    model: ModelProto = built(nodes, [("x0", TensorProto.FLOAT16, (1, 4096))], [(f"x{len(nodes)}", TensorProto.FLOAT16)], {})
    model.graph.initializer.extend(tensors)
    onnx.save(model, folder / "large.onnx")
    return folder / "large.onnx"


if __name__ == "__main__":
    qdqtool.convert(sys.argv[1], output=sys.argv[2], to=sys.argv[3], check=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
