"""Published node tests of Q, DQ and Cast give their expected output in our kernels, bit for bit (which NaN aside: that of
float8e5m2 was 0x7f up to onnx 1.18 and is 0x7e since).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.quantize import quantize
from tests.formats import bits_of, same_bits
from tests.node_cases import ABSENT, Case, load, names

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

Array = np.ndarray[Any, np.dtype[Any]]


def operands(case: Case, node: NodeProto) -> list[Array | None]:
    arrays = [case.inputs[name] if name else None for name in node.input]
    return [*arrays, None, None][:3]


def attributes(node: NodeProto) -> dict[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def granularity(scale: Array, given: dict[str, Any]) -> dict[str, int | None]:
    if scale.size == 1 and scale.ndim <= 1:
        return {"axis": None, "block": None}
    return {"axis": given.get("axis", 1), "block": given.get("block_size", 0) or None}


def storage_of(zero: Array | None, given: dict[str, Any]) -> ElementType:
    if zero is not None:
        return dtypes.of_numpy(zero.dtype)
    return dtypes.of_code(given.get("output_dtype", 0)) or dtypes.UINT8


def expect(case: Case, actual: Array) -> None:
    (expected,) = case.outputs.values()
    assert same_bits(actual, bits_of(expected), dtypes.of_numpy(expected.dtype))


@pytest.mark.parametrize("name", [n for n in names("QuantizeLinear") if "dynamic" not in n])
def test_quantize_linear(name: str) -> None:
    case = load(name)
    (node,) = case.model.graph.node
    x, scale, zero = operands(case, node)
    assert x is not None
    assert scale is not None
    given = attributes(node)
    compute = dtypes.of_code(given.get("precision", 0)) or (dtypes.of_numpy(scale.dtype) if case.opset >= 23 else dtypes.FLOAT)
    how = {"storage": storage_of(zero, given), "compute": compute, "saturate": bool(given.get("saturate", 1))}
    expect(case, quantize(x, scale, zero, **how, **granularity(scale, given)))


@pytest.mark.parametrize("name", names("DequantizeLinear"))
def test_dequantize_linear(name: str) -> None:
    case = load(name)
    (node,) = case.model.graph.node
    q, scale, zero = operands(case, node)
    assert q is not None
    assert scale is not None
    given = attributes(node)
    expressed = dtypes.of_code(given.get("output_dtype", 0)) or dtypes.of_numpy(scale.dtype)
    expect(case, dequantize(q, scale, zero, expressed=expressed, **granularity(scale, given)))


def numeric_casts() -> list[str]:
    return [n for n in names("Cast") if "STRING" not in n and "dynamic" not in n]


@pytest.mark.parametrize("name", numeric_casts())
def test_cast(name: str) -> None:
    case = load(name)
    node = case.model.graph.node[-1]
    x = case.inputs[node.input[0]]
    given = attributes(node)
    to = dtypes.of_code(given["to"])
    assert to is not None
    how = {"saturate": bool(given.get("saturate", 1)), "round_mode": given.get("round_mode", b"up").decode()}
    expect(case, cast(x, to, **how))
