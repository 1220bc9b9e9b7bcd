"""Integer operators whose operands or attributes do not fit together: refused for a reason, if there is no way to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper, shape_inference

import qdqtool
from qdqtool.errors import Refused
from tests.dialects.layouts import Array
from tests.dialects.qoperators import TABLE, Case, drawn

Damage = Callable[[ModelProto], None]
BIASED = [case for case in TABLE if case.bias or case.op not in ("QGemm", "QLinearConv")]
ONE_OF_EACH = tuple({case.op: case for case in BIASED if case.types != "iii"}.values())
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 7), (0,), (1, 1))
TYPES = (np.int8, np.uint8, np.int32, np.uint16, np.float64, np.float16)
ATTRIBUTES = (("axis", 9), ("axis", 1.5), ("alpha", 3), ("alpha", "x"), ("channels_last", 1), ("transB", 1), ("kernel_shape", [9]))


def damages(model: ModelProto) -> Iterator[Damage]:
    """Ways to damage its one node."""
    node = model.graph.node[0]
    for slot in range(len(node.input)):
        yield partial(_cut, count=slot)
        yield partial(_without, slot=slot)
    for tensor in model.graph.initializer:
        yield from (partial(_changed, name=tensor.name, change=partial(np.resize, new_shape=shape)) for shape in SHAPES)
        yield from (partial(_typed, name=tensor.name, dtype=dtype) for dtype in TYPES)
    yield from (partial(_attribute, name=name, value=value) for name, value in ATTRIBUTES)


def _cut(model: ModelProto, count: int) -> None:
    del model.graph.node[0].input[count:]


def _without(model: ModelProto, slot: int) -> None:
    model.graph.node[0].input[slot] = ""


def _changed(model: ModelProto, name: str, change: Callable[[Array], Array]) -> None:
    tensor = next(t for t in model.graph.initializer if t.name == name)
    tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), name))


def _typed(model: ModelProto, name: str, dtype: type) -> None:
    with np.errstate(all="ignore"):
        _changed(model, name, lambda array: array.astype(dtype))


def _attribute(model: ModelProto, name: str, value: object) -> None:
    node = model.graph.node[0]
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_they_are_refused_or_become_valid_steps(case: Case) -> None:
    """ONNX Runtime itself breaks off on some of them, so nothing is run; shapes that do not fit each other are left as they are."""
    model, made = drawn(case).model, 0
    for damage in damages(model):
        broken = ModelProto()
        broken.CopyFrom(model)
        damage(broken)
        assert qdqtool.inspect(broken).to_dict()
        with suppress(Refused):
            converted = qdqtool.convert(broken, to="ai.onnx", check=False).model
            shape_inference.infer_shapes(converted, check_type=True)
            made += 1
    assert made > 0
