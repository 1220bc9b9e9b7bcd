"""GatherBlockQuantized: tables of every type against ONNX Runtime's kernel, and back to the same bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

import qdqtool
from tests.dialects.layouts import MICROSOFT, Array, built, in_bytes, operand, operators, run

HALF, SINGLE = TensorProto.FLOAT16, TensorProto.FLOAT


@dataclass(frozen=True)
class Table:
    """A node: `kind` is int4, uint4, float8e4m3fn, or the bits of packed bytes."""

    kind: str = "4"
    shape: tuple[int, ...] = (20, 64)
    block: int = 16
    along: int = -1
    axis: int = 0
    zero: bool = False
    real: int = SINGLE
    rank: int = 2

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"{self.kind}-{shape}-b{self.block}-{self.along}-{self.axis}-{'zero' * self.zero}-{self.real}-r{self.rank}"


TABLES = (
    *(Table(kind, zero=zero, real=real) for kind in ("2", "4", "8", "int4", "uint4") for zero in (False, True) for real in (HALF, SINGLE)),
    *(Table(kind, (20, 72), 32, zero=True) for kind in ("2", "4", "8", "int4")),
    *(Table(kind, (7, 5, 64), 32) for kind in ("2", "4", "8", "uint4")),
    Table("uint4", (64, 20), 16, 0, 1, zero=True),
    Table("int4", (20, 64), 32, 1, 1),
    Table("uint4", (6, 64, 5), 32, 1, 0, zero=True),
    Table("8", rank=1),
    Table("8", rank=0, zero=True),
    Table("float8e4m3fn"),
)


def drawn(table: Table, seed: int = 0) -> tuple[ModelProto, dict[str, Array]]:
    """The model, and indices from both ends."""
    rng = np.random.default_rng(seed)
    bits = int(table.kind) if table.kind.isdigit() else 4
    along = table.along % len(table.shape)
    scales = tuple(-(-n // table.block) if d == along else n for d, n in enumerate(table.shape))
    codes = rng.integers(0, 1 << bits, table.shape)
    zeros = rng.integers(0, 1 << bits, scales)
    held = {"scales": (rng.random(scales) + 0.1).astype(np.float16 if table.real == HALF else np.float32)}
    names = ["table", "indices", "scales", "zeros"][: 4 if table.zero else 3]
    attributes = {"gather_axis": table.axis, "quantize_axis": table.along, "block_size": table.block}
    if table.kind.isdigit():
        attributes["bits"] = bits
        held |= {"table": rows(codes, bits), "zeros": rows(zeros, bits)}
    node = helper.make_node("GatherBlockQuantized", names, ["y"], "gather", domain=MICROSOFT, **attributes)
    indices = rng.integers(-table.shape[table.axis], table.shape[table.axis], (2, 3)[: table.rank]).astype(np.int64)
    kept = {name: held[name] for name in held if name in names}
    model = built([node], [("indices", TensorProto.INT64, indices.shape)], [("y", table.real)], kept)
    if not table.kind.isdigit():
        dtype = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, "float8e4m3fn": TensorProto.FLOAT8E4M3FN}[table.kind]
        low = 8 if table.kind == "int4" else 0
        for name, values in (("table", codes - low), ("zeros", zeros - low))[: 2 if table.zero else 1]:
            model.graph.initializer.append(helper.make_tensor(name, dtype, values.shape, values.reshape(-1).tolist()))
    return model, {"indices": indices}


def rows(codes: Array, bits: int) -> Array:
    return in_bytes(codes.reshape(-1, codes.shape[-1]), bits).reshape(*codes.shape[:-1], -1)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_it_becomes_a_gather_of_equal_values_and_comes_back(table: Table) -> None:
    original, feeds = drawn(table)
    there = qdqtool.convert(original, to="ai.onnx")
    assert there.check is not None
    assert there.check.verdict == "equal"
    assert len(there.check.steps) == 1
    assert set(operators(there.model)) == {"DequantizeLinear", "Gather"}
    expected = run(original, feeds)["y"]
    assert np.array_equal(run(there.model, feeds)["y"], expected)
    back = qdqtool.convert(there.model, to="gatherblockquantized")
    assert operators(back.model) == ["GatherBlockQuantized"]
    assert np.array_equal(run(back.model, feeds)["y"], expected)
    for slot in (0, 2, 3):
        old, new = (operand(model, "GatherBlockQuantized", slot) for model in (original, back.model))
        assert (old is None) == (new is None)
        assert old is None or new is None or (old.tobytes(), old.shape, old.dtype) == (new.tobytes(), new.shape, new.dtype)


def test_codes_of_eight_bits_are_gathered_before_they_are_dequantized() -> None:
    assert operators(qdqtool.convert(drawn(Table("8", zero=True))[0], to="ai.onnx").model)[-1] == "DequantizeLinear"
    assert operators(qdqtool.convert(drawn(Table("4"))[0], to="ai.onnx").model)[-1] == "Gather"


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(("2", "4", "8", "int4", "uint4")),
    st.integers(1, 9),
    st.integers(1, 20),
    st.sampled_from((16, 32)),
    st.booleans(),
    st.integers(0, 1 << 30),
)
def test_any_shape_and_values(kind: str, count: int, words: int, block: int, zero: bool, seed: int) -> None:
    original, feeds = drawn(Table(kind, (count, words * 4), block, zero=zero), seed)
    there = qdqtool.convert(original, to="ai.onnx", check=False).model
    back = qdqtool.convert(there, to="gatherblockquantized", check=False).model
    expected = run(original, feeds)["y"]
    assert np.array_equal(run(there, feeds)["y"], expected)
    assert np.array_equal(run(back, feeds)["y"], expected)


@pytest.mark.parametrize(("shape", "axis"), [((20, 256), 0), ((20, 256), None), ((6, 5, 256), 1), ((6, 5, 256), None)])
@pytest.mark.parametrize("zero", [False, True])
def test_scales_without_blocks_come_back(shape: tuple[int, ...], axis: int | None, zero: bool) -> None:
    rng = np.random.default_rng(0)
    sizes = () if axis is None else (shape[axis],)
    held: dict[str, Array] = {
        "table": rng.integers(-128, 128, shape).astype(np.int8),
        "scale": np.asarray(rng.random(sizes) + 0.1, np.float32),
        "zero": np.asarray(rng.integers(1, 8, sizes), np.int8),
    }
    names = ["table", "scale", "zero"][: 3 if zero else 2]
    nodes = [
        helper.make_node("DequantizeLinear", names, ["real"], "dq", **({} if axis is None else {"axis": axis})),
        helper.make_node("Gather", ["real", "indices"], ["y"], "gather"),
    ]
    original = built(nodes, [("indices", TensorProto.INT64, (2, 3))], [("y", SINGLE)], {name: held[name] for name in names})
    fused = qdqtool.convert(original, to="gatherblockquantized").model
    assert operators(fused) == ["GatherBlockQuantized"]
    back = qdqtool.convert(fused, to="ai.onnx").model
    assert operators(back) == operators(original)
    found = [operand(back, "DequantizeLinear", slot) for slot in range(len(names))]
    assert all(array is not None and np.array_equal(array, held[name]) for array, name in zip(found, names, strict=True))
    assert all(array is not None and array.shape == held[name].shape for array, name in zip(found, names, strict=True))
