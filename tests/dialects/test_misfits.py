"""Fused operators whose attributes or operands do not fit together: refused for a reason, whatever is asked; nothing else minds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

import qdqtool
from qdqtool.errors import Refused
from tests.dialects import test_fake_quantize, test_gather_block_quantized, test_matmul_bnb4
from tests.dialects.layouts import Array, Layout, drawn, model


def nbits(layout: Layout) -> Callable[[], ModelProto]:
    return lambda: model(layout, drawn(layout))


def table(kind: str) -> Callable[[], ModelProto]:
    return lambda: test_gather_block_quantized.drawn(test_gather_block_quantized.Table(kind, zero=True))[0]


def fake() -> ModelProto:
    return test_fake_quantize.model(test_fake_quantize.CASES["channels"])


def bnb4() -> ModelProto:
    return test_matmul_bnb4.model(5, 33, 16, 1, np.float32)[0]


ZEROS, GROUPS, BIAS = nbits(Layout(zero="packed")), nbits(Layout(groups="uneven", zero="float")), nbits(Layout(bias=True))


@dataclass(frozen=True)
class Misfit:
    """A valid node, what is changed of it (a shape of its input, constants, attributes; None removes one), and words of the reason."""

    source: Callable[[], ModelProto]
    reason: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    tensors: Mapping[str, Array] = field(default_factory=dict)
    shape: tuple[int, ...] | None = None
    operands: int | None = None

    def model(self) -> ModelProto:
        proto = self.source()
        node = proto.graph.node[0]
        kept = [a for a in node.attribute if a.name not in self.attributes]
        kept += [helper.make_attribute(name, value) for name, value in self.attributes.items() if value is not None]
        del node.attribute[:], node.input[len(node.input) if self.operands is None else self.operands :]
        node.attribute.extend(kept)
        for tensor in proto.graph.initializer:
            if tensor.name in self.tensors:
                tensor.CopyFrom(numpy_helper.from_array(self.tensors[tensor.name], tensor.name))
        if self.shape is not None:
            port = proto.graph.input[0]
            port.CopyFrom(helper.make_tensor_value_info(port.name, port.type.tensor_type.elem_type, self.shape))
        return proto


def of(shape: tuple[int, ...], dtype: type = np.float32) -> Array:
    return np.ones(shape, dtype)


MISFITS = {
    "no K": Misfit(ZEROS, "K or block_size is missing", {"K": None}),
    "a negative K": Misfit(ZEROS, "K or block_size is missing", {"K": -64}),
    "K of another kind": Misfit(ZEROS, "K or block_size is missing", {"K": 1.5}),
    "3 bits": Misfit(ZEROS, "no weights of 3 bits", {"bits": 3}),
    "another block": Misfit(ZEROS, "its scales have the shape", {"block_size": 16}),
    "no operands": Misfit(ZEROS, "not known", operands=0),
    "weights alone": Misfit(ZEROS, "not known", operands=2),
    "signed weights": Misfit(ZEROS, "no weights of int8", tensors={"B": of((24, 2, 16), np.int8)}),
    "integer scales": Misfit(ZEROS, "no scales of int32", tensors={"scales": of((24, 2), np.int32)}),
    "double scales": Misfit(ZEROS, "no scales of float64", tensors={"scales": of((24, 2), np.float64)}),
    "a scalar scale": Misfit(ZEROS, "its scales have the shape", tensors={"scales": of(())}),
    "signed zero points": Misfit(ZEROS, "no zero points of int8", tensors={"zeros": of((24, 2), np.int8)}),
    "too few zero points": Misfit(ZEROS, "its zero points have the shape", tensors={"zeros": of((5,), np.uint8)}),
    "another input": Misfit(ZEROS, "its input has the shape", shape=(2, 63)),
    "a scalar input": Misfit(ZEROS, "its input has the shape", shape=()),
    "a short bias": Misfit(BIAS, "its bias has the shape", tensors={"bias": of((3,))}),
    "a scalar bias": Misfit(BIAS, "its bias has the shape", tensors={"bias": of(())}),
    "groups out of range": Misfit(GROUPS, "not all among the 2 blocks", tensors={"groups": np.full(64, 2, np.int32)}),
    "negative groups": Misfit(GROUPS, "not all among the 2 blocks", tensors={"groups": np.full(64, -1, np.int32)}),
    "groups in two dimensions": Misfit(GROUPS, "its groups have the shape", tensors={"groups": np.zeros((1, 64), np.int32)}),
    "an axis beyond": Misfit(table("8"), "quantize_axis is out of range", {"quantize_axis": 2}),
    "a gather axis below": Misfit(table("int4"), "gather_axis is out of range", {"gather_axis": -3}),
    "an axis of another kind": Misfit(table("4"), "gather_axis is out of range", {"gather_axis": 1.5}),
    "a negative block": Misfit(table("4"), "block_size is out of range", {"block_size": -16}),
    "a table of 5 bits": Misfit(table("4"), "no tables of 5 bits", {"bits": 5}),
    "a table of floats": Misfit(table("4"), "no tables of float32", tensors={"table": of((20, 32))}),
    "zero points of another type": Misfit(table("4"), "no tables of uint8", tensors={"zeros": of((20, 2), np.int8)}),
    "zero points of a row": Misfit(table("4"), "its zero points have the shape", tensors={"zeros": of((1, 2), np.uint8)}),
    "scales of a row": Misfit(table("int4"), "its scales have the shape", tensors={"scales": of((1, 4))}),
    "a scalar table": Misfit(table("8"), "out of range", tensors={"table": of((), np.uint8)}),
    "a table alone": Misfit(table("4"), "not known", operands=1),
    "scales of codes": Misfit(bnb4, "with scales of uint8", tensors={"absmax": of((11,), np.uint8)}),
    "signed bytes": Misfit(bnb4, "no weights of int8", tensors={"B": of((83,), np.int8)}),
    "another input of codes": Misfit(bnb4, "its input has the shape", shape=(3, 32)),
    "no levels": Misfit(fake, "how many levels", {"levels": None}),
    "one level": Misfit(fake, "it has 1 levels", {"levels": 1}),
    "an empty range": Misfit(fake, "does not fit its input", tensors={"ih": of((0,))}),
    "ranges along another axis": Misfit(fake, "does not fit its input", tensors={"il": of((3,))}),
    "ranges that are not finite": Misfit(fake, "empty, reversed or not finite", tensors={"ih": np.full((1, 3, 1), np.inf, np.float32)}),
    "two ends": Misfit(fake, "operands, not 5", operands=3),
}


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS)
def test_misfits_are_refused(misfit: Misfit) -> None:
    proto = misfit.model()
    with pytest.raises(Refused) as caught:
        qdqtool.convert(proto, to="ai.onnx")
    assert misfit.reason in str(caught.value)


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS)
def test_nothing_else_minds_them(misfit: Misfit) -> None:
    proto = misfit.model()
    assert qdqtool.inspect(proto).to_dict()
    assert qdqtool.validate(proto).to_dict()
    assert [n.op_type for n in qdqtool.fold(proto, check=False).model.graph.node] == [proto.graph.node[0].op_type]
