"""Real models there and back: codes, scales and zero points equal bit for bit, outputs equal in ONNX Runtime, nothing larger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import qdqtool
from tests.dialects.layouts import Array
from tests.node_cases import ABSENT, CORPUS

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

FUSED = (
    "models/genai/llama_int4/model.onnx",
    "models/ort_quant/llama_d18_nbits4_asym_b32.onnx",
    "models/ort_quant/llama_d21_nbits4_gather.onnx",
    "models/ort_quant/llama_d21_nbits8_b32.onnx",
    "models/ort_testdata/transform/runtime_optimization/matmulnbits_add.onnx",
)
STEPS = (
    "models/genai/llama_int4_qdq/model.onnx",
    "models/modelopt/llama_d21_mo_int4_rtn.onnx",
    "models/ort_quant/llama_d21_qdq4_asym_b16.onnx",
    "models/ort_quant/llama_d21_qdq4_sym_b32.onnx",
    "models/ort_quant/ext/llama_d23_qdq4_asym_b32_ext.onnx",
)
BOTH = "matmulnbits,gatherblockquantized"
QUANTIZED = ("MatMulNBits", "GatherBlockQuantized", "DequantizeLinear")
ROOM = 4096


def parameters(path: Path) -> list[tuple[str, tuple[Array | None, ...]]]:
    """Constants that each quantized node reads, in order; empty for one of the run."""
    proto = onnx.load(path)
    held = {t.name: t for t in proto.graph.initializer}
    found = []
    for node in (n for n in proto.graph.node if n.op_type in QUANTIZED):
        values = [numpy_helper.to_array(held[name]) if name in held else None for name in node.input]
        if node.op_type == "MatMulNBits" and values[1] is not None:
            values[1] = codes(values[1], {a.name: a.i for a in node.attribute})
        found.append((node.op_type, tuple(values)))
    return found


def codes(packed: Array, attributes: dict[str, int]) -> Array:
    """Without those that fill up the last block, which mean nothing."""
    bits = attributes["bits"]
    parts = np.stack([packed >> (bits * place) & ((1 << bits) - 1) for place in range(8 // bits)], -1)
    return np.ascontiguousarray(parts.reshape(len(packed), -1)[:, : attributes["K"]])


def same(old: Array | None, new: Array | None) -> bool:
    return old is new is None or (old is not None and new is not None and (old.dtype, old.tobytes()) == (new.dtype, new.tobytes()))


def size(path: Path) -> int:
    """The file with the external data that it refers to."""
    proto = onnx.load(path, load_external_data=False)
    return path.stat().st_size + sum(int(e.value) for t in proto.graph.initializer for e in t.external_data if e.key == "length")


def there_and_back(name: str, tmp_path: Path, first: str, second: str) -> tuple[Path, Path, Path]:
    original, there, back = CORPUS / name, tmp_path / "there.onnx", tmp_path / "back.onnx"
    for source, result, to in ((original, there, first), (there, back, second)):
        check = qdqtool.convert(source, to=to, output=result).check
        assert check is not None
        assert check.verdict == "equal", check.summary()
        assert not check.reason
    return original, there, back


@pytest.mark.parametrize("name", FUSED)
def test_fused_operators_become_steps_and_come_back(name: str, tmp_path: Path) -> None:
    original, there, back = there_and_back(name, tmp_path, "ai.onnx", BOTH)
    assert not {node for node, _ in parameters(there)} & {"MatMulNBits", "GatherBlockQuantized"}
    pairs = list(zip(parameters(original), parameters(back), strict=True))
    assert pairs
    assert all(a[0] == b[0] and all(map(same, a[1], b[1])) for a, b in pairs)
    assert size(there) <= size(original) + ROOM
    assert size(back) <= size(original) + ROOM


@pytest.mark.parametrize("name", STEPS)
def test_steps_become_fused_operators_and_come_back(name: str, tmp_path: Path) -> None:
    original, there, back = there_and_back(name, tmp_path, BOTH, "ai.onnx")
    assert {node for node, _ in parameters(there)} == {"MatMulNBits"}
    pairs = list(zip(parameters(original), parameters(back), strict=True))
    assert pairs
    assert all(a[0] == b[0] and all(map(same, a[1], b[1])) for a, b in pairs)
    assert size(there) <= size(original) + ROOM
    assert size(back) <= size(original) + ROOM


def test_the_weights_are_those_that_onnxruntime_genai_writes(tmp_path: Path) -> None:
    """The same model by the model builder of onnxruntime-genai, with and without ``use_qdq``."""
    ours = tmp_path / "ours.onnx"
    qdqtool.convert(CORPUS / "models/genai/llama_int4/model.onnx", to="ai.onnx", output=ours)
    theirs = parameters(CORPUS / "models/genai/llama_int4_qdq/model.onnx")
    mine = parameters(ours)
    assert len(mine) == len(theirs) > 0
    assert all(map(same, a[1], b[1]) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.full
@pytest.mark.parametrize("opset", [13, 17, 19, 25])
def test_all_opsets(opset: int) -> None:
    for name in FUSED[1:]:
        check = qdqtool.convert(CORPUS / name, to="ai.onnx", opset=opset).check
        assert check is not None
        assert check.verdict in ("equal", "within bound"), (name, check.summary())
