"""Models for folds, and the judges: original and folded model give the same bits in ONNX Runtime, the check says so too, and folding
again changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from qdqtool import api, dtypes
from qdqtool.folding import Folding
from qdqtool.model import tensors
from tests.judging import runtime
from tests.judging.same import compare

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(11)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str] | str, **attributes: Any) -> NodeProto:
    name = attributes.pop("name", "")
    return helper.make_node(op, list(inputs), [outputs] if isinstance(outputs, str) else list(outputs), name=name, **attributes)


def codes(dtype: dtypes.ElementType, *shape: int) -> Array:
    """Any codes of an integer type, every one of a small float type."""
    if dtype.integer:
        return RNG.integers(int(dtype.low), int(dtype.high), shape, endpoint=True).astype(dtype.numpy)
    return RNG.integers(0, 1 << dtype.bits, shape).astype(np.uint8).view(dtype.numpy)


def scales(*shape: int, dtype: Any = np.float32) -> Array:
    return RNG.uniform(0.01, 1.0, shape).astype(dtype)


def reals(*shape: int) -> Array:
    return RNG.normal(0, 3, shape).astype(np.float32)


def model(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, Array],
    inputs: Mapping[str, tuple[int, Sequence[int]]] | None = None,
    outputs: Mapping[str, int] | None = None,
    *,
    opset: int = 25,
    functions: Sequence[FunctionProto] = (),
    domains: Sequence[str] = (),
    ir: int | None = None,
) -> ModelProto:
    """A model; its outputs are float32 unless said otherwise."""
    given = {"x": (TensorProto.FLOAT, [2, 8])} if inputs is None else inputs
    wanted = {"y": TensorProto.FLOAT} if outputs is None else outputs
    graph = GraphProto(name="g")
    graph.node.extend(nodes)
    graph.input.extend(helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in given.items())
    graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name, kind in wanted.items())
    graph.initializer.extend(tensors.make(name, np.asarray(value)) for name, value in constants.items())
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in domains)]
    result = helper.make_model(graph, opset_imports=imports, functions=functions)
    result.ir_version = ir or {10: 5, 13: 7, 17: 8, 19: 9, 21: 10, 23: 11, 25: 13}.get(opset, 10)
    return result


def folded(proto: ModelProto, **wishes: Any) -> Folding:
    """Fold, judge by ONNX Runtime, and fold again."""
    before = proto.SerializeToString()
    folding = api.fold(proto, require_check=True, **wishes)
    assert proto.SerializeToString() == before
    exact = not wishes.get("allow_approximate")
    for given in _feeds(proto):
        old, new = (runtime.run(m, runtime.session(m), given) for m in (proto, folding.model))
        assert not exact or compare(old, new) == ""
    again = api.fold(folding.model, check=False, **wishes)
    assert again.folds == ()
    assert again.model.SerializeToString(deterministic=True) == folding.model.SerializeToString(deterministic=True)
    return folding


def _feeds(proto: ModelProto) -> list[dict[str, Array]]:
    held = {t.name for t in proto.graph.initializer}
    ports = [v for v in proto.graph.input if v.name not in held]
    return [{v.name: _draw(v.type.tensor_type, seed) for v in ports} for seed in range(2 if ports else 1)]


def _draw(declared: Any, seed: int) -> Array:
    kind = dtypes.of_code(declared.elem_type)
    assert kind is not None
    shape = tuple(d.dim_value for d in declared.shape.dim)
    if kind is dtypes.BOOL:
        return np.full(shape, bool(seed))
    return codes(kind, *shape) if kind.integer or kind.small_float else (reals(*shape) * 10).astype(kind.numpy)


def ops(folding: Folding) -> list[str]:
    """Operators of the main graph."""
    return [n.op_type for n in folding.model.graph.node]


def constants(folding: Folding) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of each initializer of the main graph."""
    return {t.name: (str(tensors.element_type(t)), tuple(t.dims)) for t in folding.model.graph.initializer}


def kinds(folding: Folding) -> list[str]:
    return [f.kind for f in folding.folds]
